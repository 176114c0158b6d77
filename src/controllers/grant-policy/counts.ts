// How many RepositoryGrants a policy decided. Pure, except for the index by which they are found.

import type { GrantCounts } from '../../api/github/grant-policy/counts.ts'
import type { GrantPolicy } from '../../api/github/grant-policy.ts'
import type { GrantDecisionName, RepositoryGrant } from '../../api/github/repository-grant.ts'
import { keyText, type ObjectKey } from '../../api/resource.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import { namedRules } from '../../policy/grants/named-rules.ts'
import type { Kind } from '../../policy/grants/policy-row.ts'

/** The grants whose status names the policy of that kind, as what decided or would decide. */
export type GrantsOfPolicy = (kind: Kind, policy: ObjectKey) => readonly RepositoryGrant[]

const indexName = 'grant-policy/by-policy'
const indexed = (kind: Kind, policy: ObjectKey): string => `${kind} ${keyText(policy)}`

function policiesOf({ metadata, status }: RepositoryGrant): readonly string[] {
  const named = [status?.rule, status?.audit?.rule].flatMap(text => namedRules(text ?? ''))
  const { namespace = '' } = metadata
  const keys = named.map(({ kind, policy: name }) => indexed(kind, kind === 'GrantPolicy' ? { namespace, name } : { name }))
  return [...new Set(keys)]
}

/** Call before the manager starts. */
export function grantsOfPolicies(grants: Pick<Cache<RepositoryGrant>, 'addIndex' | 'byIndex'>): GrantsOfPolicy {
  grants.addIndex(indexName, policiesOf)
  return (kind, policy) => grants.byIndex(indexName, indexed(kind, policy))
}

type Counts = NonNullable<NonNullable<GrantPolicy['status']>['grants']>

/** What a grant says about one policy: `rules` has undefined for a name that is cut off. */
type Decided = { readonly decision: GrantDecisionName; readonly rules: ReadonlySet<string | undefined> }

/** Of the grants that a change of the policy can hit: what has expired, or is being deleted, is decided by nobody any more. */
export function grantCounts(kind: Kind, policy: GrantPolicy, grants: readonly RepositoryGrant[], now: Date): Counts {
  const decided = grants.flatMap(grant => (hasEnded(grant, now) ? [] : (decidedBy(kind, policy, grant) ?? [])))
  const each = decided.flatMap(({ decision, rules }) => [...rules].map(rule => ({ decision, rule })))
  const byRule = Map.groupBy(each, ({ rule }) => rule)
  const rules = policy.spec.rules.flatMap(({ name }) => {
    const some = byRule.get(name)
    return some === undefined ? [] : [{ name, ...countsOf(some) }]
  })
  return { ...countsOf(decided), ...(rules.length > 0 ? { rules } : {}) }
}

/** Of a policy that only reports, what would be decided. */
function decidedBy(kind: Kind, { metadata, spec }: GrantPolicy, { status }: RepositoryGrant): Decided | undefined {
  const { decision, rule = '' } = (spec.mode === 'Audit' ? status?.audit : status) ?? {}
  const named = namedRules(rule).filter(one => one.kind === kind && one.policy === metadata.name)
  return decision === undefined || named.length === 0 ? undefined : { decision, rules: new Set(named.map(one => one.rule)) }
}

function countsOf(some: readonly { readonly decision: GrantDecisionName }[]): GrantCounts {
  const count = (decision: GrantDecisionName): number => some.filter(one => one.decision === decision).length
  return { approved: count('Approved'), waiting: count('Waiting'), denied: count('Denied') }
}

function hasEnded({ metadata, status }: RepositoryGrant, now: Date): boolean {
  if (metadata.deletionTimestamp !== undefined) return true
  return status?.expiresAt !== undefined && Date.parse(status.expiresAt) <= now.getTime()
}
