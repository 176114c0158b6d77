// Decides a RepositoryGrant by rules: pure, explainable, denied by default, and a denying rule wins. The rules are those of one
// tenant; each decision has a casbin enforcer of its own, so that one tenant's rules can neither slow nor change another
// tenant's decisions. Why casbin, and where its limits are: docs/adr/0016-casbin-decides-grants.md.
import { Enforcer, newModelFromString } from 'casbin'
import { AppError } from '../lib/errors.ts'
import { type Atom, atomsOf, type GrantDecision, type GrantFacts } from './grant-facts.ts'
import { defaultGrantRules, familyOf, type GrantRule } from './grant-rule.ts'
import { permissionRank } from './permission-level.ts'

/**
 * Plain comparisons only: no regular expressions, no patterns, and no roles (g()). Levels are the numbers of the one order of
 * levels.
 */
const model = `
[request_definition]
r = subject, repository, permission, family, level

[policy_definition]
p = id, subject, repository, permission, level, eft

[policy_effect]
e = some(where (p.eft == allow)) && !some(where (p.eft == deny))

[matchers]
m = (p.subject == '*' || r.subject == p.subject) \\
 && (p.repository == '*' || r.repository == p.repository) \\
 && (p.permission == '*' || r.permission == p.permission || r.family == p.permission) \\
 && ((p.eft == 'allow' && r.level <= p.level) || (p.eft == 'deny' && r.level >= p.level))
`

/** What the rules say about one atom. */
type AtomResult = { readonly atom: Atom; readonly effect: 'allow' | 'deny' | 'none'; readonly rule: string | undefined }

/**
 * Approved when every atom of the grant is allowed by a rule and none is denied; otherwise Denied.
 * @throws AppError `invalid_configuration` for rules that share an id: an explanation must name one rule
 */
export function decideGrant(facts: GrantFacts, rules: readonly GrantRule[] = defaultGrantRules): GrantDecision {
  const atoms = atomsOf(facts)
  if (atoms.length === 0)
    return { decision: 'Denied', rule: 'nothing-asked', reason: 'The grant names no repository, no permission or no subject.' }
  const results = atoms.map(evaluator(rules))

  const denied = results.find(({ effect }) => effect === 'deny')
  if (denied?.rule !== undefined)
    return {
      decision: 'Denied',
      rule: denied.rule,
      reason: `${describe(denied.atom, facts)} is denied by the rule ${denied.rule}.`,
    }
  const open = results.find(({ effect }) => effect === 'none')
  if (open)
    return {
      decision: 'Denied',
      rule: 'no-rule-allows',
      reason: `No rule allows ${describe(open.atom, facts)}: request less, or an admin of the tenant and a platform admin write policies that allow it.`,
    }
  const used = [...new Set(results.map(({ rule }) => rule ?? ''))]
  return { decision: 'Approved', rule: used.join(',').slice(0, 253), reason: `Allowed by ${used.join(', ')}.`.slice(0, 1000) }
}

/** Decisions are about ids; people know repositories by their names. */
function describe({ permission, level, repositoryId, subject }: Atom, { repositoryNames }: GrantFacts): string {
  const name = repositoryNames?.get(repositoryId)
  const repository = name === undefined ? `repository ${repositoryId}` : `${name} (id ${repositoryId})`
  return `${permission}: ${level} on ${repository} for a ${subject}`
}

function evaluator(rules: readonly GrantRule[]): (atom: Atom) => AtomResult {
  if (new Set(rules.map(rule => rule.id)).size !== rules.length)
    throw new AppError('invalid_configuration', 'two policy rules share an id')
  if (rules.length === 0) return atom => ({ atom, effect: 'none', rule: undefined })
  const enforcer = enforcerOf(rules)
  const named = new Set(rules.map(({ repositoryId }) => String(repositoryId)))
  // Repositories that no rule names are the same to all rules: a grant of 50 is asked about as one of a single repository.
  const known = new Map<string, Omit<AtomResult, 'atom'>>()
  return atom => {
    const { subject, permission, level } = atom
    const id = String(atom.repositoryId)
    const repository = named.has(id) ? id : unnamed
    const key = JSON.stringify([subject, repository, permission, level])
    const result = known.get(key) ?? resultOf(enforcer, { ...atom, repository })
    known.set(key, result)
    return { atom, ...result }
  }
}

/** No id of a repository, and not the `*` of the rules. */
const unnamed = 'unnamed'

function resultOf(
  enforcer: Enforcer,
  { subject, repository, permission, level }: Atom & { readonly repository: string },
): Omit<AtomResult, 'atom'> {
  const rank = permissionRank(level)
  const [allowed, row] = enforcer.enforceExSync(subject, repository, permission, familyOf(permission), rank)
  const effect = row.at(-1) === 'deny' ? 'deny' : allowed ? 'allow' : 'none'
  return { effect, rule: effect === 'none' ? undefined : row[0] }
}

function enforcerOf(rules: readonly GrantRule[]): Enforcer {
  const definition = newModelFromString(model)
  for (const rule of rules)
    definition.addPolicy('p', 'p', [
      rule.id,
      rule.subject,
      String(rule.repositoryId),
      rule.permission,
      String(permissionRank(rule.level)),
      rule.effect,
    ])
  const enforcer = new Enforcer()
  enforcer.setModel(definition)
  return enforcer
}
