// How an instance stands to the storage of its plan. Pure. Each change has a threshold of its own for the way back, so that what
// is about to fit does not flap.
import type { Plan } from '../../api/services/offer.ts'
import { serviceInstanceReasons as reasons } from '../../api/services/service-instance.ts'
import type { WantedCondition } from '../../kube/object/conditions.ts'
import { mebibytesOf } from '../../lib/text/quantity.ts'

/** `near`: nearly full. `over`: it takes more than its plan has, and writes will end. `ended`: they have. */
export type Standing = 'within' | 'near' | 'over' | 'ended'
export type PlanStand = {
  readonly standing: Standing
  /** Since when it takes more than its plan has, until it is clearly below; undefined while it is not. */
  readonly overSince: Date | undefined
}
export type PlanFacts = {
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

export function planStand({ before, bytes, plan, now }: PlanFacts): PlanStand {
  if (bytes === undefined) return before
  const used = bytes / mebibyte / mebibytesOf(plan.limits.storage)
  if (used <= fitsFrom) return { standing: nearness(used, before), overSince: undefined }
  const overSince = before.overSince ?? (used > 1 ? now : undefined)
  if (before.standing === 'ended') return { standing: 'ended', overSince }
  if (used <= 1 || overSince === undefined) return { standing: 'near', overSince }
  const isGraceOver = endOfGrace(overSince) <= now || used > farOver
  return { standing: isGraceOver ? 'ended' : 'over', overSince }
}

function nearness(used: number, { standing }: PlanStand): Standing {
  return used >= nearFrom || (standing !== 'within' && used > nearUntil) ? 'near' : 'within'
}

function endOfGrace(overSince: Date): Date {
  return new Date(overSince.getTime() + graceMilliseconds)
}

/** When the grace ends, while it runs. */
export function graceEnd({ standing, overSince }: PlanStand): Date | undefined {
  return standing === 'over' && overSince !== undefined ? endOfGrace(overSince) : undefined
}

const cure = 'TRUNCATE tables, delete rows, or choose a larger plan in spec.plan'

/** Numbers that change all the time stand in `status.usage` only: instances at rest write nothing. */
export function planCondition(stand: PlanStand, { name, limits }: Plan): WantedCondition {
  const type = 'WithinPlan'
  const of = `${limits.storage} of plan ${name}`
  switch (stand.standing) {
    case 'within':
      return { type, status: 'True', reason: reasons.withinPlan, message: `it takes less than the ${of}` }
    case 'near':
      return { type, status: 'True', reason: reasons.nearPlan, message: `it takes nearly the ${of}: ${cure}` }
    case 'over': {
      const until = graceEnd(stand)?.toISOString() ?? ''
      const message = `it takes more than the ${of}: nothing can be written any more from ${until}, unless it fits by then: ${cure}`
      return { type, status: 'False', reason: reasons.overPlan, message }
    }
    case 'ended': {
      const message = `it takes more than the ${of}: credentials only read, delete and truncate until it takes less than ${fitsFrom * 100} % of that: ${cure}`
      return { type, status: 'False', reason: reasons.writesEnded, message }
    }
  }
}
