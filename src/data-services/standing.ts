// What a reconcile of a ServiceInstance or Bucket says in its conditions, and which sizes are worth a write. Pure.
import type { Condition } from '../api/resource.ts'
import { findCondition, type WantedCondition } from '../kube/object/conditions.ts'
import type { Refusal } from '../policy/check.ts'

/** What a reconcile came to. */
export type Outcome = {
  /** Undefined: unchanged. */
  readonly provisioned?: WantedCondition['status']
  readonly refusal: Refusal | undefined
}

/** The conditions Provisioned and Ready; `good` is said when nothing is the matter. */
export function standingOf(
  before: readonly Condition[] | undefined,
  { provisioned, refusal }: Outcome,
  good: Refusal,
): readonly [WantedCondition, WantedCondition] {
  const now = refusal ?? good
  const kept = findCondition(before, 'Provisioned') ?? { status: 'Unknown', ...now }
  return [
    provisioned === undefined ? { ...kept, type: 'Provisioned' } : { type: 'Provisioned', status: provisioned, ...now },
    { type: 'Ready', status: refusal === undefined ? 'True' : 'False', ...now },
  ]
}

const mebibyte = 1024 * 1024
/** A size that changed by less is not written: what is at rest writes nothing. */
const notable = 0.05

/** Whether a number changed by so much that it is worth a write. */
export function isNotable(former: number | undefined, present: number): boolean {
  return former === undefined || Math.abs(former - present) > former * notable
}

/** A time of a status as it is written here, for comparing. */
export const isoTimeOf = (time: string | undefined): string | undefined =>
  time === undefined ? undefined : new Date(time).toISOString()

/** Undefined when it need not be written. */
export function storageAfter(former: number | string | undefined, bytes: number): string | undefined {
  const mebibytes = Math.max(1, Math.ceil(bytes / mebibyte))
  const known = /^(\d+)Mi$/.exec(String(former ?? ''))?.[1]
  return isNotable(known === undefined ? undefined : Number(known), mebibytes) ? `${mebibytes}Mi` : undefined
}
