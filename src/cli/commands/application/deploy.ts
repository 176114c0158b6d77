// `sekisho deploy --image`: runs an image that was built elsewhere.
import type { Application } from '../../../api/apps/application.ts'
import { runsIn } from '../../../api/apps/remote-sync/applications.ts'
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'
import { AppError } from '../../../lib/errors.ts'
import { remoteSyncs } from '../../kubernetes/kinds.ts'
import { type ClusterFormat, present } from '../../output.ts'
import type { ClusterContext } from '../cluster-context.ts'
import { changeApplication } from './change.ts'

/** `followTag` is undefined when neither `--follow-tag` nor `--no-follow-tag` is given. */
type Wanted = { readonly image: string; readonly followTag?: boolean | undefined }
type Options = Wanted & { readonly output: ClusterFormat; readonly dryRun?: boolean }

const isDigest = (image: string): boolean => image.includes('@')

/** Without a flag, an Application that follows its tag follows the new one, and a digest ends it. */
function follows({ spec }: Application, { image, followTag }: Wanted): boolean {
  return followTag ?? (spec.followTag === true && !isDigest(image))
}

/** The patch of `spec`; undefined when nothing has to change. Throws `invalid_request` for a digest that is to be followed. */
export function imagePatch(application: Application, wanted: Wanted): object | undefined {
  const { spec } = application
  const { image, followTag } = wanted
  if (followTag === true && isDigest(image))
    throw new AppError(
      'invalid_request',
      `--follow-tag needs an image that is named by a tag, and a digest never changes: ${image}`,
    )
  const [followed, wantsFollowed] = [spec.followTag === true, follows(application, wanted)]
  if (spec.image === image && spec.commit === undefined && followed === wantsFollowed) return undefined
  // The commit belongs to the image that was built from it.
  return { image, commit: null, ...(followed === wantsFollowed ? {} : { followTag: wantsFollowed || null }) }
}

/** What a person should know about an image that is named by a tag. */
function tagNote(application: Application, wanted: Wanted): string {
  if (isDigest(wanted.image)) return ''
  return follows(application, wanted)
    ? '. Its tag is followed'
    : '. A tag can come to mean another image: a digest (@sha256:…) stays the same, and --follow-tag follows the tag'
}

/**
 * A RemoteSync would set its own image again, which admission refuses (rule built-images); one that is suspended or being
 * deleted sets none.
 */
export function refuseWhenBuilt(name: string, syncs: readonly RemoteSync[]): void {
  const owner = syncs.find(
    ({ spec, metadata }) => runsIn(spec, name) && spec.suspend !== true && metadata.deletionTimestamp === undefined,
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
  const { before, after } = await changeApplication(context.cluster, name, dryRun, application =>
    imagePatch(application, options),
  )
  const changed = before !== after
  const followTag = follows(before, options)
  const value = { application: name, from: before.spec.image, image, followTag, changed, dryRun: dryRun === true }
  const text = (): string => {
    if (!changed) return `${name} already has ${image}${followTag ? ' and follows its tag' : ''}`
    if (dryRun === true) return `${name} would run ${image} (dry run)`
    return `${name} is set to ${image}${tagNote(before, options)}. sekisho status ${name} shows its rollout`
  }
  await present(context.terminal, output, { value, text })
}
