// Whether a grant is approved (by the checks, then by the policy) and whether it holds now. Pure. The condition Approved
// reports the decision; Ready reports that it holds now. An outage of GitHub of less than a day changes neither.
import {
  type GrantDecisionName,
  type RepositoryGrant,
  repositoryGrantReasons as reasons,
} from '../../api/github/repository-grant.ts'
import { findCondition, type WantedCondition } from '../../kube/object/conditions.ts'
import { defined } from '../../lib/json/defined.ts'
import { firstRefusal, type Refusal } from '../../policy/check.ts'
import { auditRuling, policyRuling } from '../../policy/grants/policy-ruling.ts'
import type { TokenLifetime } from '../../policy/grants/token-lifetime.ts'
import { haltedText } from '../../policy/halt.ts'
import type { Unreachable } from '../kit/github-unreachable.ts'
import { applicationNames, applicationProblem } from './applications.ts'
import { checks, repositoryWithoutApprover } from './checks.ts'
import { type Facts, haltOfGrant, isExpired } from './gather.ts'
import { isCurrent, isOfThesePolicies, knownOfGrant, restsOnAccessOfApprovers, rulingUnasked } from './policies/known-of-grant.ts'
import { endedText, type Judged, judge, judgedBefore } from './repositories.ts'

/** What was decided about the grant. `rule` names the check or the policy rule that decided. */
export type Ruling = Refusal & {
  readonly decision: GrantDecisionName
  readonly rule: string
  /** While it waits; absent in a ruling of an earlier time. */
  readonly approvals?: { readonly required: number; readonly given: number }
  readonly lifetimes?: readonly TokenLifetime[]
  /** When break-glass ends, which is why it is approved. */
  readonly approvedUntil?: string
}

type State = Pick<WantedCondition, 'status' | 'reason' | 'message'>

export type Decision = {
  /** Undefined until the first ruling. */
  readonly ruling: Ruling | undefined
  /** Which repositories an approved grant reaches. */
  readonly judged: Judged
  readonly approved: WantedCondition
  readonly ready: WantedCondition
  /** GitHub answered everything just now. */
  readonly checked: boolean
  /** The ruling is from the policies, and the answers of people, as they are now. */
  readonly isOfPolicies: boolean
  /** What policies in mode Audit would change; of a ruling of an earlier time, what the status says. */
  readonly audit: NonNullable<RepositoryGrant['status']>['audit']
  /** The grant does not hold: active tokens under it must end. */
  readonly revoke: boolean
}

const graceMilliseconds = 86_400_000

/**
 * Applies the rules again when GitHub answered, and changed policies when they decide without it; otherwise the ruling stands.
 */
export function decide(facts: Facts): Decision {
  const { kind } = facts.answer
  const checked = kind === 'found' || kind === 'missing' || kind === 'no-person'
  const judged = checked ? judge(facts) : judgedBefore(facts.object.status)
  const unasked = checked ? undefined : rulingWithout(facts, judged)
  const ruling = checked ? rulingOn(facts, judged) : (unasked ?? earlierRuling(facts))
  const approved = approval(facts, ruling, judged)
  const isOfPolicies = checked || unasked !== undefined
  const ready = readiness(facts, ruling, { judged, isOfPolicies }) ?? approved
  return {
    ruling,
    judged,
    approved: { type: 'Approved', ...approved },
    ready: { type: 'Ready', ...ready },
    checked,
    isOfPolicies,
    audit: auditOf(facts, { judged, ruling, isOfPolicies }),
    // The controller of the Halt revokes what it halts, and counts it.
    revoke: ready.status === 'False' && ready.reason !== reasons.halted,
  }
}

function rulingOn(facts: Facts, judged: Judged): Ruling {
  const refusal = firstRefusal(checks, facts) ?? refusalOfRepositories(facts, judged)
  if (refusal) return { decision: 'Denied', ...refusal }
  const ruling = policyRuling(facts.policies.enforced, facts.object, knownOfGrant(facts, judged.held))
  if (ruling.decision === 'Approved') return waitsForAccess(facts, judged.held) ?? approvedBy(ruling, facts, judged)
  if (ruling.decision !== 'Unknown') return ruling
  // GitHub did not say what the policies ask for, such as the visibility of a repository.
  const message = 'the policies cannot decide about it: GitHub does not say what they ask for'
  return { decision: 'Denied', rule: 'policy-facts-are-known', reason: reasons.deniedByGrantPolicy, message }
}

/** Named as a rule; no policy could decide otherwise. */
const approverHasAccess = 'approver-has-access'

/** A ServiceAccount has no access to pass on: of those who approved its request somebody must have it, on each repository. */
function waitsForAccess({ object, answer, answers }: Facts, held: Judged['held']): Ruling | undefined {
  const lacking = repositoryWithoutApprover(object, answer, held)
  if (lacking === undefined) return undefined
  const { length } = answers.approvals
  const who = length === 0 ? 'nobody has approved it who has' : 'those who approved it do not have'
  const message = `a ServiceAccount requested it, and ${who} ${lacking.level} access to ${lacking.name} on GitHub: an admin of the tenant who has it must approve`
  const approvals = { required: length + 1, given: length }
  return { decision: 'Waiting', rule: approverHasAccess, reason: reasons.waitingForApproval, message, approvals }
}

type Decided = Omit<Ruling, 'decision'>

function approvedBy({ message, lifetimes = [], ...decided }: Decided, { object }: Facts, judged: Judged): Ruling {
  const text = `${message}${consequenceOf(object)}${endedText(judged)}`
  return { ...decided, decision: 'Approved', message: text, lifetimes }
}

/**
 * What policies and people say while GitHub is not asked: what does not approve counts at once, an approval only for what was
 * approved before. A denial of before stays until GitHub is asked. Undefined when they need more, or nothing changed.
 */
function rulingWithout(facts: Facts, judged: Judged): Ruling | undefined {
  const { status } = facts.object
  const isDecided = status?.decision !== undefined
  if (facts.installation === undefined || (isDecided && isCurrent(facts))) return undefined
  const ruling = rulingUnasked(facts)
  if (ruling === undefined || ruling.decision === 'Unknown') return undefined
  if (ruling.decision === 'Denied') return ruling
  // People are asked about repositories that GitHub said, and never about names alone.
  const areKnown = (status?.requestedRepositories ?? status?.repositories) !== undefined
  if (ruling.decision === 'Waiting') return areKnown && status?.decision !== 'Denied' ? ruling : undefined
  return status?.decision === 'Approved' && !restsOnAccessOfApprovers(facts) ? approvedBy(ruling, facts, judged) : undefined
}

type Ruled = Pick<Decision, 'judged' | 'ruling' | 'isOfPolicies'>

/** Only what the rules decide can be decided by others: what a check refuses stays refused. */
function auditOf(facts: Facts, { judged, ruling, isOfPolicies }: Ruled): Decision['audit'] {
  const { answer, object, policies } = facts
  if (!isOfPolicies) return object.status?.audit
  if (answer.kind !== 'found') return isOfThesePolicies(facts) ? object.status?.audit : undefined
  if (ruling === undefined || ruling.rule === approverHasAccess) return undefined
  if ((firstRefusal(checks, facts) ?? refusalOfRepositories(facts, judged)) !== undefined) return undefined
  return auditRuling(policies, object, { known: knownOfGrant(facts, judged.held), ruling })
}

/** What is requested is approved as a whole; what was approved goes on for as long as one repository is left. */
function refusalOfRepositories({ object }: Facts, { held, refusal }: Judged): Judged['refusal'] {
  return object.status?.repositories === undefined || held.length === 0 ? refusal : undefined
}

const maxNames = 5

function firstOf(names: readonly string[]): readonly string[] {
  const others = names.length - maxNames
  return others > 0 ? [...names.slice(0, maxNames), `${others} more`] : names
}

/** Whoever approves or reads a grant should know whom it serves: the name of a ServiceAccount is not secret. */
function consequenceOf({ spec }: Pick<RepositoryGrant, 'spec'>): string {
  const names = firstOf(spec.subjects.filter(({ kind }) => kind === 'ServiceAccount').map(({ name }) => name))
  const applications = firstOf(applicationNames({ spec }))
  const ofAccounts = ` Everybody who can run a pod under the ServiceAccount ${names.join(' or ')} can use it: all developers of this namespace.`
  const ofApplications = ` The pods of Application ${applications.join(' and ')} can use it, and whoever may change that.`
  return `${names.length === 0 ? '' : ofAccounts}${applications.length === 0 ? '' : ofApplications}`
}

function earlierRuling({ object }: Facts): Ruling | undefined {
  const { decision, rule = '', conditions } = object.status ?? {}
  const condition = findCondition(conditions, 'Approved')
  if (condition === undefined || decision === undefined) return undefined
  const { tokenLifetimes: lifetimes = [], approvedUntil } = object.status ?? {}
  return { decision, rule, reason: condition.reason, message: condition.message, lifetimes, ...defined({ approvedUntil }) }
}

function approval(facts: Facts, ruling: Ruling | undefined, { held }: Judged): State {
  const { answer } = facts
  if (ruling) return { status: ruling.decision === 'Approved' ? 'True' : 'False', reason: ruling.reason, message: ruling.message }
  if (answer.kind === 'unreachable') return { status: 'Unknown', reason: reasonOf(answer), message: answer.message }
  const halt = haltOfGrant(facts, held)
  if (halt !== undefined) return { status: 'Unknown', reason: reasons.halted, message: `not decided yet: ${haltedText(halt)}` }
  const problem = applicationProblem(facts.object, facts.applications)
  if (problem !== undefined) return { status: 'Unknown', ...problem, message: `not decided yet: ${problem.message}` }
  const message = 'not decided yet: the Installation has to be ready first'
  return { status: 'Unknown', reason: reasons.installationNotReady, message }
}

function reasonOf({ isPaced = false }: Unreachable): string {
  return isPaced ? reasons.paced : reasons.unreachable
}

type Basis = Pick<Decision, 'judged' | 'isOfPolicies'>

/** What makes the readiness differ from the approval; undefined when nothing does. */
function readiness(facts: Facts, ruling: Ruling | undefined, { judged: { held }, isOfPolicies }: Basis): State | undefined {
  const { object, installationReady, answer, askedAt } = facts
  const { expiresAt, checkedAt = '' } = object.status ?? {}
  if (isExpired(object, askedAt))
    return { status: 'False', reason: reasons.expired, message: `expired at ${expiresAt}: delete it and request a new one` }
  const halt = haltOfGrant(facts, held)
  if (halt !== undefined) return { status: 'False', reason: reasons.halted, message: haltedText(halt) }
  const problem = applicationProblem(object, facts.applications)
  if (problem !== undefined) return { status: 'False', ...problem }
  if (!installationReady) {
    const message = `Installation ${object.spec.installation} is not ready`
    return { status: 'False', reason: reasons.installationNotReady, message }
  }
  if (answer.kind !== 'unreachable' || ruling?.decision !== 'Approved') return undefined
  const reason = reasonOf(answer)
  if (!isOfPolicies && !isCurrent(facts))
    return {
      status: 'False',
      reason,
      message: `the policies or the answers of people changed, and to decide by them GitHub has to answer: ${answer.message}`,
    }
  if (askedAt.getTime() - Date.parse(checkedAt) < graceMilliseconds)
    return { status: 'True', reason, message: `not checked now: ${answer.message}; the grant was last checked at ${checkedAt}` }
  return { status: 'False', reason, message: `not checked for a day: ${answer.message}` }
}
