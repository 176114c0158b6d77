// Images of previews that a branch may take without a build: those of pull requests whose commits are in the repository itself.
// What a fork built is never among them. Pure.
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'
import { canonicalJson } from '../../../lib/json/canonical-json.ts'
import { defined } from '../../../lib/json/defined.ts'
import { shortHash } from '../../../lib/text/bounded-name.ts'
import type { RemoteSyncStatus } from '../status.ts'

type ImageSource = NonNullable<RemoteSyncStatus['imageSource']>

export type BuiltPreview = ImageSource & {
  readonly strategy: RemoteSync['spec']['build']['strategy']
  readonly image: string
  readonly commit: string
}

/** What decides, beside the files, how an image turns out. Resources and time limits do not. */
export function buildInputs({ build, subPath }: RemoteSync['spec']): string {
  const { strategy, env, dockerfile, builder, secrets, root } = build
  const inputs = {
    strategy,
    subPath: subPath ?? '',
    env: env ?? [],
    dockerfile: dockerfile ?? {},
    builder: builder ?? '',
    secrets: (secrets ?? []).toSorted(),
    ...defined({ root }),
  }
  return shortHash(canonicalJson(inputs), 32)
}

/** What `status.imageSource` must say of an image that was just built from `status.commit`; undefined when nobody may take it. */
export function imageSourceOf({ spec }: Pick<RemoteSync, 'spec'>, status: RemoteSyncStatus): ImageSource | undefined {
  const { pullRequest: head, repository, tree } = status
  const { pullRequest } = spec.source
  if (pullRequest === undefined || repository === undefined || tree === undefined) return undefined
  if (head?.number !== pullRequest || head.headRepository !== repository.id) return undefined
  return { repository: repository.id, pullRequest, tree, inputs: buildInputs(spec) }
}

/** The image that the RemoteSync of a pull request has built, if a branch may take it. */
export function builtPreview({ spec, status }: Pick<RemoteSync, 'spec' | 'status'>): BuiltPreview | undefined {
  const { image, imageCommit, imageSource } = status ?? {}
  if (image === undefined || imageCommit === undefined || imageSource === undefined) return undefined
  return { ...imageSource, strategy: spec.build.strategy, image, commit: imageCommit }
}

/** Whether the image of the status is that of a preview with the same files and the same build settings. */
export function isPromoted(
  { spec }: Pick<RemoteSync, 'spec'>,
  { promoted, image, imageCommit }: RemoteSyncStatus,
  commit: string,
): boolean {
  if (promoted?.commit !== commit || image === undefined) return false
  return imageCommit === promoted.from && promoted.inputs === buildInputs(spec)
}
