// Leader election on a Lease, after client-go. The renew deadline is measured from before the request was sent and ends 5 s
// before the lease expires for others: two leaders at once are possible only if one machine's clock runs at half speed. Writes
// carry the resourceVersion. It starts and stops nothing; it reports every change of leadership to `onChange`.
import type { Lease } from '../../api/builtin/index.ts'
import { leases } from '../../api/builtin/index.ts'
import type { ObjectKey } from '../../api/resource.ts'
import { type Clock, elapsed, endsWithin } from '../../lib/clock.ts'
import { messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { periodic } from '../../lib/periodic.ts'
import type { KubeClient } from '../client/client.ts'
import { isKubeError } from '../client/errors.ts'
import { claim, expiresAt, type LeaseSpec, microTime, type ObservedLease, observe } from './lease-decision.ts'

export type LeaseTimes = {
  /** How long other candidates respect a record that does not change. */
  readonly durationMilliseconds: number
  /** How long the holder leads without a renewal. Must be shorter. */
  readonly renewDeadlineMilliseconds: number
  readonly retryMilliseconds: number
}

const defaultTimes: LeaseTimes = { durationMilliseconds: 15_000, renewDeadlineMilliseconds: 10_000, retryMilliseconds: 2000 }

export type LeaseDeps = {
  /** Not one behind the write gate. */
  readonly client: Pick<KubeClient, 'get' | 'create' | 'mergePatch'>
  readonly key: ObjectKey & { readonly namespace: string }
  /** Unique per run of a process. */
  readonly identity: string
  readonly clock: Clock
  readonly random: () => number
  readonly log: Log
  readonly onChange: (leads: boolean) => void
  readonly times?: LeaseTimes
}

export type LeaseHolder = {
  /** Acquires and renews the lease until the signal aborts; the lease is then held until it expires. Never rejects. */
  readonly run: (signal: AbortSignal) => Promise<void>
  readonly isLeader: () => boolean
  /** Releases the lease so that another candidate may take it at once. Call after all work has ended. Never rejects. */
  readonly release: () => Promise<void>
}

const fieldManager = 'sekisho-leader-election'

/** A candidate that does not hold the lease yet. */
export function createLeaseHolder(deps: LeaseDeps): LeaseHolder {
  const { client, key, identity, clock, times = defaultTimes } = deps
  const log = deps.log.child({ lease: key.name })
  let observedRecord: ObservedLease | undefined
  let renewedAt: { readonly elapsed: number; readonly wall: number } | undefined
  let reportedLeader = false
  const timestamp = (): NonNullable<typeof renewedAt> => ({ elapsed: elapsed(clock), wall: clock.now().getTime() })

  // Both clocks must agree: the monotonic clock may stop while a machine sleeps, the wall clock may be set back.
  function isLeader(): boolean {
    if (renewedAt === undefined) return false
    const now = timestamp()
    return Math.max(now.elapsed - renewedAt.elapsed, now.wall - renewedAt.wall) < times.renewDeadlineMilliseconds
  }

  function reportTransition(): void {
    const leads = isLeader()
    if (leads === reportedLeader) return
    reportedLeader = leads
    log.info({ identity }, leads ? 'became leader' : 'lost leadership')
    deps.onChange(leads)
  }

  const nextRecord = (observed: ObservedLease): LeaseSpec | undefined =>
    claim(observed, identity, { now: elapsed(clock), wall: clock.now() }, times.durationMilliseconds)

  /** One attempt: read, decide, write. It changes no state here, so that an answer that comes too late has no effect. */
  async function attempt(before: ObservedLease | undefined): Promise<{ observed: ObservedLease; acquired: boolean }> {
    const renewed = isLeader() && before !== undefined ? await renew(before) : undefined
    if (renewed !== undefined) return { observed: observe(before, renewed, elapsed(clock)), acquired: true }
    const current = await client.get(leases, key)
    const observed = observe(before, current, elapsed(clock))
    const spec = nextRecord(observed)
    if (spec === undefined) return { observed, acquired: false }
    const written = await write(current, spec)
    return { observed: observe(observed, written, elapsed(clock)), acquired: written !== undefined }
  }

  /**
   * Renews with the resourceVersion of our last write, which saves the GET. Returns undefined on 409 (another candidate wrote
   * since).
   */
  async function renew(own: ObservedLease): Promise<Lease | undefined> {
    const spec = nextRecord(own)
    try {
      return spec && (await write(own.lease, spec))
    } catch (error) {
      if (isKubeError(error, 409)) return undefined
      throw error
    }
  }

  async function write(current: Lease | undefined, spec: LeaseSpec): Promise<Lease | undefined> {
    const { apiVersion, kind } = leases
    if (current === undefined) return client.create(leases, { apiVersion, kind, metadata: key, spec }, { fieldManager })
    const { resourceVersion } = current.metadata
    return client.mergePatch(leases, key, { metadata: { resourceVersion }, spec }, { fieldManager })
  }

  async function tryAcquireOrRenew(): Promise<void> {
    const started = timestamp()
    const attempted = attempt(observedRecord)
    try {
      if (!(await endsWithin(clock, times.renewDeadlineMilliseconds - times.retryMilliseconds, attempted)))
        throw new Error('no response in time')
      const { observed, acquired } = await attempted
      observedRecord = observed
      renewedAt = acquired ? started : undefined
    } catch (error) {
      // Losing a race to another candidate is the normal way not to become leader.
      const conflict = isKubeError(error, 409)
      if (conflict) renewedAt = undefined
      log[conflict ? 'debug' : 'error']({ error: messageOf(error) }, 'failed to acquire or renew the lease')
    }
  }

  /**
   * A retry period after the last attempt began (slow responses must not delay renewals), or when the record of a dead leader
   * expires.
   */
  function nextAttempt(started: number): number {
    const regular = started + times.retryMilliseconds * (1 - 0.2 * deps.random())
    if (isLeader() || observedRecord === undefined) return regular
    const expiry = expiresAt(observedRecord, times.durationMilliseconds)
    return expiry > elapsed(clock) ? Math.min(regular, expiry) : regular
  }

  // Reports a loss soon, also while a request hangs: reconciles do more than the gated writes.
  const reporting = periodic({
    name: 'leadership report',
    everyMilliseconds: times.retryMilliseconds / 2,
    work: async () => reportTransition(),
    clock,
    log,
  })

  return {
    isLeader,
    async run(signal) {
      reporting.start()
      while (!signal.aborted) {
        const started = elapsed(clock)
        await tryAcquireOrRenew()
        reportTransition()
        const wait = nextAttempt(started) - elapsed(clock)
        if (wait > 0) await clock.sleep(wait, signal).catch(() => {})
      }
      await reporting.stop()
    },
    async release() {
      const ours = isLeader() ? observedRecord?.lease : undefined
      renewedAt = undefined
      reportTransition()
      if (ours === undefined) return
      try {
        await write(ours, { holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime(clock.now()) })
      } catch (error) {
        log.error({ error: messageOf(error) }, 'failed to release the lease; it will expire')
      }
    },
  }
}
