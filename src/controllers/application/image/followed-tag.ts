// What the tag of an Application that follows it means, and the Application as it runs then: by digest. Pure, but for asking
// what is known of the tag. What it meant last is in the status, so that nothing changes while the registry is away or after a
// restart.

import { maxFollowed } from '../../../api/apps/application/image.ts'
import { type Application, applicationReasons as reasons } from '../../../api/apps/application.ts'
import type { ReleaseHeader } from '../../../api/apps/release.ts'
import type { WantedCondition } from '../../../kube/object/conditions.ts'
import { compareText } from '../../../lib/text/compare-text.ts'
import type { Refusal } from '../../../policy/check.ts'
import type { FollowedRegistry } from '../../../services/followed-tags/followed-registry.ts'
import type { FollowedTags } from '../../../services/followed-tags/open.ts'
import type { FollowedTag } from '../../../services/followed-tags/read-tag.ts'
import { tagName } from '../../../services/followed-tags/tag-watch.ts'
import { parseReference, placeOfImage, type RegistryPlace } from '../../../services/registry/image-place.ts'
import { isRepositoryName } from '../../../services/registry/repository.ts'

/** What is known of the tag of one Application. */
export type Followed = {
  /** `spec.image`. */
  readonly tag: string
  /** What it meant when the registry last answered; undefined before that. */
  readonly digest: string | undefined
  /** Why the registry was not asked, or did not answer. With neither this nor a digest the first answer is awaited. */
  readonly problem: Refusal | undefined
  readonly requeueAfterMilliseconds: number | undefined
}

export type FollowDeps = {
  readonly tags: Pick<FollowedTags, 'registries' | 'stateOf'>
  readonly place: RegistryPlace
  /** Those of the namespace with `spec.followTag`. */
  readonly following: readonly Application[]
  /** The newest Release of the Application. */
  readonly newest: Pick<ReleaseHeader, 'spec'> | undefined
}

const setting = 'SEKISHO_FOLLOWED_REGISTRIES'
/** Of a name with its registry (distribution reference grammar), so that there is room for a digest. */
const maxName = 255
const tagPattern = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/
const digestCure = 'until then name a digest (@sha256:…) in spec.image, without spec.followTag'

function byAge({ metadata: a }: Application, { metadata: b }: Application): number {
  const [left, right] = [`${a.creationTimestamp} ${a.name}`, `${b.creationTimestamp} ${b.name}`]
  return compareText(left, right)
}

/** The oldest ones are followed. */
function isSurplus({ metadata }: Application, following: readonly Application[]): boolean {
  if (following.length <= maxFollowed) return false
  return !following
    .toSorted(byAge)
    .slice(0, maxFollowed)
    .some(other => other.metadata.uid === metadata.uid)
}

function notFollowed(registries: readonly FollowedRegistry[], host: string): Refusal {
  const hosts = registries.map(registry => registry.host).join(', ')
  const message =
    hosts === ''
      ? `spec.followTag: the platform follows tags in no registry: a platform admin lists ${host} in ${setting}; ${digestCure}`
      : `spec.followTag: the platform follows no tags in ${host}, only in ${hosts}: a platform admin adds it to ${setting}; ${digestCure}`
  return { reason: reasons.registryNotFollowed, message }
}

/** The tag to ask for, or why it is not asked for. */
function tagOf(application: Application, image: string, { tags, place, following }: FollowDeps): FollowedTag | Refusal {
  const { host, path: repository, name, tag = 'latest' } = parseReference(image)
  if (placeOfImage(image, place).kind !== 'elsewhere') {
    const message = `spec.followTag: in the platform's own registry only builds push, each under a tag of its own: a RemoteSync deploys what it builds; remove spec.followTag`
    return { reason: reasons.registryNotFollowed, message }
  }
  if (!isRepositoryName(repository) || !tagPattern.test(tag) || name.length > maxName)
    return { reason: reasons.tagUnreadable, message: 'spec.image is not the name of an image with a tag: correct it' }
  const registry = tags.registries.find(listed => listed.host === host)
  if (registry === undefined) return notFollowed(tags.registries, host)
  if (!isSurplus(application, following)) return { registry, repository, tag }
  const message = `spec.followTag: ${maxFollowed} older Applications of this namespace follow a tag already: remove spec.followTag from one of them, or here`
  return { reason: reasons.tooManyFollowed, message }
}

/** What the tag meant last. A crash can be between a Release and the status that follows from it: then the Release knows more. */
function rememberedDigest({ spec, status }: Application, newest: FollowDeps['newest']): string | undefined {
  if (newest?.spec.tag === spec.image && newest !== undefined && newest.spec.number > (status?.latestRelease ?? 0))
    return newest.spec.image.split('@')[1]
  return status?.followedTag?.image === spec.image ? status?.followedTag?.digest : undefined
}

/** The name of the tag that the Application follows, if it follows one: by it answers of registries find the Application. */
export function namesOfTags({ spec: { followTag, image } }: Application): readonly string[] {
  if (followTag !== true || image === undefined) return []
  const { host, path: repository, tag = 'latest' } = parseReference(image)
  return [tagName(host, { repository, tag })]
}

/** Undefined when the Application follows no tag. Asks for it when that is due. */
export function followedOf(application: Application, deps: FollowDeps): Followed | undefined {
  const { spec, metadata } = application
  if (spec.followTag !== true || spec.image === undefined) return undefined
  const { image } = spec
  const digest = rememberedDigest(application, deps.newest)
  const without = (problem: Refusal): Followed => ({ tag: image, digest, problem, requeueAfterMilliseconds: undefined })
  if (spec.pinnedRelease !== undefined) {
    const message = `the tag is not asked for while spec.pinnedRelease is ${spec.pinnedRelease}: remove that field to follow it again`
    return without({ reason: reasons.pinned, message })
  }
  const tag = tagOf(application, image, deps)
  if ('reason' in tag) return without(tag)
  const state = deps.tags.stateOf(tag, metadata.namespace ?? '')
  const message = `the registry ${tag.registry.host} ${state.problem}: it is asked again`
  const problem = state.problem === undefined ? undefined : { reason: reasons.tagUnreadable, message }
  return { tag: image, digest: state.digest ?? digest, problem, requeueAfterMilliseconds: state.requeueAfterMilliseconds }
}

/** The Application as it runs: with the digest in place of the tag. The same one while no digest is known. */
export function byDigest(application: Application, followed: Followed | undefined): Application {
  if (followed?.digest === undefined) return application
  return { ...application, spec: { ...application.spec, image: `${parseReference(followed.tag).name}@${followed.digest}` } }
}

/** True when the tag means another image than the status says: the Application changes without a new generation. */
export function hasMoved({ status }: Application, followed: Followed | undefined): boolean {
  return followed?.digest !== undefined && status?.followedTag?.digest !== followed.digest
}

/** What the status says of the tag: the field and the condition. Nothing without `followed`. */
export function followedStatus(
  { status }: Application,
  followed: Followed | undefined,
  now: Date,
): {
  readonly followedTag?: NonNullable<NonNullable<Application['status']>['followedTag']>
  readonly condition?: WantedCondition
} {
  if (followed === undefined) return {}
  const { tag, digest, problem } = followed
  const before = status?.followedTag
  const isSame = before?.image === tag && before.digest === digest
  const followedTag = digest === undefined ? undefined : isSame ? before : { image: tag, digest, since: now.toISOString() }
  if (followedTag === undefined) return problem ? { condition: { ...following, status: 'False', ...problem } } : {}
  const known = `${tag} means ${digest} since ${followedTag.since}`
  const condition: WantedCondition = problem
    ? { ...following, status: 'False', reason: problem.reason, message: `${problem.message}; as last answered, ${known}` }
    : { ...following, status: 'True', reason: reasons.tagKnown, message: known }
  return { followedTag, condition }
}

const following = { type: 'Following' } as const
