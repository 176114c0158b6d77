// Holds a Lease while it can and knows at every moment whether it still does. A holder counts from before it asked and gives up 5 s
// before anybody else may take over, so two holders at once need a clock that runs half as fast as another. Writes are guarded by
// resourceVersion. It controls nothing: it only tells `onChange`.
import type { Lease } from '../../api/builtin/index.ts'
import { leases } from '../../api/builtin/index.ts'
import type { ObjectKey } from '../../api/resource.ts'
import { type Clock, elapsed, endsWithin } from '../../lib/clock.ts'
import { messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { KubeClient } from '../client/client.ts'
import { isKubeError } from '../client/errors.ts'
import { claim, freeAt, type LeaseSighting, type LeaseSpec, microTime, sight } from './lease-decision.ts'

export type LeaseTimes = {
  /** How long others respect a record that does not change. */
  readonly durationMilliseconds: number
  /** How long the holder trusts its own last renewal. Must be shorter. */
  readonly renewDeadlineMilliseconds: number
  readonly retryMilliseconds: number
}

const defaultTimes: LeaseTimes = { durationMilliseconds: 15_000, renewDeadlineMilliseconds: 10_000, retryMilliseconds: 2000 }

export type LeaseDeps = {
  /** Not a gated one. */
  readonly client: Pick<KubeClient, 'get' | 'create' | 'mergePatch'>
  readonly key: ObjectKey & { readonly namespace: string }
  /** Unique per process run. */
  readonly identity: string
  readonly clock: Clock
  readonly random: () => number
  readonly log: Log
  readonly onChange: (leads: boolean) => void
  readonly times?: LeaseTimes
}

export type LeaseHolder = {
  /** Strives for the lease until the signal aborts; then it no longer renews, and still holds what time is left. Never rejects. */
  readonly run: (signal: AbortSignal) => Promise<void>
  readonly isLeader: () => boolean
  /** Gives the lease up so that another may take it at once. Call after all work has ended. */
  readonly release: () => Promise<void>
}

const fieldManager = 'sekisho-leader-election'

export function createLeaseHolder(deps: LeaseDeps): LeaseHolder {
  const { client, key, identity, clock, times = defaultTimes } = deps
  const log = deps.log.child({ lease: key.name })
  let sighting: LeaseSighting | undefined
  let held: { readonly elapsed: number; readonly wall: number } | undefined
  let told = false
  const moment = (): NonNullable<typeof held> => ({ elapsed: elapsed(clock), wall: clock.now().getTime() })

  // Both clocks must agree: the monotonic one may stand still while a machine sleeps, the other one may be set back.
  function isLeader(): boolean {
    if (held === undefined) return false
    const now = moment()
    return Math.max(now.elapsed - held.elapsed, now.wall - held.wall) < times.renewDeadlineMilliseconds
  }

  function tell(): void {
    const leads = isLeader()
    if (leads === told) return
    told = leads
    log.info({ identity }, leads ? 'this process leads' : 'this process does not lead any more')
    deps.onChange(leads)
  }

  const claimOn = (seen: LeaseSighting): LeaseSpec | undefined =>
    claim(seen, identity, { now: elapsed(clock), wall: clock.now() }, times.durationMilliseconds)

  /** One try: read, decide, write. Changes nothing in here, so that an answer that comes too late is nobody's. */
  async function attempt(before: LeaseSighting | undefined): Promise<{ seen: LeaseSighting; mine: boolean }> {
    const renewed = isLeader() && before !== undefined ? await renew(before) : undefined
    if (renewed !== undefined) return { seen: sight(before, renewed, elapsed(clock)), mine: true }
    const current = await client.get(leases, key)
    const seen = sight(before, current, elapsed(clock))
    const spec = claimOn(seen)
    if (spec === undefined) return { seen, mine: false }
    const written = await write(current, spec)
    return { seen: sight(seen, written, elapsed(clock)), mine: written !== undefined }
  }

  /** One request instead of two, for slow answers: its own last one is the newest version unless somebody came between. Then undefined. */
  async function renew(own: LeaseSighting): Promise<Lease | undefined> {
    const spec = claimOn(own)
    try {
      return spec && (await write(own.lease, spec))
    } catch (error) {
      if (isKubeError(error, 409)) return undefined
      throw error
    }
  }

  async function write(current: Lease | undefined, spec: LeaseSpec): Promise<Lease | undefined> {
    if (current === undefined) {
      const { apiVersion, kind } = leases
      return client.create(leases, { apiVersion, kind, metadata: key, spec }, { fieldManager })
    }
    const { resourceVersion } = current.metadata
    return client.mergePatch(leases, key, { metadata: { resourceVersion }, spec }, { fieldManager })
  }

  async function strive(): Promise<void> {
    const started = moment()
    const trying = attempt(sighting)
    try {
      if (!(await endsWithin(clock, times.renewDeadlineMilliseconds - times.retryMilliseconds, trying)))
        throw new Error('no answer in time')
      const { seen, mine } = await trying
      sighting = seen
      held = mine ? started : undefined
    } catch (error) {
      // Losing a race to another candidate is the normal way not to become leader.
      const raced = isKubeError(error, 409)
      if (raced) held = undefined
      log[raced ? 'debug' : 'error']({ problem: messageOf(error) }, 'the lease was not renewed')
    }
  }

  /**
   * Attempts begin, not end, so far apart: slow answers must not use up the time between them as well. Who waits for another's end looks
   * again at that very moment: a dead holder is followed within one retry and its lease's duration.
   */
  function nextAttempt(started: number): number {
    const regular = started + times.retryMilliseconds * (1 - 0.2 * deps.random())
    if (isLeader() || sighting === undefined) return regular
    const free = freeAt(sighting, times.durationMilliseconds)
    return free > elapsed(clock) ? Math.min(regular, free) : regular
  }

  /** A loss is told soon after it happened, also while a question hangs: reconciles do more than the gated writes. */
  async function tellUntil(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      tell()
      await clock.sleep(times.retryMilliseconds / 2, signal).catch(() => {})
    }
  }

  return {
    isLeader,
    async run(signal) {
      const telling = tellUntil(signal)
      while (!signal.aborted) {
        const started = elapsed(clock)
        await strive()
        tell()
        const wait = nextAttempt(started) - elapsed(clock)
        if (wait > 0) await clock.sleep(wait, signal).catch(() => {})
      }
      await telling
    },
    async release() {
      const mine = isLeader() ? sighting?.lease : undefined
      held = undefined
      tell()
      if (mine === undefined) return
      try {
        await write(mine, { holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime(clock.now()) })
      } catch (error) {
        log.error({ problem: messageOf(error) }, 'the lease was not released; it ends by itself')
      }
    },
  }
}
