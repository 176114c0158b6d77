// Holds a Lease while it can and knows at every moment whether it still does. A holder counts from before it asked and gives up 5 s
// before anybody else may take over, so two holders at once need a clock that runs half as fast as another. Writes are guarded by
// resourceVersion. It controls nothing: it only tells `onChange`.
import type { ObjectKey } from '../api/resource.ts'
import type { Clock } from '../lib/clock.ts'
import { messageOf } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { leases } from './builtin/workloads.ts'
import type { KubeClient } from './client.ts'
import { isKubeError } from './errors.ts'
import { decideLease, type LeaseSighting, leaseSpec, microTime, sight } from './lease-decision.ts'

export type LeaseTimes = {
  /** How long others respect a record that does not change. */
  readonly durationMilliseconds: number
  /** How long the holder trusts its own last renewal. Must be shorter. */
  readonly renewDeadlineMilliseconds: number
  readonly retryMilliseconds: number
}

export const defaultLeaseTimes: LeaseTimes = {
  durationMilliseconds: 15_000,
  renewDeadlineMilliseconds: 10_000,
  retryMilliseconds: 2000,
}

export type LeaseDeps = {
  /** Not a gated one. */
  readonly client: Pick<KubeClient, 'get' | 'create' | 'mergePatch'>
  readonly key: ObjectKey & { readonly namespace: string }
  /** Unique per process run. */
  readonly identity: string
  readonly clock: Clock
  /** Milliseconds that never step back. */
  readonly monotonic: () => number
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
  const { client, key, identity, clock, monotonic, log, times = defaultLeaseTimes } = deps
  let sighting: LeaseSighting | undefined
  let held: { readonly monotonic: number; readonly wall: number } | undefined
  let told = false

  // Both clocks must agree: the monotonic one may stand still while a machine sleeps, the other one may be set back.
  function isLeader(): boolean {
    if (held === undefined) return false
    const age = Math.max(monotonic() - held.monotonic, clock.now().getTime() - held.wall)
    return age < times.renewDeadlineMilliseconds
  }

  function tell(): void {
    const leads = isLeader()
    if (leads === told) return
    told = leads
    log.info({ lease: key.name, identity }, leads ? 'this process leads' : 'this process does not lead any more')
    deps.onChange(leads)
  }

  /** One try: read, decide, write. Changes nothing in here, so that an answer that comes too late is nobody's. */
  async function attempt(before: LeaseSighting | undefined): Promise<{ seen: LeaseSighting; mine: boolean }> {
    const current = await client.get(leases, key)
    const seen = sight(before, current, monotonic())
    const decision = decideLease({
      sighting: seen,
      identity,
      now: monotonic(),
      defaultDurationMilliseconds: times.durationMilliseconds,
    })
    if (decision === 'wait') return { seen, mine: false }
    const spec = leaseSpec(decision, current, identity, clock.now(), times.durationMilliseconds)
    const written =
      current === undefined
        ? await client.create(leases, { apiVersion: leases.apiVersion, kind: leases.kind, metadata: key, spec }, { fieldManager })
        : await client.mergePatch(
            leases,
            key,
            { metadata: { resourceVersion: current.metadata.resourceVersion }, spec },
            { fieldManager },
          )
    return { seen: sight(seen, written, monotonic()), mine: written !== undefined }
  }

  async function strive(): Promise<void> {
    const started = { monotonic: monotonic(), wall: clock.now().getTime() }
    const late = new AbortController()
    const limit = clock.sleep(times.renewDeadlineMilliseconds / 2, late.signal).then(
      () => undefined,
      () => undefined,
    )
    try {
      const result = await Promise.race([attempt(sighting), limit])
      if (result === undefined) throw new Error('no answer in time')
      sighting = result.seen
      held = result.mine ? started : undefined
    } catch (error) {
      // Losing a race to another candidate is the normal way not to become leader.
      const raced = isKubeError(error, 409)
      if (raced) held = undefined
      log[raced ? 'debug' : 'error']({ lease: key.name, problem: messageOf(error) }, 'the lease was not renewed')
    } finally {
      late.abort()
    }
  }

  return {
    isLeader,
    async run(signal) {
      while (!signal.aborted) {
        await strive()
        tell()
        const wait = times.retryMilliseconds * (1 + 0.2 * deps.random())
        await clock.sleep(wait, signal).catch(() => {})
        tell()
      }
    },
    async release() {
      const mine = isLeader() && sighting?.lease !== undefined
      const resourceVersion = sighting?.lease?.metadata.resourceVersion
      held = undefined
      tell()
      if (!mine) return
      const spec = { holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime(clock.now()) }
      try {
        await client.mergePatch(leases, key, { metadata: { resourceVersion }, spec }, { fieldManager })
      } catch (error) {
        log.error({ lease: key.name, problem: messageOf(error) }, 'the lease was not released; it ends by itself')
      }
    },
  }
}
