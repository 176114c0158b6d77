// Records what builds push while they exist, and at the latest before the platform deletes them, so that it is known after they
// are gone. A build that nobody saw leaves an image that is found by the tags of its repository.
import type { Clock } from '../../../lib/clock.ts'
import type { Log } from '../../../lib/log.ts'
import { type Periodic, periodic } from '../../../lib/periodic.ts'
import type { ImageRecords } from '../../../store/builds/image-records.ts'
import { type PushingBuild, pushedImages } from './pushed-images.ts'

export type RecordingDeps = {
  readonly images: Pick<ImageRecords, 'record'>
  /** The builds that exist, whether or not they have ended. */
  readonly builds: () => readonly PushingBuild[]
  /** Whether the owner of a build is the RemoteSync of a preview. */
  readonly isOfPreview: (owner: PushingBuild['owner']) => boolean
  /** Host and path of the tenants' images. */
  readonly registry: string
  readonly periodMilliseconds: number
  readonly isLeader: () => boolean
  readonly clock: Clock
  readonly log: Log
}

const everyMilliseconds = 2000

/** By itself, nothing is recorded before `start`, nor on a replica that does not lead. */
export type RecordingOfPushes = Periodic & {
  /**
   * Records what the build pushes, before it is deleted: it may be younger than the last round. Rejects when the database does
   * not answer.
   */
  readonly recordNow: (key: PushingBuild['key']) => Promise<void>
}

// Memory (recorded pushes): builds whose pushes were recorded
//   life: while the build exists
//   bound: builds that exist
//   freshness: the end of the build
//   replicas: leader only; the next records all again, which changes nothing
/**
 * `builds` is read at each round and by `recordNow`; the same build is recorded once by this process, and again by another one.
 */
export function createRecordingOfPushes({
  images,
  builds,
  isOfPreview,
  registry,
  periodMilliseconds,
  isLeader,
  clock,
  log,
}: RecordingDeps): RecordingOfPushes {
  /** Builds of which this process recorded what they push. */
  let recorded = new Set<string>()

  async function record(found: readonly PushingBuild[]): Promise<void> {
    const lookAt = new Date(clock.now().getTime() + periodMilliseconds)
    for (const build of found.filter(({ id }) => !recorded.has(id))) {
      await images.record(pushedImages(build, registry, isOfPreview(build.owner)), lookAt)
      recorded.add(build.id)
    }
  }

  async function round(): Promise<void> {
    const present = builds()
    recorded = recorded.intersection(new Set(present.map(({ id }) => id)))
    await record(present)
  }

  return {
    ...periodic({ name: 'recording of pushed images', everyMilliseconds, enabled: isLeader, work: round, clock, log }),
    recordNow: ({ namespace, name }) => record(builds().filter(({ key }) => key.namespace === namespace && key.name === name)),
  }
}
