// Deletes images that nothing names from the registry, one repository at a time. The only file here that writes. The intent is
// recorded before the cluster is asked for the last time and the manifest is deleted, and the record goes afterwards: whoever
// dies in between, the next round finds the record, asks again, and ends the same. Whatever cannot be read keeps its images
// until a later round.
import { messageOf } from '../../lib/errors.ts'
import { type Log, redactTokens } from '../../lib/log.ts'
import type { ImageRecords } from '../../store/builds/image-records.ts'
import type { Cooldowns } from './cooldowns.ts'
import { type ClusterNames, decide, graceOf, isNeeded, type PresentImage } from './decide.ts'
import { certain, type GatherDeps, type Place, readContents, tagsOf, Unavailable, Uncertain } from './gather.ts'
import type { ImageClaims } from './image-claims.ts'
import type { ClusterLook } from './look.ts'
import type { ImageResult } from './metrics.ts'
import { isBuildRepository } from './pushes/pushed-images.ts'
import type { RegistryImages } from './registry-images.ts'

export type RemovalDeps = GatherDeps & {
  readonly images: ImageRecords
  readonly registryImages: RegistryImages
  /** Rejects when it is not certain. */
  readonly look: (namespace: string, signal: AbortSignal) => Promise<ClusterLook>
  /**
   * A cluster without any Tenant and Application is a new one, or one that is not restored yet: it says nothing about the
   * images.
   */
  readonly isEmptyCluster: () => boolean
  readonly cooldowns: Cooldowns
  readonly claims: Pick<ImageClaims, 'beginDeletion'>
  readonly count: (result: ImageResult, number?: number) => void
  /** Host and path of the tenants' images. */
  readonly registry: string
  /** Between two looks at an image: it goes after two that found it unused. */
  readonly periodMilliseconds: number
  readonly isLeader: () => boolean
  readonly log: Log
}

const maxRepositories = 100
const maxDeletions = 50
const postponedMilliseconds = 600_000
const maxPostponed = 5000

/** As `Uncertain`, and nothing is wrong. */
class Busy extends Uncertain {}

type Round = {
  /** How many are left. */
  deletions: number
  /** The looks of this round by namespace. A deletion never relies on one of them alone. */
  readonly looks: Map<string, Promise<ClusterLook>>
  readonly signal: AbortSignal
}

/**
 * One round: the repositories whose images are due, at most 50 deletions; none on an empty cluster. Rejects when the database
 * does not answer.
 */
export async function removeUnused(deps: RemovalDeps, host: string, signal: AbortSignal): Promise<void> {
  const { images, cooldowns, isLeader, clock } = deps
  if (deps.isEmptyCluster()) return
  const round: Round = { deletions: maxDeletions, looks: new Map(), signal }
  for (const place of await images.due(host, clock.now(), maxRepositories)) {
    if (signal.aborted || !isLeader() || round.deletions <= 0) return
    try {
      if (cooldowns.isCoolingDown(place.namespace)) await postpone(deps, place)
      else await lookAtRepository(deps, place, round)
    } catch (error) {
      if (signal.aborted) return
      await postpone(deps, place)
      report(deps, place, error)
      if (error instanceof Unavailable) return
    }
  }
}

function report({ cooldowns, log }: RemovalDeps, { repository, namespace }: Place, error: unknown): void {
  const fields = { repository, error: redactTokens(messageOf(error)).slice(0, 300) }
  // What a refusal means was said already.
  const isQuiet = error instanceof Busy || cooldowns.isCoolingDown(namespace)
  if (isQuiet) log.debug(fields, 'images of a repository are looked at later')
  else log.info(fields, 'unused images of a repository stay for now')
}

async function postpone({ images, count, clock }: RemovalDeps, place: Place): Promise<void> {
  const now = clock.now()
  const due = (await images.ofRepository(place, maxPostponed)).filter(({ lookAt }) => lookAt <= now)
  await images.postpone(place, tagsOf(due), new Date(now.getTime() + postponedMilliseconds))
  count('postponed', due.length)
}

async function lookAtRepository(deps: RemovalDeps, place: Place, round: Round): Promise<void> {
  const { images, registry, clock } = deps
  if (!isBuildRepository(registry, place.namespace, place.repository)) throw new Uncertain('it is not a repository of builds')
  const contents = await readContents(deps, place)
  const looking = round.looks.get(place.namespace) ?? deps.look(place.namespace, round.signal)
  round.looks.set(place.namespace, looking)
  const names = await looking
  requireNoBuild(names, place)
  const now = clock.now()
  await images.forget(place, tagsOf(contents.gone.filter(({ lookAt }) => lookAt <= now)))
  for (const [digest, group] of Map.groupBy(contents.present, image => image.digest))
    await settle(deps, { place, digest, group, taggedByOthers: contents.byOthers.has(digest) }, { round, names, now })
}

/** Decides about one digest, if a tag of it is due. */
async function settle(
  deps: RemovalDeps,
  candidate: Candidate,
  { round, names, now }: { readonly round: Round; readonly names: ClusterNames; readonly now: Date },
): Promise<void> {
  const { images, periodMilliseconds, count } = deps
  const { place, digest, group, taggedByOthers } = candidate
  const due = group.filter(({ lookAt }) => lookAt <= now)
  if (due.length === 0) return
  const graceMilliseconds = graceOf(group, names, periodMilliseconds)
  const { kind } = decide({ digest, images: group, names, taggedByOthers, now, graceMilliseconds })
  if (kind === 'delete' && round.deletions-- > 0) await remove(deps, candidate, round.signal)
  if (kind === 'delete') return
  const lookAt = new Date(now.getTime() + (kind === 'keep' ? periodMilliseconds : graceMilliseconds))
  if (kind === 'keep') await images.looked(place, tagsOf(group), { lookAt, unusedSince: undefined })
  else
    for (const [since, some] of Map.groupBy(due, ({ unusedSince = now }) => unusedSince.getTime()))
      await images.looked(place, tagsOf(some), { lookAt, unusedSince: new Date(since) })
  count(kind === 'keep' ? 'kept' : 'unused', due.length)
}

function requireNoBuild({ building }: ClusterLook, { repository }: Place): void {
  if (building.has(repository.slice(repository.lastIndexOf('/') + 1))) throw new Busy('a build of the application runs')
}

type Candidate = {
  readonly place: Place
  readonly digest: string
  readonly group: readonly PresentImage[]
  readonly taggedByOthers: boolean
}

async function remove(deps: RemovalDeps, candidate: Candidate, signal: AbortSignal): Promise<void> {
  const { images, registryImages, cooldowns, count, isLeader, clock, log } = deps
  const { place, digest, group } = candidate
  const tags = tagsOf(group)
  const now = clock.now()
  if (!(await images.intend(place, tags, now))) return
  const names = await deps.look(place.namespace, signal)
  requireNoBuild(names, place)
  if (!(await isStillUnused(deps, candidate, names))) {
    const next = new Date(now.getTime() + deps.periodMilliseconds)
    await images.looked(place, tags, { lookAt: next, unusedSince: undefined })
    count('kept', tags.length)
    return
  }
  // The last thing before the request: a process that does not lead any more deletes nothing, and nobody may take the image
  // from here on.
  if (signal.aborted || !isLeader()) return
  if (!deps.claims.beginDeletion(`${place.registry}/${place.repository}@${digest}`)) throw new Busy('a branch takes the image')
  const removal = certain(await registryImages.remove(place.repository, digest))
  if (removal.kind === 'refused') {
    cooldowns.refused(removal, place.namespace)
    count('refused', tags.length)
    throw new Uncertain(`the registry answered ${removal.status} to the deletion`)
  }
  cooldowns.deleted(place.namespace)
  await images.forget(place, tags)
  count('deleted', tags.length)
  const [{ unusedSince = now } = { unusedSince: now }] = group
  log.info({ repository: place.repository, digest, tags, unusedSince }, 'unused image deleted from the registry')
}

/** Right before the deletion: nothing names it, and all its tags still mean it. */
async function isStillUnused(deps: RemovalDeps, candidate: Candidate, names: ClusterNames): Promise<boolean> {
  const { place, digest, group, taggedByOthers } = candidate
  if (isNeeded({ digest, images: group, names, taggedByOthers })) return false
  for (const { tag } of group) {
    const meaning = certain(await deps.registryImages.digestOf(place.repository, tag))
    if (meaning.kind === 'absent' || meaning.digest === digest) continue
    await deps.images.resolve(place, tag, meaning.digest)
    return false
  }
  return true
}
