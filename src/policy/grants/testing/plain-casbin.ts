// The meaning of policies a second time: casbin over all rules, without an index. One row for each combination of what a rule
// lists, and plain comparisons but for the pattern of a repository, which is written apart from the product's. For tests and the
// bench; the product does not load it.
import { Enforcer, newModelFromString } from 'casbin'
import { defaultGrantRules, familyOf } from '../../grant-rule.ts'
import { permissionRank } from '../../permission-level.ts'
import { type PolicyAtom, type PolicyFacts, personKey, roleKey, teamKey } from '../policy-facts.ts'
import type { Policy } from '../policy-row.ts'

const model = `
[request_definition]
r = host, requester, name, id, visibility, kind, subject, delivery, ref, permission, family, level

[policy_definition]
p = id, host, requester, repository, visibility, kind, subject, delivery, ref, permission, level, scope, eft, part

[policy_effect]
e = some(where (p.eft == allow)) && !some(where (p.eft == deny))

[matchers]
m = (p.permission == '*' || r.permission == p.permission || r.family == p.permission) \\
 && ((p.scope == 'up to' && r.level <= p.level) || (p.scope == 'from' && r.level >= p.level) || (p.scope == 'only' && r.level == p.level)) \\
 && (p.host == '*' || r.host == p.host) \\
 && (p.kind == '*' || r.kind == p.kind) && (p.subject == '*' || r.subject == p.subject) \\
 && (p.delivery == '*' || r.delivery == p.delivery) \\
 && (p.ref == '*' || isRef(r.ref, p.ref, p.part)) \\
 && (p.visibility == '*' || r.visibility == p.visibility) \\
 && (p.requester == '*' || isOf(r.requester, p.requester, p.part)) \\
 && (p.repository == '*' || p.repository == r.id || isLike(r.name, p.repository))
`

/** What casbin says about one combination; a number: allowed when so many people approve. */
export type PlainEffect = 'allow' | 'deny' | 'none' | number
type Kind = 'GrantPolicy' | 'ClusterGrantPolicy'
type Evaluator = (facts: PolicyFacts, atom: PolicyAtom) => 'allow' | 'deny' | 'none'

/**
 * Compiles the policies of one place; the facts that it is asked about must be complete. How many have to approve is asked of
 * one enforcer for each number, in which the rules that require it deny.
 */
export function plainCasbin(kind: Kind, policies: readonly Policy[]): (facts: PolicyFacts, atom: PolicyAtom) => PlainEffect {
  const plain = enforcerOf(rowsOf(kind, policies))
  const requiring = [5, 4, 3, 2, 1].map(approvals => ({ approvals, asks: enforcerOf(requiringRows(policies, approvals)) }))
  return (facts, atom) => {
    const effect = plain(facts, atom)
    return effect === 'allow' ? (requiring.find(({ asks }) => asks(facts, atom) === 'deny')?.approvals ?? effect) : effect
  }
}

/**
 * The shortest life of tokens that a rule names which matches the combination: asked of one enforcer for each time, in which the
 * rules that name it deny what they match.
 */
export function plainLifetime(policies: readonly Policy[]): (facts: PolicyFacts, atom: PolicyAtom) => number | undefined {
  const named = policies.flatMap(({ metadata, spec }) => spec.rules.map(rule => ({ policy: metadata.name, rule })))
  const times = [...new Set(named.flatMap(({ rule }) => rule.tokenLifetimeSeconds ?? []))].sort((a, b) => a - b)
  const enforcers = times.map(seconds => {
    const rows = named.flatMap(({ policy, rule }) => {
      if (rule.tokenLifetimeSeconds !== seconds || rule.effect === 'Deny') return []
      const scope = rule.effect === 'Allow' ? 'up to' : 'from'
      const matching = rule.effect === 'Allow' ? rule : { ...rule, effect: 'Deny' as const }
      return rowsOfRule(policy, matching, rule.deliveries ?? ['*']).map(row => [
        ...row.slice(0, -3),
        scope,
        'deny',
        row.at(-1) ?? '',
      ])
    })
    return { seconds, asks: enforcerOf(rows) }
  })
  return (facts, atom) => enforcers.find(({ asks }) => asks(facts, atom) === 'deny')?.seconds
}

function enforcerOf(rows: readonly (readonly string[])[]): Evaluator {
  if (rows.length === 0) return () => 'none'
  const definition = newModelFromString(model)
  for (const row of rows) definition.addPolicy('p', 'p', [...row])
  const enforcer = new Enforcer()
  enforcer.setModel(definition)
  // Of rules that name requesters, those that deny or require approval match a ServiceAccount.
  const isOf = (keys: ReadonlySet<string>, key: string, part: string): boolean =>
    keys.has(key) || (keys.has(nobody) && part === scopes.Deny[2])
  void enforcer.addFunction('isOf', isOf as unknown as (...values: unknown[]) => boolean)
  void enforcer.addFunction('isRef', isRef as unknown as (...values: unknown[]) => boolean)
  void enforcer.addFunction('isLike', isLike as unknown as (...values: unknown[]) => boolean)
  return (facts, { subject, repository, permission, level, ref = '' }) => {
    const [allowed, row] = enforcer.enforceExSync(
      facts.host,
      keysOf(facts),
      repository.name,
      String(repository.id),
      repository.visibility,
      subject.kind,
      subject.name,
      facts.delivery,
      ref,
      permission,
      familyOf(permission),
      permissionRank(level),
    )
    return row.at(-2) === 'deny' ? 'deny' : allowed ? 'allow' : 'none'
  }
}

type Rule = Policy['spec']['rules'][number]

function rowsOf(kind: Kind, policies: readonly Policy[]): readonly (readonly string[])[] {
  const replaced = policies.some(({ spec }) => spec.builtInRules === 'Replace')
  const builtIn = defaultGrantRules
    .filter(({ effect }) => !replaced || effect === 'deny')
    .flatMap(({ id, subject, permission, level, effect }) => {
      const scope = effect === 'allow' ? 'up to' : 'from'
      const deliveries = effect === 'allow' ? deliveriesOf(kind) : ['*']
      return deliveries.map(delivery => [
        id,
        '*',
        '*',
        '*',
        '*',
        subject,
        '*',
        delivery,
        '*',
        permission,
        rankText(level),
        scope,
        effect,
        'any',
      ])
    })
  const own = policies.flatMap(({ metadata, spec }) =>
    spec.rules.flatMap(rule => {
      const deliveries = rule.effect === 'Deny' ? ['*'] : deliveriesOf(kind)
      return rowsOfRule(metadata.name, rule, rule.deliveries ?? deliveries)
    }),
  )
  return [...builtIn, ...own]
}

/** For which deliveries a rule allows something that names none: in the cluster not for a Secret. */
function deliveriesOf(kind: Kind): readonly string[] {
  return kind === 'GrantPolicy' ? ['*'] : ['TokenEndpoint', 'GitProxy']
}

/** The rules that require so many approvals, as rows that deny from their level on. */
function requiringRows(policies: readonly Policy[], count: number): readonly (readonly string[])[] {
  return policies.flatMap(({ metadata, spec }) =>
    spec.rules
      .filter(({ effect, approvals = 1 }) => effect === 'RequireApproval' && approvals === count)
      .flatMap(rule => rowsOfRule(metadata.name, { ...rule, effect: 'Deny' }, rule.deliveries ?? ['*'])),
  )
}

/** From or up to which level, what then, and how much of the ref that is asked for: all of it, if one is, or any of it. */
const scopes = {
  Allow: ['up to', 'allow', 'all if any'],
  RequireApproval: ['only', 'allow', 'all'],
  Deny: ['from', 'deny', 'any'],
} as const

const rankText = (level: string): string => String(permissionRank(level))

/** One row for each combination of what the rule lists. */
function rowsOfRule(policy: string, rule: Rule, deliveries: readonly string[]): readonly (readonly string[])[] {
  const named = [...(rule.repositories ?? []), ...(rule.repositoryIds ?? []).map(String)]
  const requesters = rule.requesters?.map(({ type, id = 0, role = 'viewer' }) => {
    if (type === 'Role') return roleKey(role)
    return type === 'Team' ? teamKey(id) : personKey(id)
  })
  const lists: readonly (readonly (readonly string[])[])[] = [
    [[`${policy}/${rule.name}`, rule.host ?? '*']],
    (requesters ?? ['*']).map(one => [one]),
    (named.length === 0 ? ['*'] : named).map(one => [one]),
    (rule.visibility ?? ['*']).map(one => [one]),
    rule.subjects?.map(({ kind, name = '*' }) => [kind, name]) ?? [['*', '*']],
    deliveries.map(one => [one]),
    (rule.refs ?? ['*']).map(one => [one]),
    Object.entries(rule.permissions).map(([permission, level]) => [permission, rankText(level)]),
    [scopes[rule.effect]],
  ]
  return lists.reduce((rows, list) => rows.flatMap(row => list.map(more => [...row, ...more])))
}

const nobody = 'nobody'

function keysOf({ requester: { personId, memberships, isNobody } }: PolicyFacts): ReadonlySet<string> {
  if (isNobody === true) return new Set([nobody])
  const held = [...memberships].flatMap(([key, isMember]) => (isMember ? [key] : []))
  return new Set(personId === undefined ? held : [personKey(personId), ...held])
}

/** By a regular expression, which only tests may build of a pattern. */
function isLike(name: string, pattern: string): boolean {
  const body = [...pattern].map(one => (one === '*' ? '[^/]*' : `\\u{${one.codePointAt(0)?.toString(16)}}`)).join('')
  return new RegExp(`^${body}$`, 'iu').test(name)
}

/** `asked` is itself a pattern, or empty where nothing is pushed. */
function isRef(asked: string, pattern: string, part: string): boolean {
  if (asked === '') return part === 'all if any'
  if (part === 'any') return haveCommon(asked, pattern)
  // One character that no pattern has stands for whatever a star does.
  return new RegExp(`^${pattern.replaceAll('*', '.*')}$`, 'su').test(asked.replaceAll('*', '\u0001'))
}

/** Character by character, each star on either side taking none or one more. */
function haveCommon(a: string, b: string): boolean {
  if (a === '' && b === '') return true
  if (a.startsWith('*') && haveCommon(a.slice(1), b)) return true
  if (b.startsWith('*') && haveCommon(a, b.slice(1))) return true
  if (a === '' || b === '') return false
  if (a.startsWith('*')) return haveCommon(a, b.slice(1))
  if (b.startsWith('*')) return haveCommon(a.slice(1), b)
  return a[0] === b[0] && haveCommon(a.slice(1), b.slice(1))
}
