// How a ServiceInstance or Bucket stands to the storage of its plan, and what its conditions say of that. Pure. Each change has a
// threshold of its own for the way back, so that what is about to fit does not flap.
import type { Condition } from '../api/resource.ts'
import type { Bucket } from '../api/services/bucket.ts'
import type { Plan } from '../api/services/offer.ts'
import type { BoundKind } from '../api/services/service-binding.ts'
import { serviceInstanceReasons as reasons, type ServiceInstance } from '../api/services/service-instance.ts'
import { findCondition, type WantedCondition } from '../kube/object/conditions.ts'
import { mebibytesOf } from '../lib/text/quantity.ts'
import type { Refusal } from '../policy/check.ts'
import { type Outcome, standingOf } from './standing.ts'

/** `near`: nearly full. `over`: it takes more than its plan has; of an instance writes will end. `ended`: they have. */
export type Standing = 'within' | 'near' | 'over' | 'ended'
export type PlanStand = {
  readonly standing: Standing
  /** Since when it takes more than its plan has, until it is clearly below; undefined while it is not. */
  readonly overSince: Date | undefined
}
export type PlanFacts = {
  readonly kind: BoundKind
  /** As it was found to be before. */
  readonly before: PlanStand
  /** What it takes, in bytes; undefined when that is not known now. */
  readonly bytes: number | undefined
  readonly plan: Plan
  readonly now: Date
}

const mebibyte = 1024 * 1024
/** Of the plan: where it is said, and where it is no longer. */
const [nearFrom, nearUntil] = [0.8, 0.75]
/** Where writes come back. */
const fitsFrom = 0.9
/** From where nobody waits for the end of the grace. */
const farOver = 2
export const graceMilliseconds = 60 * 60_000

export function planStand({ kind, before, bytes, plan, now }: PlanFacts): PlanStand {
  if (bytes === undefined) return before
  const used = bytes / mebibyte / mebibytesOf(plan.limits.storage)
  if (used <= fitsFrom) return { standing: nearness(used, before), overSince: undefined }
  const overSince = before.overSince ?? (used > 1 ? now : undefined)
  if (before.standing === 'ended') return { standing: 'ended', overSince }
  if (used <= 1 || overSince === undefined) return { standing: 'near', overSince }
  const isGraceOver = endOfGrace(overSince) <= now || used > farOver
  return { standing: spaces[kind].endsWrites && isGraceOver ? 'ended' : 'over', overSince }
}

function nearness(used: number, { standing }: PlanStand): Standing {
  return used >= nearFrom || (standing !== 'within' && used > nearUntil) ? 'near' : 'within'
}

function endOfGrace(overSince: Date): Date {
  return new Date(overSince.getTime() + graceMilliseconds)
}

/** When the grace of an instance ends, while it runs. */
export function graceEnd({ standing, overSince }: PlanStand): Date | undefined {
  return standing === 'over' && overSince !== undefined ? endOfGrace(overSince) : undefined
}

/** `endsWrites`: whether nothing can be written any more when it stays over. Of a bucket that is only said. */
const spaces: Readonly<Record<BoundKind, { readonly endsWrites: boolean; readonly cure: string }>> = {
  ServiceInstance: { endsWrites: true, cure: 'TRUNCATE tables, delete rows, or choose a larger plan in spec.plan' },
  Bucket: { endsWrites: false, cure: 'delete objects, with their former versions, or choose a larger plan in spec.plan' },
}

/** Numbers that change all the time stand in `status.usage` only: instances at rest write nothing. */
export function planCondition(kind: BoundKind, stand: PlanStand, { name, limits }: Plan): WantedCondition {
  const type = 'WithinPlan'
  const { endsWrites, cure } = spaces[kind]
  const of = `${limits.storage} of plan ${name}`
  switch (stand.standing) {
    case 'within':
      return { type, status: 'True', reason: reasons.withinPlan, message: `it takes less than the ${of}` }
    case 'near':
      return { type, status: 'True', reason: reasons.nearPlan, message: `it takes nearly the ${of}: ${cure}` }
    case 'over': {
      const until = graceEnd(stand)?.toISOString() ?? ''
      const threat = endsWrites ? `nothing can be written any more from ${until}, unless it fits by then: ` : ''
      const message = `it takes more than the ${of}: ${threat}${cure}`
      return { type, status: 'False', reason: reasons.overPlan, message }
    }
    case 'ended': {
      const message = `it takes more than the ${of}: credentials only read, delete and truncate until it takes less than ${fitsFrom * 100} % of that: ${cure}`
      return { type, status: 'False', reason: reasons.writesEnded, message }
    }
  }
}

type Planned = Outcome & { readonly plan?: Plan; readonly stand?: PlanStand }
type Good = Refusal & { readonly kind: BoundKind }

/** Provisioned, WithinPlan once it was measured, and Ready. */
export function planConditions(
  before: readonly Condition[] | undefined,
  outcome: Planned,
  { kind, ...good }: Good,
): readonly WantedCondition[] {
  const { stand, plan } = outcome
  const ofPlan = stand === undefined || plan === undefined ? undefined : planCondition(kind, stand, plan)
  const isRemarkable = stand !== undefined && stand.standing !== 'within'
  const [provisioned, ready] = standingOf(before, outcome, good)
  const knownOfPlan = ofPlan ?? findCondition(before, 'WithinPlan')
  return [
    provisioned,
    ...(knownOfPlan === undefined ? [] : [knownOfPlan]),
    ...(outcome.refusal === undefined && ofPlan !== undefined && isRemarkable ? [readyOverPlan(stand, ofPlan, good)] : [ready]),
  ]
}

/** What takes what its plan has, or more. */
function readyOverPlan({ standing }: PlanStand, ofPlan: WantedCondition, good: Refusal): WantedCondition {
  if (standing === 'ended') return { ...ofPlan, type: 'Ready', status: 'False' }
  return { ...good, message: `${good.message}; ${ofPlan.message}`, type: 'Ready', status: 'True' }
}

/** How it stood to its plan when that was last found, as the status says it. */
export function standBefore({ status }: ServiceInstance | Bucket): PlanStand {
  const overSince = status?.usage?.overSince
  const reason = findCondition(status?.conditions, 'WithinPlan')?.reason
  return {
    standing: standings.find(([name]) => name === reason)?.[1] ?? 'within',
    overSince: overSince === undefined ? undefined : new Date(overSince),
  }
}

const standings: readonly (readonly [string, PlanStand['standing']])[] = [
  [reasons.nearPlan, 'near'],
  [reasons.overPlan, 'over'],
  [reasons.writesEnded, 'ended'],
]
