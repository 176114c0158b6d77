// `sekisho deploy --image`: runs an image that was built elsewhere.
import type { Application } from '../../../api/apps/application.ts'
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'
import { AppError } from '../../../lib/errors.ts'
import { remoteSyncs } from '../../kubernetes/kinds.ts'
import { type ClusterFormat, present } from '../../output.ts'
import type { ClusterContext } from '../cluster-context.ts'
import { changeApplication } from './change.ts'

type Options = { readonly image: string; readonly output: ClusterFormat; readonly dryRun?: boolean }

/** The patch of `spec`; undefined when the Application already has the image. A digest cannot be followed. */
export function imagePatch({ spec }: Application, image: string): object | undefined {
  if (spec.image === image && spec.commit === undefined) return undefined
  // The commit belongs to the image that was built from it.
  return { image, commit: null, ...(spec.followTag === true && image.includes('@') ? { followTag: null } : {}) }
}

/** What a person should know about an image that is named by a tag. */
function tagNote({ spec }: Application, image: string): string {
  if (image.includes('@')) return ''
  return spec.followTag === true
    ? '. Its tag is followed'
    : '. A tag can come to mean another image: a digest (@sha256:…) stays the same, and spec.followTag follows the tag'
}

/** A RemoteSync would set its own image again, which admission refuses (rule built-images); one that is suspended or being deleted sets none. */
export function refuseWhenBuilt(name: string, syncs: readonly RemoteSync[]): void {
  const owner = syncs.find(
    ({ spec, metadata }) => spec.application === name && spec.suspend !== true && metadata.deletionTimestamp === undefined,
  )
  if (owner === undefined) return
  const sync = owner.metadata.name
  throw new AppError(
    'conflict',
    `RemoteSync ${sync} builds the image of ${name} from ${owner.spec.repository} and would set it again: push a commit there, run an earlier release with sekisho rollback ${name}, suspend the RemoteSync first (kubectl patch remotesync ${sync} --type merge -p '{"spec":{"suspend":true}}'), or delete it first (kubectl delete remotesync ${sync})`,
  )
}

/** Sets the image. Rejects with `conflict` when a RemoteSync builds it. */
export async function deploy(context: ClusterContext, options: Options, name: string): Promise<void> {
  const { client, namespace } = context.cluster
  const { image, dryRun, output } = options
  refuseWhenBuilt(name, await client.list(remoteSyncs, { namespace }))
  const { before, after } = await changeApplication(context.cluster, name, dryRun, application => imagePatch(application, image))
  const changed = before !== after
  const value = { application: name, from: before.spec.image, image, changed, dryRun: dryRun === true }
  const text = (): string => {
    if (!changed) return `${name} already has ${image}`
    if (dryRun === true) return `${name} would run ${image} (dry run)`
    return `${name} is set to ${image}${tagNote(before, image)}. sekisho status ${name} shows its rollout`
  }
  await present(context.terminal, output, { value, text })
}
