// Decides a grant by the policies of its namespace and of the cluster: what both allow is allowed, and what one denies is
// denied. Pure. The controller and `sekisho policy test` ask this one function.
import { type RequesterRole, requesterRoles } from '../../api/github/grant-policy.ts'
import type { Needs, PolicyAtom, PolicyFacts, PolicyVerdict, RuleOrigin } from './policy-facts.ts'
import { type Found, findRules, type Open, type PolicyLayer, policyLayer } from './policy-layer.ts'

/** What decides in one namespace. */
export type PolicySet = { readonly cluster: PolicyLayer; readonly namespace: PolicyLayer }

const maxMessage = 900

/** Whether there is a policy; without any, the rules of the platform decide alone. */
export function hasPolicies({ cluster, namespace }: PolicySet): boolean {
  return cluster.digest !== undefined || namespace.digest !== undefined
}

/** Equal as long as the policies say the same; undefined without any. */
export function policiesDigest(set: PolicySet): string | undefined {
  return hasPolicies(set) ? `${set.cluster.digest ?? 'none'}-${set.namespace.digest ?? 'none'}`.slice(0, 64) : undefined
}

/** No policies of the cluster and none of the namespace. */
export const noPolicies: PolicySet = { cluster: policyLayer('ClusterGrantPolicy', []), namespace: policyLayer('GrantPolicy', []) }

/**
 * `Deny` as soon as it is certain, whatever else is not known; `Allow` when every combination is allowed, whatever is not known;
 * otherwise `Unknown`, with what it depends on.
 */
export function decidePolicies(set: PolicySet, facts: PolicyFacts): PolicyVerdict {
  const open: Open = { keys: new Set(), repositories: false }
  const rules = new Set<string>()
  let isUnknown = false
  let unallowed: Unallowed | undefined
  for (const atom of atomsOf(facts)) {
    const one = decideAtom(set, facts, atom)
    if (one.effect === 'Deny') return deniedBy(one.row, atom)
    if (one.effect === 'NotAllowed') unallowed ??= { atom, origin: one.origin }
    if (one.effect === 'Allow') for (const rule of one.rules) rules.add(rule)
    if (one.effect === 'Unknown') {
      isUnknown = true
      addTo(open, one.open)
    }
  }
  if (unallowed) return notAllowed(unallowed)
  return isUnknown ? { effect: 'Unknown', needs: needsOf(open) } : { effect: 'Allow', rules: [...rules] }
}

function addTo(all: Open, { keys, repositories }: Open): void {
  for (const key of keys) all.keys.add(key)
  all.repositories = all.repositories || repositories
}

type AtomVerdict =
  | { readonly effect: 'Deny'; readonly row: { readonly id: string; readonly origin: RuleOrigin } }
  | { readonly effect: 'NotAllowed'; readonly origin: Unallowed['origin'] }
  | { readonly effect: 'Unknown'; readonly open: Open }
  | { readonly effect: 'Allow'; readonly rules: readonly string[] }

/** From what wins to what loses; a further effect of rules has its place before `Allow`. */
function decideAtom({ cluster, namespace }: PolicySet, facts: PolicyFacts, atom: PolicyAtom): AtomVerdict {
  const open: Open = { keys: new Set(), repositories: false }
  const ofCluster = findRules(cluster, facts, atom, open)
  const ofNamespace = findRules(namespace, facts, atom, open)
  const row = ofCluster.deny ?? ofNamespace.deny
  if (row) return { effect: 'Deny', row }
  if (allowsNothing(ofNamespace)) return { effect: 'NotAllowed', origin: 'GrantPolicy' }
  if (allowsNothing(ofCluster)) return { effect: 'NotAllowed', origin: 'ClusterGrantPolicy' }
  if (ofCluster.mayDeny || ofNamespace.mayDeny || !ofCluster.allow || !ofNamespace.allow) return { effect: 'Unknown', open }
  return { effect: 'Allow', rules: [ofNamespace.allow.id, ofCluster.allow.id] }
}

function allowsNothing({ allow, mayAllow }: Found): boolean {
  return allow === undefined && !mayAllow
}

/** Each combination of subjects, repositories and permissions. */
function* atomsOf({ subjects, repositories, permissions }: PolicyFacts): Generator<PolicyAtom> {
  for (const subject of subjects)
    for (const repository of repositories)
      for (const [permission, level] of Object.entries(permissions)) yield { subject, repository, permission, level }
}

function needsOf({ keys, repositories }: Open): Needs {
  const after = (prefix: string): readonly string[] =>
    [...keys].flatMap(key => (key.startsWith(prefix) ? [key.slice(prefix.length)] : []))
  const roles = after('role:').filter((role): role is RequesterRole => requesterRoles.some(known => known === role))
  return { teams: after('team:').map(Number), roles, repositories }
}

function describe({ subject, repository, permission, level }: PolicyAtom): string {
  const id = repository.id === undefined ? '' : ` (id ${repository.id})`
  return `${permission}: ${level} on ${repository.name}${id} for the ${subject.kind} ${subject.name}`
}

function deniedBy({ id, origin }: { readonly id: string; readonly origin: RuleOrigin }, atom: PolicyAtom): PolicyVerdict {
  const message = `${describe(atom)} is denied by the rule ${id}`.slice(0, maxMessage)
  return { effect: 'Deny', rule: id, origin, message }
}

/** Without a rule of either, what is missing is said of the first place that lacks it. */
type Unallowed = { readonly atom: PolicyAtom; readonly origin: 'GrantPolicy' | 'ClusterGrantPolicy' }

const unallowedTexts = {
  GrantPolicy: {
    rule: 'no-grant-policy-allows',
    text: 'no rule that applies in this namespace allows it to this requester: request less, or an admin of the tenant writes a GrantPolicy that does',
  },
  ClusterGrantPolicy: {
    rule: 'no-cluster-grant-policy-allows',
    text: 'the platform does not let a tenant allow it to this requester: request less, or a platform admin writes a ClusterGrantPolicy that does',
  },
}

function notAllowed({ atom, origin }: Unallowed): PolicyVerdict {
  const { rule, text } = unallowedTexts[origin]
  return { effect: 'Deny', rule, origin, message: `${describe(atom)}: ${text}`.slice(0, maxMessage) }
}
