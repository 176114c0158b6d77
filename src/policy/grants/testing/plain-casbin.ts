// The meaning of policies a second time: casbin over all rules, without an index. One row for each combination of what a rule
// lists, and plain comparisons but for the pattern of a repository, which is written apart from the product's. For tests and the
// bench; the product does not load it.
import { Enforcer, newModelFromString } from 'casbin'
import { defaultGrantRules, familyOf } from '../../grant-rule.ts'
import { permissionRank } from '../../permission-level.ts'
import { type PolicyAtom, type PolicyFacts, personKey, roleKey, teamKey } from '../policy-facts.ts'
import type { Policy } from '../policy-layer.ts'

const model = `
[request_definition]
r = host, requester, name, id, visibility, kind, subject, permission, family, level

[policy_definition]
p = id, host, requester, repository, visibility, kind, subject, permission, level, eft

[policy_effect]
e = some(where (p.eft == allow)) && !some(where (p.eft == deny))

[matchers]
m = (p.permission == '*' || r.permission == p.permission || r.family == p.permission) \\
 && ((p.eft == 'allow' && r.level <= p.level) || (p.eft == 'deny' && r.level >= p.level)) \\
 && (p.host == '*' || r.host == p.host) \\
 && (p.kind == '*' || r.kind == p.kind) && (p.subject == '*' || r.subject == p.subject) \\
 && (p.visibility == '*' || r.visibility == p.visibility) \\
 && (p.requester == '*' || isOf(r.requester, p.requester)) \\
 && (p.repository == '*' || p.repository == r.id || isLike(r.name, p.repository))
`

/** What casbin says about one combination. */
export type PlainEffect = 'allow' | 'deny' | 'none'

/** Compiles the policies of one place; the facts that it is asked about must be complete. */
export function plainCasbin(policies: readonly Policy[]): (facts: PolicyFacts, atom: PolicyAtom) => PlainEffect {
  const definition = newModelFromString(model)
  for (const row of rowsOf(policies)) definition.addPolicy('p', 'p', [...row])
  const enforcer = new Enforcer()
  enforcer.setModel(definition)
  const isOf = (keys: ReadonlySet<string>, key: string): boolean => keys.has(key)
  void enforcer.addFunction('isOf', isOf as unknown as (...values: unknown[]) => boolean)
  void enforcer.addFunction('isLike', isLike as unknown as (...values: unknown[]) => boolean)
  return (facts, { subject, repository, permission, level }) => {
    const [allowed, row] = enforcer.enforceExSync(
      facts.host,
      keysOf(facts),
      repository.name,
      String(repository.id),
      repository.visibility,
      subject.kind,
      subject.name,
      permission,
      familyOf(permission),
      permissionRank(level),
    )
    return row.at(-1) === 'deny' ? 'deny' : allowed ? 'allow' : 'none'
  }
}

type Rule = Policy['spec']['rules'][number]

function rowsOf(policies: readonly Policy[]): readonly (readonly string[])[] {
  const replaced = policies.some(({ spec }) => spec.builtInRules === 'Replace')
  const builtIn = defaultGrantRules
    .filter(({ effect }) => !replaced || effect === 'deny')
    .map(rule => [rule.id, '*', '*', '*', '*', rule.subject, '*', rule.permission, rankText(rule.level), rule.effect])
  return [...builtIn, ...policies.flatMap(({ metadata, spec }) => spec.rules.flatMap(rule => rowsOfRule(metadata.name, rule)))]
}

const rankText = (level: string): string => String(permissionRank(level))

/** One row for each combination of what the rule lists. */
function rowsOfRule(policy: string, rule: Rule): readonly (readonly string[])[] {
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
    Object.entries(rule.permissions).map(([permission, level]) => [permission, rankText(level)]),
    [[rule.effect === 'Allow' ? 'allow' : 'deny']],
  ]
  return lists.reduce((rows, list) => rows.flatMap(row => list.map(more => [...row, ...more])))
}

function keysOf({ requester: { personId, memberships } }: PolicyFacts): ReadonlySet<string> {
  const held = [...memberships].flatMap(([key, isMember]) => (isMember ? [key] : []))
  return new Set(personId === undefined ? held : [personKey(personId), ...held])
}

/** By a regular expression, which only tests may build of a pattern. */
function isLike(name: string, pattern: string): boolean {
  const body = [...pattern].map(one => (one === '*' ? '[^/]*' : `\\u{${one.codePointAt(0)?.toString(16)}}`)).join('')
  return new RegExp(`^${body}$`, 'iu').test(name)
}
