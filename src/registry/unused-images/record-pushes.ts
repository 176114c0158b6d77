// Records what builds push while they exist, so that it is known after they are gone. A build that nobody saw leaves an image that is found by the
// tags of its repository.
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { type Periodic, periodic } from '../../lib/periodic.ts'
import type { ImageRecords } from '../../store/builds/image-records.ts'
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

/** Nothing is recorded before `start`, nor on a replica that does not lead. */
export function createRecordingOfPushes({
  images,
  builds,
  isOfPreview,
  registry,
  periodMilliseconds,
  isLeader,
  clock,
  log,
}: RecordingDeps): Periodic {
  /** Builds of which this process recorded what they push. */
  let recorded = new Set<string>()

  async function round(): Promise<void> {
    const present = builds()
    recorded = recorded.intersection(new Set(present.map(({ id }) => id)))
    const lookAt = new Date(clock.now().getTime() + periodMilliseconds)
    for (const build of present.filter(({ id }) => !recorded.has(id))) {
      await images.record(pushedImages(build, registry, isOfPreview(build.owner)), lookAt)
      recorded.add(build.id)
    }
  }

  return periodic({ name: 'recording of pushed images', everyMilliseconds, enabled: isLeader, work: round, clock, log })
}
