// Decides a RepositoryGrant by rules: pure, explainable, deny wins, and nothing asked is nothing granted. The rules are those of one
// tenant; each decision has its own casbin enforcer, so that one tenant's rules can neither slow nor change another's decisions.
import { Enforcer, newModelFromString } from 'casbin'
import { AppError } from '../lib/errors.ts'
import { type AccessLevel, type Atom, accessLevels, atomsOf, type GrantDecision, type GrantFacts } from './grant-facts.ts'
import { defaultGrantRules, familyOf, type GrantRule } from './grant-rule.ts'

/**
 * No regular expressions and no g(): plain comparisons only (casbin's g() is always true in synchronous use, node-casbin#292).
 * Levels are numbers, so that `admin` is above `write` is above `read`.
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

type Verdict = { readonly atom: Atom; readonly effect: 'allow' | 'deny' | 'none'; readonly rule: string | undefined }

/** Throws `invalid_configuration` for rules that share an id: an explanation must name one rule. */
export function decideGrant(facts: GrantFacts, rules: readonly GrantRule[] = defaultGrantRules): GrantDecision {
  const atoms = atomsOf(facts)
  if (atoms.length === 0)
    return { decision: 'Denied', rule: 'nothing-asked', reason: 'The grant names no repository, no permission or no subject.' }
  const judge = judgeBy(rules)
  const verdicts = atoms.map(judge)

  const denied = verdicts.find(verdict => verdict.effect === 'deny')
  if (denied?.rule !== undefined)
    return { decision: 'Denied', rule: denied.rule, reason: `${wish(denied.atom)} is denied by the rule ${denied.rule}.` }
  const open = verdicts.find(verdict => verdict.effect === 'none')
  if (open)
    return {
      decision: 'WaitingForApproval',
      rule: 'ask-a-person',
      reason: `No rule allows ${wish(open.atom)}: a tenant admin has to approve.`,
    }
  const used = [...new Set(verdicts.map(verdict => verdict.rule ?? ''))]
  return { decision: 'Approved', rule: used.join(',').slice(0, 253), reason: `Allowed by ${used.join(', ')}.`.slice(0, 1000) }
}

function wish(atom: Atom): string {
  return `${atom.permission}: ${atom.level} on repository ${atom.repositoryId} for a ${atom.subject}`
}

function judgeBy(rules: readonly GrantRule[]): (atom: Atom) => Verdict {
  if (new Set(rules.map(rule => rule.id)).size !== rules.length)
    throw new AppError('invalid_configuration', 'two policy rules share an id')
  if (rules.length === 0) return atom => ({ atom, effect: 'none', rule: undefined })
  const enforcer = enforcerOf(rules)
  return atom => {
    const [allowed, row] = enforcer.enforceExSync(
      atom.subject,
      String(atom.repositoryId),
      atom.permission,
      familyOf(atom.permission),
      rank(atom.level),
    )
    const decisive = row.at(-1) === 'deny' ? 'deny' : allowed ? 'allow' : 'none'
    return { atom, effect: decisive, rule: decisive === 'none' ? undefined : row[0] }
  }
}

function enforcerOf(rules: readonly GrantRule[]): Enforcer {
  const definition = newModelFromString(model)
  for (const rule of rules)
    definition.addPolicy('p', 'p', [
      rule.id,
      rule.subject,
      String(rule.repositoryId),
      rule.permission,
      String(rank(rule.level)),
      rule.effect,
    ])
  const enforcer = new Enforcer()
  enforcer.setModel(definition)
  return enforcer
}

function rank(level: AccessLevel): number {
  return accessLevels.indexOf(level)
}
