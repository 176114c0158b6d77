// The status of a RepositoryGrant from the facts and the decision. Pure. The first approval fixes the ids of the repositories,
// the UIDs of Applications and the end of the grant; later checks ask by those ids and report today's names. The first wait for
// people fixes which repositories they are asked about. `checkedAt` changes only when GitHub was asked, so that an ordinary
// resync writes nothing.
import type { RepositoryGrant } from '../../api/github/repository-grant.ts'
import { findCondition, mergeConditions, type WantedCondition } from '../../kube/object/conditions.ts'
import { defined } from '../../lib/json/defined.ts'
import { answersDigest } from '../../policy/grants/approvals.ts'
import { wakeOf } from '../kit/repository/observed-wake.ts'
import { boundApplications } from './applications.ts'
import type { Decision } from './decide.ts'
import { decisionInputs } from './decision-inputs.ts'
import type { Facts } from './gather.ts'

export type GrantStatus = NonNullable<RepositoryGrant['status']>

/**
 * Whether the ruling, the rule that decided, or who approved differs from what is in the status: then the audit log gets a
 * record.
 */
export function isNewRuling({ object: { status: before }, answers }: Facts, { ruling, isOfPolicies }: Decision): boolean {
  if (ruling === undefined) return false
  if (before?.decision !== ruling.decision || before.rule !== ruling.rule) return true
  return ruling.decision === 'Approved' && isOfPolicies && before.observedAnswers !== answersDigest(answers)
}

/** Equal to the status before when nothing changed and GitHub was not asked. */
export function nextStatus(
  { object, installation, applications, answer, policies, answers, endedApprovals, askedAt }: Facts,
  { ruling, judged, approved, ready, checked, isOfPolicies, audit }: Decision,
): GrantStatus {
  const { conditions, observedWake, endedRepositories: _, audit: __, approvals, ...rest } = object.status ?? {}
  const { observedPolicies: ___, observedAnswers: ____, tokenLifetimes: _____, approvedUntil: ______, ...kept } = rest
  const { endedApprovals: _______, ...before } = kept
  const generation = object.metadata.generation ?? 0
  const isNew = before.decision !== ruling?.decision
  const end = new Date(askedAt.getTime() + object.spec.lifetimeSeconds * 1000).toISOString()
  const isApproved = ruling?.decision === 'Approved'
  const wake = checked ? wakeOf(object) : observedWake
  return {
    ...before,
    ...(ruling ? { decision: ruling.decision, rule: ruling.rule } : {}),
    ...whileWaiting({ ...before, ...defined({ approvals }) }, ruling, answer),
    ...(ruling && isNew ? { decidedAt: askedAt.toISOString() } : {}),
    ...(isApproved && answer.kind === 'found'
      ? { repositories: [...judged.held], ...boundTo(before, applications), expiresAt: before.expiresAt ?? end }
      : {}),
    ...leftOf(endedApprovals),
    ...livesOf(ruling),
    ...rowsOf(judged, isApproved || before.repositories !== undefined),
    ...(answer.kind === 'found' && answer.requester.kind === 'known' ? { requester: { login: answer.requester.login } } : {}),
    ...(checked ? { checkedAt: askedAt.toISOString() } : {}),
    ...(checked && installation ? { observedInputs: decisionInputs(installation) } : {}),
    ...defined({ observedWake: wake, ...seen(object, { policies, answers, isOfPolicies }), audit }),
    observedGeneration: generation,
    conditions: mergeConditions(conditions, [approved, ready, ...deliveredBefore(conditions, ready)], generation, askedAt),
  }
}

/** How many people are missing, and what they are asked about: what the names mean when the grant first waits. */
function whileWaiting(
  { approvals, requestedRepositories, repositories }: Partial<GrantStatus>,
  ruling: Decision['ruling'],
  answer: Facts['answer'],
): Pick<GrantStatus, 'approvals' | 'requestedRepositories'> {
  if (ruling?.decision !== 'Waiting') return {}
  const found = answer.kind === 'found' ? answer.repositories.map(({ id, name }) => ({ id, name })) : undefined
  return defined({
    approvals: ruling.approvals ?? approvals,
    requestedRepositories: requestedRepositories ?? repositories ?? found,
  })
}

/** What a grant that is ready had; the Secrets of one that is not are removed. */
function deliveredBefore(conditions: GrantStatus['conditions'], ready: WantedCondition): readonly WantedCondition[] {
  const before = findCondition(conditions, 'Delivered')
  return before === undefined || ready.status !== 'True' ? [] : [before]
}

/** The status after the Secrets were looked at. */
export function withDelivered({ metadata, status }: RepositoryGrant, delivered: WantedCondition, now: Date): GrantStatus {
  const { conditions = [], ...rest } = status ?? {}
  return { ...rest, conditions: mergeConditions(conditions, [...conditions, delivered], metadata.generation ?? 0, now) }
}

type Seen = Pick<Facts, 'policies' | 'answers'> & Pick<Decision, 'isOfPolicies'>

/** What the ruling is from. */
function seen({ status }: Facts['object'], { policies, answers, isOfPolicies }: Seen) {
  if (isOfPolicies) return { observedPolicies: policies.digest, observedAnswers: answersDigest(answers) }
  return { observedPolicies: status?.observedPolicies, observedAnswers: status?.observedAnswers }
}

/** From the first approval on, which has `applications`. */
function boundTo(before: Partial<GrantStatus>, applications: Facts['applications']): Pick<GrantStatus, 'applications'> {
  return defined({ applications: before.applications ?? boundApplications(applications) })
}

/** Of an approved grant. */
function livesOf(ruling: Decision['ruling']): Pick<GrantStatus, 'tokenLifetimes' | 'approvedUntil'> {
  if (ruling?.decision !== 'Approved') return {}
  const { lifetimes = [], approvedUntil } = ruling
  return { ...(lifetimes.length > 0 ? { tokenLifetimes: [...lifetimes] } : {}), ...defined({ approvedUntil }) }
}

function leftOf(ended: Facts['endedApprovals']): Pick<GrantStatus, 'endedApprovals'> {
  return ended.length > 0 ? { endedApprovals: [...ended] } : {}
}

/** Before the first approval nothing has ended: what is requested is denied as a whole. */
function rowsOf({ ended }: Decision['judged'], wasApproved: boolean): Pick<GrantStatus, 'endedRepositories'> {
  return wasApproved && ended.length > 0 ? { endedRepositories: [...ended] } : {}
}
