// Reads what the registry has of one repository, and brings the records up to it. Each answer that is not certain ends the work
// there.
import type { Clock } from '../../lib/clock.ts'
import type { ImageRecord, ImageRecords, PushedRepository } from '../../store/builds/image-records.ts'
import type { PresentImage } from './decide.ts'
import { foundImage } from './pushes/pushed-images.ts'
import type { Doubt, RegistryImages } from './registry-images.ts'

export type GatherDeps = {
  readonly images: Pick<ImageRecords, 'record' | 'ofRepository' | 'resolve'>
  readonly registryImages: Pick<RegistryImages, 'tagsOf' | 'digestOf'>
  /** Nobody can push there but builds, so that each tag is that of a build. */
  readonly onlyBuildsPush: boolean
  /** From the recording of an image to the first look at it. */
  readonly periodMilliseconds: number
  readonly clock: Clock
}

/** A repository of a tenant's builds. */
export type Place = PushedRepository & { readonly namespace: string }

/** What the registry has of a repository. */
export type Contents = {
  readonly present: readonly PresentImage[]
  /** Records whose tag is not there. */
  readonly gone: readonly ImageRecord[]
  /** What tags mean that no build pushed. */
  readonly byOthers: ReadonlySet<string>
}

/** Ends a round: what it asked first is not available. */
export class Unavailable extends Error {}
/** Ends the work on one repository. */
export class Uncertain extends Error {}

/** A repository with more has a defect, which must not become one of ours. */
const maxRecords = 5000
const maxForeignTags = 100

/** The answer, if there is one. Throws Unavailable or Uncertain. */
export function certain<T extends { readonly kind: string }>(answer: T | Doubt): Exclude<T, Doubt> {
  if (answer.kind !== 'doubt') return answer as Exclude<T, Doubt>
  const { message, unavailable } = answer as Doubt
  throw unavailable ? new Unavailable(message) : new Uncertain(message)
}

export function tagsOf(images: readonly { readonly tag: string }[]): readonly string[] {
  return images.map(({ tag }) => tag)
}

/** All records of the repository. Throws Uncertain when there are too many. */
async function recordsOf(images: GatherDeps['images'], place: Place): Promise<readonly ImageRecord[]> {
  const records = await images.ofRepository(place, maxRecords + 1)
  if (records.length > maxRecords) throw new Uncertain(`it has more than ${maxRecords} tags`)
  return records
}

/** Throws Unavailable or Uncertain; rejects when the database does not answer. */
export async function readContents(deps: GatherDeps, place: Place): Promise<Contents> {
  const { tags } = certain(await deps.registryImages.tagsOf(place.repository))
  const recorded = new Set(tagsOf(await recordsOf(deps.images, place)))
  const unknown = tags.filter(tag => !recorded.has(tag))
  const byOthers = deps.onlyBuildsPush ? new Set<string>() : await meaningsOf(deps, place, unknown)
  if (deps.onlyBuildsPush) await recordFound(deps, place, unknown)
  const inRegistry = new Set(tags)
  const present: PresentImage[] = []
  const gone: ImageRecord[] = []
  for (const record of await recordsOf(deps.images, place)) {
    const digest = inRegistry.has(record.tag) ? await digestOf(deps, place, record) : undefined
    if (digest === undefined) gone.push(record)
    else present.push({ ...record, digest })
  }
  return { present, gone, byOthers }
}

/** A tag that is not recorded, such as one from before there were records, is looked at like that of a new build. */
async function recordFound(
  { images, periodMilliseconds, clock }: GatherDeps,
  place: Place,
  tags: readonly string[],
): Promise<void> {
  const found = tags.map(tag => foundImage(place, tag))
  await images.record(found, new Date(clock.now().getTime() + periodMilliseconds))
}

async function meaningsOf({ registryImages }: GatherDeps, place: Place, tags: readonly string[]): Promise<ReadonlySet<string>> {
  if (tags.length > maxForeignTags) throw new Uncertain(`it has more than ${maxForeignTags} tags that no build pushed`)
  const digests = new Set<string>()
  for (const tag of tags) {
    const meaning = certain(await registryImages.digestOf(place.repository, tag))
    if (meaning.kind === 'digest') digests.add(meaning.digest)
  }
  return digests
}

/**
 * The tag of a build of a commit means one image; that of a cache another one after each build. That of a rebase means the
 * image before until the rebase has ended: what is remembered by then is corrected before anything is deleted
 * (`isStillUnused`).
 */
async function digestOf(deps: GatherDeps, place: Place, { tag, kind, digest }: ImageRecord): Promise<string | undefined> {
  if (kind === 'Image' && digest !== undefined) return digest
  const meaning = certain(await deps.registryImages.digestOf(place.repository, tag))
  if (meaning.kind === 'absent') return undefined
  if (meaning.digest !== digest) await deps.images.resolve(place, tag, meaning.digest)
  return meaning.digest
}
