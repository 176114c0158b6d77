// Whether a process may take, renew or must leave alone a Lease. Pure: facts in, decision out.
// A foreign holder's time runs by our clock, from the moment we first saw its record: clocks of two machines are never compared.
// Source: client-go leaderelection; Lease v1 coordination.k8s.io.
import type { Lease } from '../../api/builtin/index.ts'

/** The record as last read, and when (milliseconds of our own monotonic clock) we first saw this very version of it. */
export type LeaseSighting = { readonly lease: Lease | undefined; readonly since: number }

export type LeaseDecision = 'create' | 'take' | 'renew' | 'wait'

/** When, on our own clock, a candidate may take what it sees. */
export function freeAt({ lease, since }: LeaseSighting, defaultDurationMilliseconds: number): number {
  const { holderIdentity, leaseDurationSeconds } = lease?.spec ?? {}
  if (!holderIdentity) return since
  return since + (leaseDurationSeconds && leaseDurationSeconds > 0 ? leaseDurationSeconds * 1000 : defaultDurationMilliseconds)
}

export function decideLease(
  sighting: LeaseSighting,
  identity: string,
  now: number,
  defaultDurationMilliseconds: number,
): LeaseDecision {
  if (sighting.lease === undefined) return 'create'
  if (sighting.lease.spec?.holderIdentity === identity) return 'renew'
  return now >= freeAt(sighting, defaultDurationMilliseconds) ? 'take' : 'wait'
}

/** Keeps the time of the first sighting while the record stays the same version. */
export function sight(before: LeaseSighting | undefined, lease: Lease | undefined, now: number): LeaseSighting {
  const same =
    before !== undefined &&
    before.lease?.metadata.uid === lease?.metadata.uid &&
    before.lease?.metadata.resourceVersion === lease?.metadata.resourceVersion
  return { lease, since: same ? before.since : now }
}

/** metav1.MicroTime: exactly six digits of a second. */
export function microTime(moment: Date): string {
  return moment.toISOString().replace('Z', '000Z')
}

/** The fields of the record after a decision to write. */
export function leaseSpec(
  decision: 'create' | 'take' | 'renew',
  current: Lease | undefined,
  identity: string,
  now: Date,
  durationMilliseconds: number,
): NonNullable<Lease['spec']> {
  const transitions = current?.spec?.leaseTransitions ?? 0
  return {
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(durationMilliseconds / 1000),
    acquireTime: (decision === 'renew' ? current?.spec?.acquireTime : undefined) ?? microTime(now),
    renewTime: microTime(now),
    leaseTransitions: decision === 'take' ? transitions + 1 : transitions,
  }
}
