// Whether a process may take or renew a Lease, and what it writes then. Pure. The expiry of another holder counts on our own
// clock, from the time at which we first observed its record: clocks of two machines are never compared.
// Source: client-go leaderelection; Lease v1 coordination.k8s.io.
import type { Lease } from '../../api/builtin/index.ts'

export type LeaseSpec = NonNullable<Lease['spec']>

/** The record as last read, and when (milliseconds of our own monotonic clock) we first observed this version of it. */
export type ObservedLease = { readonly lease: Lease | undefined; readonly since: number }

/** Keeps the time of the first observation while the version of the record stays the same. */
export function observe(before: ObservedLease | undefined, lease: Lease | undefined, now: number): ObservedLease {
  const same =
    before !== undefined &&
    before.lease?.metadata.uid === lease?.metadata.uid &&
    before.lease?.metadata.resourceVersion === lease?.metadata.resourceVersion
  return { lease, since: same ? before.since : now }
}

/** When, on our own clock, a candidate may take the lease. */
export function expiresAt({ lease, since }: ObservedLease, defaultDurationMilliseconds: number): number {
  const { holderIdentity, leaseDurationSeconds } = lease?.spec ?? {}
  if (!holderIdentity) return since
  return since + (leaseDurationSeconds && leaseDurationSeconds > 0 ? leaseDurationSeconds * 1000 : defaultDurationMilliseconds)
}

/** The record with which `identity` takes or renews the lease; `undefined` while another holds it. `time.now` as in `observe`. */
export function claim(
  observed: ObservedLease,
  identity: string,
  time: { readonly now: number; readonly wall: Date },
  durationMilliseconds: number,
): LeaseSpec | undefined {
  const before = observed.lease?.spec
  const ours = before?.holderIdentity === identity
  if (!ours && time.now < expiresAt(observed, durationMilliseconds)) return undefined
  const taken = observed.lease !== undefined && !ours
  return {
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(durationMilliseconds / 1000),
    acquireTime: (ours ? before.acquireTime : undefined) ?? microTime(time.wall),
    renewTime: microTime(time.wall),
    leaseTransitions: (before?.leaseTransitions ?? 0) + (taken ? 1 : 0),
  }
}

/** metav1.MicroTime: exactly six fractional digits. */
export function microTime(time: Date): string {
  return time.toISOString().replace('Z', '000Z')
}
