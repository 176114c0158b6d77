// One rule of a policy as the index holds it, and whether it is about one combination. Pure.
import type { ClusterGrantPolicy, GrantPolicy } from '../../api/github/grant-policy.ts'
import { type GrantDelivery, optInDelivery } from '../../api/github/repository-grant/delivery.ts'
import type { GrantRule } from '../grant-rule.ts'
import { permissionLevels, permissionRank } from '../permission-level.ts'
import { type RefSet, refSet } from './asked-refs.ts'
import type { PolicyAtom, PolicyFacts, RuleOrigin } from './policy-facts.ts'
import { type RepositoryMatcher, repositoryMatcher } from './repository-pattern.ts'

/** A policy of either kind. */
export type Policy = GrantPolicy | ClusterGrantPolicy
/** One rule of a policy. */
export type Rule = Policy['spec']['rules'][number]

/** One rule. */
export type Row = {
  readonly id: string
  readonly origin: RuleOrigin
  readonly effect: 'deny' | 'approve' | 'allow'
  /** Of those that require approval. */
  readonly approvals: number
  readonly permissions: ReadonlyMap<string, number>
  readonly host: string | undefined
  /** Of a rule that names all of its repositories in full: their names in lower case. */
  readonly names: readonly string[] | undefined
  readonly patterns: readonly RepositoryMatcher[] | undefined
  readonly repositoryIds: ReadonlySet<number> | undefined
  readonly visibility: readonly string[] | undefined
  readonly subjects: Rule['subjects']
  /** Of its tokens. */
  readonly lifetime: number | undefined
  readonly deliveries: Rule['deliveries']
  /** What is allowed by this row is not allowed for the delivery that a rule of the cluster has to name. */
  readonly sparesOptIn: boolean
  readonly refs: RefSet | undefined
}

/** In which place a policy is. */
export type Kind = 'GrantPolicy' | 'ClusterGrantPolicy'

/** A rule of the platform, in the layer of this kind. */
export function builtInRow(kind: Kind, { id, effect, subject, permission, level }: GrantRule): Row {
  return {
    id,
    origin: 'built-in',
    effect,
    approvals: 0,
    permissions: new Map([[permission, permissionRank(level)]]),
    host: undefined,
    names: undefined,
    patterns: undefined,
    repositoryIds: undefined,
    visibility: undefined,
    subjects: subject === '*' ? undefined : [{ kind: subject }],
    lifetime: undefined,
    deliveries: undefined,
    sparesOptIn: kind === 'ClusterGrantPolicy',
    refs: undefined,
  }
}

/** One rule of the policy of that name. */
export function rowOf(kind: Kind, policy: string, rule: Rule): Row {
  const { name, effect, host, repositories, repositoryIds, visibility, permissions, subjects, deliveries } = rule
  return {
    id: `${kind}/${policy}/${name}`,
    origin: kind,
    // What is not an allowance never becomes one.
    effect: effect === 'Allow' ? 'allow' : effect === 'RequireApproval' ? 'approve' : 'deny',
    approvals: rule.approvals ?? 1,
    permissions: new Map(Object.entries(permissions).map(([key, level]) => [key, rankOf(level)])),
    host,
    names: namesOf(rule),
    patterns: repositories?.map(repositoryMatcher),
    repositoryIds: repositoryIds && new Set(repositoryIds),
    visibility,
    subjects,
    lifetime: effect === 'Deny' ? undefined : rule.tokenLifetimeSeconds,
    deliveries,
    sparesOptIn: kind === 'ClusterGrantPolicy' && deliveries === undefined,
    refs: rule.refs && refSet(rule.refs),
  }
}

function namesOf({ repositories, repositoryIds }: Rule): readonly string[] | undefined {
  const isNamed = repositories?.every(pattern => !pattern.includes('*')) && repositoryIds === undefined
  return isNamed ? repositories?.map(name => name.toLowerCase()) : undefined
}

/** A level that nobody knows allows nothing and denies everything. */
function rankOf(level: string): number {
  return permissionLevels.some(known => known === level) ? permissionRank(level) : 0
}

/** More access never needs less: what denies or requires approval holds from its level on. */
export function covers({ effect, permissions }: Row, permission: string, level: number): boolean {
  const named = permissions.get(permission)
  return named !== undefined && (effect === 'allow' ? level <= named : level >= named)
}

type Asked = {
  readonly permission: string
  readonly level: number
  readonly delivery: GrantDelivery
  readonly ref: string | undefined
}

/** Of a row that covers it: what requires approval allows its own level, not those above. */
export function allows({ effect, permissions, sparesOptIn, refs }: Row, { permission, level, delivery, ref }: Asked): boolean {
  if (sparesOptIn && delivery === optInDelivery) return false
  if (effect === 'allow') return true
  const isWhole = refs === undefined || (ref !== undefined && refs.contains(ref))
  return effect === 'approve' && isWhole && permissions.get(permission) === level
}

/**
 * What is allowed must be within the refs of the rule; what denies or requires approval holds for each ref that both mean.
 * Where no ref is asked for, only what allows holds.
 */
function concernsRef({ effect, refs }: Row, ref: string | undefined): boolean {
  if (refs === undefined) return true
  if (ref === undefined) return effect === 'allow'
  return effect === 'allow' ? refs.contains(ref) : refs.meets(ref)
}

/** By what is always known. */
export function concerns(row: Row, facts: PolicyFacts, { subject, ref }: PolicyAtom): boolean {
  const { host, subjects, deliveries } = row
  if (!concernsRef(row, ref)) return false
  if (host !== undefined && host !== facts.host) return false
  if (deliveries?.includes(facts.delivery) === false) return false
  if (subjects === undefined) return true
  return subjects.some(({ kind, name }) => kind === subject.kind && (name === undefined || name === subject.name))
}

/** Whether the repository is one of the rule; undefined when that is not known. */
export function includes({ patterns, repositoryIds, visibility }: Row, { repository }: PolicyAtom): boolean | undefined {
  const { id, name } = repository
  if (repository.visibility !== undefined && visibility?.includes(repository.visibility) === false) return false
  const isVisible = visibility === undefined || repository.visibility !== undefined ? true : undefined
  if (patterns === undefined && repositoryIds === undefined) return isVisible
  if (patterns?.some(pattern => pattern(name)) === true) return isVisible
  if (repositoryIds === undefined) return false
  if (id === undefined) return undefined
  return repositoryIds.has(id) && isVisible
}
