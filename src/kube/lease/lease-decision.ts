// Whether a process may take, renew or must leave alone a Lease, and what it writes then. Pure: facts in, decision out.
// A foreign holder's time runs by our clock, from the moment we first saw its record: clocks of two machines are never compared.
// Source: client-go leaderelection; Lease v1 coordination.k8s.io.
import type { Lease } from '../../api/builtin/index.ts'

export type LeaseSpec = NonNullable<Lease['spec']>

/** The record as last read, and when (milliseconds of our own monotonic clock) we first saw this very version of it. */
export type LeaseSighting = { readonly lease: Lease | undefined; readonly since: number }

/** Keeps the time of the first sighting while the record stays the same version. */
export function sight(before: LeaseSighting | undefined, lease: Lease | undefined, now: number): LeaseSighting {
  const same =
    before !== undefined &&
    before.lease?.metadata.uid === lease?.metadata.uid &&
    before.lease?.metadata.resourceVersion === lease?.metadata.resourceVersion
  return { lease, since: same ? before.since : now }
}

/** When, on our own clock, a candidate may take what it sees. */
export function freeAt({ lease, since }: LeaseSighting, defaultDurationMilliseconds: number): number {
  const { holderIdentity, leaseDurationSeconds } = lease?.spec ?? {}
  if (!holderIdentity) return since
  return since + (leaseDurationSeconds && leaseDurationSeconds > 0 ? leaseDurationSeconds * 1000 : defaultDurationMilliseconds)
}

/** The record with which `identity` takes or renews what it sees; `undefined` while it is another's. `now` as in the sighting. */
export function claim(
  sighting: LeaseSighting,
  identity: string,
  moment: { readonly now: number; readonly wall: Date },
  durationMilliseconds: number,
): LeaseSpec | undefined {
  const before = sighting.lease?.spec
  const ours = before?.holderIdentity === identity
  if (!ours && moment.now < freeAt(sighting, durationMilliseconds)) return undefined
  const taken = sighting.lease !== undefined && !ours
  return {
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(durationMilliseconds / 1000),
    acquireTime: (ours ? before.acquireTime : undefined) ?? microTime(moment.wall),
    renewTime: microTime(moment.wall),
    leaseTransitions: (before?.leaseTransitions ?? 0) + (taken ? 1 : 0),
  }
}

/** metav1.MicroTime: exactly six digits of a second. */
export function microTime(moment: Date): string {
  return moment.toISOString().replace('Z', '000Z')
}
