// What becomes of a Halt now, and what its status says. Pure.
import { type Halt, haltReasons as reasons } from '../../api/github/halt.ts'
import { mergeConditions, type WantedCondition } from '../../kube/object/conditions.ts'
import { defined } from '../../lib/json/defined.ts'
import type { Facts } from './gather.ts'

export type HaltStatus = NonNullable<Halt['status']>

/** Long enough to be read by whoever asked, and short enough that nobody takes it for a Halt. */
export const dryRunMilliseconds = 600_000

/** `attempted`: GitHub was asked since the facts before these, and did not revoke everything. */
export type Progress = { readonly now: Date; readonly attempted: boolean }

/**
 * The status after the facts. Numbers of ended tokens never fall: their rows are kept for hours only, and the Halt may stand
 * longer.
 */
export function statusOf(object: Halt, facts: Facts, progress: Progress): HaltStatus {
  const { status: before, metadata } = object
  const generation = metadata.generation ?? 1
  const revoked = Math.max(before?.tokens?.revoked ?? 0, facts.ended.revoked)
  const expired = Math.max(before?.tokens?.expired ?? 0, facts.ended.expired)
  const answered = revoked > (before?.tokens?.revoked ?? 0)
  return {
    observedGeneration: generation,
    tokens: { revoked, expired, left: facts.left },
    grants: { count: facts.grants.count, names: [...facts.grants.names] },
    ...defined({
      answeredAt: answered ? progress.now.toISOString() : before?.answeredAt,
      subject: facts.subject,
    }),
    conditions: mergeConditions(before?.conditions, [readyOf(object, facts, progress)], generation, progress.now),
  }
}

function readyOf({ spec }: Halt, { left }: Facts, { attempted }: Progress): WantedCondition {
  const type = 'Ready'
  if (spec.lifted !== undefined)
    return { type, status: 'False', reason: reasons.lifted, message: `lifted by ${spec.lifted.by}: ${spec.lifted.reason}` }
  if (spec.dryRun === true)
    return { type, status: 'True', reason: reasons.dryRun, message: `${tokensText(left)} would be revoked; nothing was ended` }
  if (left === 0)
    return {
      type,
      status: 'True',
      reason: reasons.enforced,
      message: 'no token is live, and none is issued until the Halt is lifted',
    }
  if (!attempted) return { type, status: 'False', reason: reasons.revoking, message: `${tokensText(left)} to be revoked` }
  const message = `GitHub has not revoked ${tokensText(left)} yet: the platform asks again until each is revoked or expires, within the hour`
  return { type, status: 'False', reason: reasons.gitHubUnreachable, message }
}

function tokensText(count: number): string {
  return `${count} ${count === 1 ? 'token' : 'tokens'}`
}

/** In how many milliseconds a dry run is deleted; at most 0 when it is time. */
export function dryRunLeft({ metadata }: Halt, now: Date): number {
  return Date.parse(metadata.creationTimestamp ?? '') + dryRunMilliseconds - now.getTime()
}
