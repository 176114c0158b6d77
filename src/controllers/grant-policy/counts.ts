// How many RepositoryGrants a policy decided. Pure, except for the index by which they are found.

import type { GrantCounts } from '../../api/github/grant-policy/counts.ts'
import type { GrantPolicy } from '../../api/github/grant-policy.ts'
import type { RepositoryGrant } from '../../api/github/repository-grant.ts'
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

const none: GrantCounts = { approved: 0, waiting: 0, denied: 0 }
const fieldOf = { Approved: 'approved', Waiting: 'waiting', Denied: 'denied' } as const

/** Of the grants that a change of the policy can hit: what has expired, or is being deleted, is decided by nobody any more. */
export function grantCounts(kind: Kind, policy: GrantPolicy, grants: readonly RepositoryGrant[], now: Date): Counts {
  const { metadata, spec } = policy
  let all = none
  const byRule = new Map<string | undefined, GrantCounts>()
  for (const [text, counts] of countsByText(spec.mode, grants, now)) {
    const named = namedRules(text).filter(one => one.kind === kind && one.policy === metadata.name)
    if (named.length === 0) continue
    all = sum(all, counts)
    for (const rule of new Set(named.map(one => one.rule))) byRule.set(rule, sum(byRule.get(rule) ?? none, counts))
  }
  const rules = spec.rules.flatMap(({ name }) => {
    const some = byRule.get(name)
    return some === undefined ? [] : [{ name, ...some }]
  })
  return { ...all, ...(rules.length > 0 ? { rules } : {}) }
}

/** By the text that names the rules, which many grants have in common. */
function countsByText(mode: GrantPolicy['spec']['mode'], grants: readonly RepositoryGrant[], now: Date) {
  const byText = new Map<string, { approved: number; waiting: number; denied: number }>()
  for (const grant of grants) {
    // Of a policy that only reports, what would be decided.
    const { decision, rule = '' } = (mode === 'Audit' ? grant.status?.audit : grant.status) ?? {}
    if (decision === undefined || hasEnded(grant, now)) continue
    const counts = byText.get(rule) ?? { ...none }
    counts[fieldOf[decision]] += 1
    byText.set(rule, counts)
  }
  return byText
}

function sum(a: GrantCounts, b: GrantCounts): GrantCounts {
  return { approved: a.approved + b.approved, waiting: a.waiting + b.waiting, denied: a.denied + b.denied }
}

function hasEnded({ metadata, status }: RepositoryGrant, now: Date): boolean {
  if (metadata.deletionTimestamp !== undefined) return true
  return status?.expiresAt !== undefined && Date.parse(status.expiresAt) <= now.getTime()
}
