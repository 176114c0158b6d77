// When the newest commit or release passed each phase, from the webhook on, as one line. Pure. The phases end with `available`:
// what comes after it is a request, which `why` makes itself (docs/adr/0051).
import type { Application } from '../../../api/apps/application.ts'
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'

type SyncPhases = NonNullable<NonNullable<RemoteSync['status']>['phases']>
type ReleasePhases = NonNullable<NonNullable<Application['status']>['phases']>
type Named<P> = readonly (readonly [phase: keyof P, name: string])[]

const syncPhases: Named<SyncPhases> = [
  ['signalledAt', 'webhook'],
  ['resolvedAt', 'commit'],
  ['fetchedAt', 'fetch'],
  ['buildCreatedAt', 'build created'],
  ['buildStartedAt', 'build started'],
  ['builtAt', 'built'],
  ['deployedAt', 'image set'],
  ['availableAt', 'available'],
]

/** Of an Application whose image no RemoteSync builds. */
const releasePhases: Named<ReleasePhases> = [
  ['releasedAt', 'release'],
  ['jobStartedAt', 'release job started'],
  ['jobEndedAt', 'release job ended'],
  ['appliedAt', 'objects applied'],
  ['availableAt', 'available'],
]

function named<P>(phases: P | undefined, names: Named<P>): readonly { readonly name: string; readonly time: string }[] {
  return names.flatMap(([phase, name]) => {
    const time = phases?.[phase]
    return typeof time === 'string' ? [{ name, time }] : []
  })
}

/** Seconds after the first phase. Those that are known in whole seconds only can seem to come before it. */
function secondsAfter(begin: string, time: string): string {
  return `${(Math.max(0, Date.parse(time) - Date.parse(begin)) / 1000).toFixed(1)} s`
}

/** Undefined while no phase after the first is known. */
export function timesText(sync: SyncPhases | undefined, release: ReleasePhases | undefined): string | undefined {
  const [first, ...later] = sync === undefined ? named(release, releasePhases) : named(sync, syncPhases)
  if (first === undefined || later.length === 0) return undefined
  return [`${first.name} ${first.time}`, ...later.map(({ name, time }) => `${name} +${secondsAfter(first.time, time)}`)].join(
    ', ',
  )
}
