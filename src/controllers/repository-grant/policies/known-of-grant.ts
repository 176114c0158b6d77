// What is known of a grant for the policies, with and without an answer of GitHub, and what they say about it by that. Pure.
import { isServiceAccountUser } from '../../../api/builtin/service-account-user.ts'
import type { Installation } from '../../../api/github/installation.ts'
import type { RepositoryGrant } from '../../../api/github/repository-grant.ts'
import { findCondition } from '../../../kube/object/conditions.ts'
import { type Answers, answersDigest } from '../../../policy/grants/approvals.ts'
import { hasPolicies } from '../../../policy/grants/decide-policies.ts'
import type { GrantPolicies } from '../../../policy/grants/grant-policies.ts'
import { type KnownOfGrant, needsOfGrant, type PolicyRuling, policyRuling } from '../../../policy/grants/policy-ruling.ts'
import type { ProbeAnswer, Repository } from '../probe.ts'

/** Of the facts about a grant, what its policies need. */
export type PolicedGrant = {
  readonly object: RepositoryGrant
  readonly installation: Installation | undefined
  readonly answer: ProbeAnswer | { readonly kind: 'not-due' | 'no-person' | 'unreachable' }
  readonly policies: GrantPolicies
  readonly memberships: ReadonlyMap<string, boolean>
  readonly answers: Answers
}

/** Of `repositories`, which GitHub named just now or which the status holds. */
export function knownOfGrant(
  { installation, answer, memberships, answers }: PolicedGrant,
  repositories: readonly Repository[],
): KnownOfGrant {
  const visibility = answer.kind === 'found' ? answer.visibility : undefined
  return {
    host: installation?.spec.account.host ?? '',
    repositories: repositories.map(({ id, name }) => ({ id, name, visibility: visibility?.get(id) })),
    memberships,
    answers,
  }
}

/** Before the first answer of GitHub: by the names of the spec, which are the present ones or mean no repository. */
function knownBefore({ object, installation, memberships, answers }: PolicedGrant): KnownOfGrant {
  const { repositories } = object.status ?? {}
  return {
    host: installation?.spec.account.host ?? '',
    repositories: repositories
      ? repositories.map(({ id, name }) => ({ id, name, visibility: undefined }))
      : object.spec.repositories.map(name => ({ id: undefined, name, visibility: undefined })),
    memberships,
    answers,
  }
}

/** Whether the grant was decided from these policies. */
export function isOfThesePolicies({ object: { status }, policies }: Pick<PolicedGrant, 'object' | 'policies'>): boolean {
  return status?.observedPolicies === policies.digest
}

/** Whether the grant was decided from these policies and from these answers of people. */
export function isCurrent(facts: Pick<PolicedGrant, 'object' | 'policies' | 'answers'>): boolean {
  return isOfThesePolicies(facts) && facts.object.status?.observedAnswers === answersDigest(facts.answers)
}

/** Whether nothing can be approved, whatever GitHub answers: then it is not asked at all. Only before the first approval. */
export function isDeniedUnasked(facts: PolicedGrant): boolean {
  return facts.object.status?.repositories === undefined && rulingUnasked(facts)?.decision === 'Denied'
}

/**
 * Whether changed policies and answers, by what is known, leave an approved grant as it is or end it: then GitHub need not be
 * asked. What a check denied is checked again before people are asked.
 */
export function isDecidedUnasked(facts: PolicedGrant): boolean {
  const ruling = rulingUnasked(facts)
  if (ruling === undefined || ruling.decision === 'Unknown' || facts.policies.audited !== undefined) return false
  if (ruling.decision === 'Waiting') return facts.object.status?.decision !== 'Denied'
  if (ruling.decision === 'Denied') return true
  return !restsOnAccessOfApprovers(facts) && findCondition(facts.object.status?.conditions, 'Approved')?.status === 'True'
}

/** Whether who approves has to have the access on GitHub: other people than before need an answer of GitHub. */
export function restsOnAccessOfApprovers({ object }: Pick<PolicedGrant, 'object'>): boolean {
  return isServiceAccountUser(object.spec.requestedBy)
}

/** By what is known without GitHub; undefined while that is nothing that the platform's own rules could decide by. */
export function rulingUnasked(facts: PolicedGrant): PolicyRuling | undefined {
  const { object, policies } = facts
  const isResolved = object.status?.repositories !== undefined || facts.answers.denial !== undefined
  return isResolved || hasPolicies(policies.enforced) ? policyRuling(policies.enforced, object, knownBefore(facts)) : undefined
}

/** The teams and roles that decide about the grant, now that its repositories are known; undefined for none. */
export function neededMemberships(facts: PolicedGrant) {
  const { answer, policies, object } = facts
  if (answer.kind !== 'found' || policies.digest === undefined) return undefined
  const needs = needsOfGrant(policies, object, knownOfGrant(facts, answer.repositories))
  return needs && (needs.teams.length > 0 || needs.roles.length > 0) ? needs : undefined
}
