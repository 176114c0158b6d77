// Whether an Installation holds, by the checks. Pure. A refuted binding ends the tokens under it; while GitHub does not answer,
// what held before keeps holding for a day, because an outage of GitHub must not stop what runs.
import { installationReasons as reasons } from '../../api/github/installation.ts'
import { findCondition, type WantedCondition } from '../../kube/object/conditions.ts'
import { refusalOf } from './checks.ts'
import type { Facts } from './facts.ts'

export type Decision = {
  readonly verified: WantedCondition
  readonly ready: WantedCondition
  /** The binding does not hold: active tokens under it must end. */
  readonly revoke: boolean
  /** GitHub confirmed everything just now, or recently enough. */
  readonly confirmed: boolean
  readonly requeueAfterMilliseconds: number | undefined
}

const graceMilliseconds = 86_400_000
/** Verified reports the checks; Ready also tolerates a short outage of GitHub. */
export function decide(facts: Facts): Decision {
  const refusal = refusalOf(facts)
  const { status = 'False', reason, message } = refusal ?? confirmation(facts)
  const verified: WantedCondition = { type: 'Verified', status, reason, message }
  return {
    verified,
    ready: { ...readiness(facts, verified), type: 'Ready' },
    revoke: status === 'False',
    confirmed: status === 'True',
    requeueAfterMilliseconds: refusal?.requeueAfterMilliseconds,
  }
}

function confirmation({ answer, object }: Facts): Pick<WantedCondition, 'status' | 'reason' | 'message'> {
  const before = findCondition(object.status?.conditions, 'Verified')
  const notAsked = answer.kind === 'found' && answer.owner.kind === 'not-due'
  // What was said about the owner still counts.
  if (notAsked && before?.status === 'True') return { status: 'True', reason: before.reason, message: before.message }
  return { status: 'True', reason: reasons.verified, message: confirmed({ answer, object }) }
}

/** Who answers for it, so that everybody sees when it is not the one who bound it. */
function confirmed({ answer, object: { spec, status } }: Pick<Facts, 'answer' | 'object'>): string {
  const owner = answer.kind === 'found' ? answer.owner : undefined
  if (owner?.kind === 'not-checkable')
    return 'GitHub confirms the installation; the App may not read members, so the owner was proved on the day of binding only'
  const standIn = owner?.kind === 'stand-in' ? owner.standIn : owner?.kind === 'not-due' ? status?.standIn : undefined
  if (standIn === undefined) return 'GitHub confirms the installation and its owner'
  const { boundBy, account } = spec
  return `GitHub confirms the installation; ${boundBy.login} (id ${boundBy.id}) does not own ${account.login} any more, ${standIn.login} (id ${standIn.id}) stands in`
}

/** As verified; but what GitHub confirmed within the last day stays ready while GitHub does not answer. */
function readiness({ object, askedAt }: Facts, verified: WantedCondition): WantedCondition {
  if (verified.status !== 'Unknown') return verified
  const { conditions, verifiedAt } = object.status ?? {}
  const wasReady = findCondition(conditions, 'Ready')?.status === 'True'
  const recent = verifiedAt !== undefined && askedAt.getTime() - Date.parse(verifiedAt) < graceMilliseconds
  if (!wasReady || !recent) return verified
  return { ...verified, status: 'True', message: `GitHub does not answer; it last confirmed the installation at ${verifiedAt}` }
}
