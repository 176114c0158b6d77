// What the rules say about one RepositoryGrant, by what is known of it: the rules of the platform without policies, otherwise
// the policies. Pure: the controller decides by it, and `sekisho policy test` says beforehand what the controller will decide.

import { isServiceAccountUser } from '../../api/builtin/service-account-user.ts'
import { optInDelivery } from '../../api/github/repository-grant/delivery.ts'
import {
  type GrantDecisionName,
  type RepositoryGrant,
  repositoryGrantReasons as reasons,
} from '../../api/github/repository-grant.ts'
import { parseUserSubject } from '../../api/names.ts'
import { sameJson } from '../../lib/json/same-json.ts'
import { decideGrant } from '../decide-grant.ts'
import type { Answers } from './approvals.ts'
import { refsAsked } from './asked-refs.ts'
import { decidePolicies, hasPolicies, type PolicySet } from './decide-policies.ts'
import type { GrantPolicies } from './grant-policies.ts'
import type { Needs, PolicyFacts, PolicyRepository, PolicyVerdict } from './policy-facts.ts'
import { lifetimesText, type TokenLifetime } from './token-lifetime.ts'

/** A ruling, or what it depends on. `rule` names the rules that decided. */
export type PolicyRuling =
  | {
      readonly decision: GrantDecisionName
      readonly rule: string
      readonly reason: string
      readonly message: string
      /** While it waits: how many people have to approve, and how many have. */
      readonly approvals?: { readonly required: number; readonly given: number }
      /** Of an approved grant: the subjects whose tokens live for another time than usual. */
      readonly lifetimes?: readonly TokenLifetime[]
      /** When break-glass ends, which is why it is approved. */
      readonly approvedUntil?: string
    }
  | { readonly decision: 'Unknown'; readonly needs: Needs }

/** Beside the grant itself. */
export type KnownOfGrant = {
  /** Of the Installation. */
  readonly host: string
  readonly repositories: readonly PolicyRepository[]
  readonly memberships: ReadonlyMap<string, boolean>
  /** What people answered. */
  readonly answers: Answers
}

/** The length of `status.rule` at most: names beyond it are cut off. */
export const maxRule = 253
const maxMessage = 1000

/** Of the grant as it is, by what is known. A person who denies it is asked before all policies. */
export function policyRuling(set: PolicySet, { metadata, spec }: RepositoryGrant, known: KnownOfGrant): PolicyRuling {
  const { denial } = known.answers
  if (denial !== undefined) {
    const message = `${denial.by} denied it (GrantApproval ${denial.name}): ${denial.reason}`
    const rule = `GrantApproval/${denial.name}`.slice(0, maxRule)
    return { decision: 'Denied', rule, reason: reasons.deniedByPerson, message }
  }
  const { permissions, subjects, requestedBy, delivery } = spec
  // Without any policy nothing allows that delivery.
  if (!hasPolicies(set) && delivery !== optInDelivery) {
    const repositoryIds = known.repositories.map(({ id = 0 }) => id)
    const repositoryNames = new Map(known.repositories.map(({ id = 0, name }) => [id, name]))
    const { decision, rule, reason: message } = decideGrant({ repositoryIds, repositoryNames, permissions, subjects })
    if (decision === 'Approved' && isServiceAccountUser(requestedBy)) return byPeople(vouchedFor([rule]), known.answers, metadata)
    return { decision, rule, reason: decision === 'Denied' ? reasons.deniedByPolicy : reasons.approved, message }
  }
  if (known.repositories.length === 0) return { decision: 'Unknown', needs: { teams: [], roles: [], repositories: true } }
  const person = parseUserSubject(requestedBy)
  const personId = person?.host === known.host ? person.userId : undefined
  const facts: PolicyFacts = {
    host: known.host,
    requester: { personId, memberships: known.memberships, isNobody: isServiceAccountUser(requestedBy) },
    repositories: known.repositories,
    permissions,
    subjects,
    delivery,
    refs: refsAsked(spec),
  }
  const verdict = decidePolicies(set, facts)
  switch (verdict.effect) {
    case 'Unknown':
      return { decision: 'Unknown', needs: verdict.needs }
    case 'Deny': {
      const { rule, origin, message } = verdict
      const reason = origin === 'built-in' ? reasons.deniedByPolicy : reasons.deniedByGrantPolicy
      return { decision: 'Denied', rule, reason, message: `${message}.` }
    }
    case 'RequireApproval':
      return byPeople(verdict, known.answers, metadata)
    case 'Allow': {
      if (isServiceAccountUser(requestedBy))
        return byPeople(vouchedFor(verdict.rules, verdict.lifetimes), known.answers, metadata)
      const used = verdict.rules.join(', ')
      const message = `Allowed by ${used}`.slice(0, maxMessage / 2)
      return {
        decision: 'Approved',
        rule: verdict.rules.join(',').slice(0, maxRule),
        reason: reasons.approved,
        message: `${message}.${ofTokens(verdict.lifetimes)}`.slice(0, maxMessage),
        lifetimes: verdict.lifetimes,
      }
    }
  }
}

function ofTokens(lifetimes: readonly TokenLifetime[]): string {
  return lifetimes.length === 0 ? '' : ` Tokens live by policy: ${lifetimesText(lifetimes)}.`
}

type WithApproval = Pick<Extract<PolicyVerdict, { effect: 'RequireApproval' }>, 'rules' | 'lifetimes' | 'approvals' | 'message'>

/** Named as a rule: a ServiceAccount has no access on GitHub that it could pass on. */
const needsPerson = 'service-account-needs-approval'

/** What rules allow a person is allowed a ServiceAccount with the approval of one. */
function vouchedFor(rules: readonly string[], lifetimes: readonly TokenLifetime[] = []): WithApproval {
  const message =
    'a ServiceAccount requested it, which is nobody on GitHub: it needs the approval of an admin of the tenant who has the access on GitHub'
  return { rules: [needsPerson, ...rules], lifetimes, approvals: 1, message }
}

/** Approved as soon as people enough have, each named with their reason; else by a platform admin in an emergency. */
function byPeople(
  { rules, lifetimes, approvals: required, message: needed }: WithApproval,
  { approvals, breakGlass }: Answers,
  { name, uid }: RepositoryGrant['metadata'],
): PolicyRuling {
  const rule = rules.join(',').slice(0, maxRule)
  if (approvals.length >= required) {
    const people = approvals.map(({ by, reason }) => `${by} (${reason})`).join(', ')
    return {
      decision: 'Approved',
      rule,
      reason: reasons.approved,
      message: `Approved by ${people}; ${needed}.${ofTokens(lifetimes)}`.slice(0, maxMessage),
      lifetimes,
    }
  }
  if (breakGlass !== undefined) {
    const { name: answer, by, reason, until } = breakGlass
    const message = `Approved by break-glass of ${by} until ${until.toISOString()} (${reason}), without the approvals: ${needed}.`
    const named = `GrantApproval/${answer},${rule}`.slice(0, maxRule)
    return {
      decision: 'Approved',
      rule: named,
      reason: reasons.approved,
      message: `${message}${ofTokens(lifetimes)}`.slice(0, maxMessage),
      lifetimes,
      approvedUntil: until.toISOString(),
    }
  }
  const people = approvals.map(({ by }) => by).join(', ')
  const given = approvals.length === 0 ? 'nobody has yet' : `${approvals.length} of ${required} have: ${people}`
  const message = `${needed}: ${given} (sekisho grants approve ${name} --uid ${uid}).`.slice(0, maxMessage)
  const counted = { required, given: approvals.length }
  return { decision: 'Waiting', rule, reason: reasons.waitingForApproval, message, approvals: counted }
}

type Ruled = { readonly decision: string; readonly lifetimes?: readonly TokenLifetime[] }

/** What policies in mode Audit would change about the ruling; undefined for nothing, and while that is not known. */
export function auditRuling(
  { audited }: GrantPolicies,
  grant: RepositoryGrant,
  { known, ruling }: { readonly known: KnownOfGrant; readonly ruling: Ruled },
): { readonly decision: GrantDecisionName; readonly rule: string; readonly message: string } | undefined {
  if (audited === undefined) return undefined
  const would = policyRuling(audited, grant, known)
  if (would.decision === 'Unknown') return undefined
  const isOfSameLife = would.decision !== 'Approved' || sameJson(would.lifetimes ?? [], ruling.lifetimes ?? [])
  if (would.decision === ruling.decision && isOfSameLife) return undefined
  return { decision: would.decision, rule: would.rule, message: would.message.slice(0, maxMessage) }
}

/** What all rulings about the grant need of GitHub, the one that only says what would be among them. */
export function needsOfGrant(
  { enforced, audited }: GrantPolicies,
  grant: RepositoryGrant,
  known: KnownOfGrant,
): Needs | undefined {
  const rulings = [enforced, ...(audited ? [audited] : [])].map(set => policyRuling(set, grant, known))
  const needs = rulings.flatMap(ruling => (ruling.decision === 'Unknown' ? [ruling.needs] : []))
  if (needs.length === 0) return undefined
  return {
    teams: [...new Set(needs.flatMap(({ teams }) => teams))],
    roles: [...new Set(needs.flatMap(({ roles }) => roles))],
    repositories: needs.some(({ repositories }) => repositories),
  }
}
