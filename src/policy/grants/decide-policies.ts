// Decides a grant by the policies of its namespace and of the cluster: what both allow is allowed, and what one denies is
// denied. Pure. The controller and `sekisho policy test` ask this one function.

import { type RequesterRole, requesterRoles } from '../../api/github/grant-policy.ts'
import { optInDelivery } from '../../api/github/repository-grant/delivery.ts'
import { isPush } from './asked-refs.ts'
import type { Needs, PolicyAtom, PolicyFacts, PolicyVerdict, RuleOrigin } from './policy-facts.ts'
import { type Found, findRules, type Open, type PolicyLayer, policyLayer } from './policy-layer.ts'
import { addLifetime, type LifetimesSoFar, lifetimesOf, shorter } from './token-lifetime.ts'

/** What decides in one namespace. */
export type PolicySet = { readonly cluster: PolicyLayer; readonly namespace: PolicyLayer }

const maxMessage = 900

/** The rule that is named where no policy of the cluster allows something. */
export const noClusterPolicyAllows = 'no-cluster-grant-policy-allows'

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
 * `Deny` as soon as it is certain, whatever else is not known; `Allow` when every combination is allowed, whatever is not known,
 * and `RequireApproval` when one of them is with approval only; otherwise `Unknown`, with what it depends on.
 */
export function decidePolicies(set: PolicySet, facts: PolicyFacts): PolicyVerdict {
  const so: SoFar = { open: { keys: new Set(), repositories: false }, rules: new Set(), isUnknown: false, lifetimes: new Map() }
  for (const atom of atomsOf(facts, set.cluster.namesRefs || set.namespace.namesRefs)) {
    const one = decideAtom(set, facts, atom)
    if (one.effect === 'Deny') return deniedBy(one.row, atom)
    addTo(so, one, atom)
  }
  if (so.unallowed) return notAllowed(so.unallowed, facts)
  if (so.isUnknown) return { effect: 'Unknown', needs: needsOf(so.open) }
  const allowed = { rules: [...so.rules], lifetimes: lifetimesOf(so.lifetimes) }
  return so.required ? requiresApproval(so.required, allowed) : { effect: 'Allow', ...allowed }
}

/** What is known of the combinations so far. */
type SoFar = {
  readonly open: Open
  readonly rules: Set<string>
  isUnknown: boolean
  readonly lifetimes: LifetimesSoFar
  unallowed?: Unallowed
  required?: Required
}

function addTo(so: SoFar, one: Exclude<AtomVerdict, { effect: 'Deny' }>, atom: PolicyAtom): void {
  switch (one.effect) {
    case 'NotAllowed':
      so.unallowed ??= { atom, origin: one.origin }
      return
    case 'Unknown':
      so.isUnknown = true
      for (const key of one.open.keys) so.open.keys.add(key)
      so.open.repositories ||= one.open.repositories
      return
    case 'Allow':
      for (const rule of one.rules) so.rules.add(rule)
      addLifetime(so.lifetimes, atom.subject, one.lifetime)
      if (one.approve && one.approve.approvals > (so.required?.row.approvals ?? 0)) so.required = { atom, row: one.approve }
  }
}

type AtomVerdict =
  | { readonly effect: 'Deny'; readonly row: { readonly id: string; readonly origin: RuleOrigin } }
  | { readonly effect: 'NotAllowed'; readonly origin: Unallowed['origin'] }
  | { readonly effect: 'Unknown'; readonly open: Open }
  | {
      readonly effect: 'Allow'
      readonly rules: readonly string[]
      readonly approve: Required['row'] | undefined
      readonly lifetime: number | undefined
    }

/** From what wins to what loses. */
function decideAtom({ cluster, namespace }: PolicySet, facts: PolicyFacts, atom: PolicyAtom): AtomVerdict {
  const open: Open = { keys: new Set(), repositories: false }
  const ofCluster = findRules(cluster, facts, atom, open)
  const ofNamespace = findRules(namespace, facts, atom, open)
  const row = ofCluster.deny ?? ofNamespace.deny
  if (row) return { effect: 'Deny', row }
  if (allowsNothing(ofNamespace)) return { effect: 'NotAllowed', origin: 'GrantPolicy' }
  if (allowsNothing(ofCluster)) return { effect: 'NotAllowed', origin: 'ClusterGrantPolicy' }
  const isOpen = ({ mayDeny, mayRequire, allow }: Found): boolean => mayDeny || mayRequire || allow === undefined
  const lifetime = shorter(ofCluster.lifetime, ofNamespace.lifetime)
  const maybe = shorter(ofCluster.maybeLifetime, ofNamespace.maybeLifetime)
  const isLifetimeOpen = shorter(lifetime, maybe) !== lifetime
  const [allow, cap] = [ofNamespace.allow, ofCluster.allow]
  if (isLifetimeOpen || isOpen(ofCluster) || isOpen(ofNamespace) || !allow || !cap) return { effect: 'Unknown', open }
  const requiring = [ofNamespace.approve, ofCluster.approve].filter(row => row !== undefined)
  const [approve] = requiring.toSorted((a, b) => b.approvals - a.approvals)
  return { effect: 'Allow', rules: [...new Set([...requiring, allow, cap].map(({ id }) => id))], approve, lifetime }
}

function allowsNothing({ allow, mayAllow }: Found): boolean {
  return allow === undefined && !mayAllow
}

/** Each combination of subjects, repositories and permissions, and of refs where rules name some. */
function* atomsOf({ subjects, repositories, permissions, refs }: PolicyFacts, namesRefs: boolean): Generator<PolicyAtom> {
  for (const subject of subjects)
    for (const repository of repositories)
      for (const [permission, level] of Object.entries(permissions)) {
        const atom = { subject, repository, permission, level }
        yield* namesRefs && isPush(permission, level) ? refs.map(ref => ({ ...atom, ref })) : [atom]
      }
}

function needsOf({ keys, repositories }: Open): Needs {
  const after = (prefix: string): readonly string[] =>
    [...keys].flatMap(key => (key.startsWith(prefix) ? [key.slice(prefix.length)] : []))
  const roles = after('role:').filter((role): role is RequesterRole => requesterRoles.some(known => known === role))
  return { teams: after('team:').map(Number), roles, repositories }
}

function describe({ subject, repository, permission, level, ref }: PolicyAtom): string {
  const id = repository.id === undefined ? '' : ` (id ${repository.id})`
  const to = ref === undefined ? '' : `, to push to ${ref}`
  return `${permission}: ${level} on ${repository.name}${id} for the ${subject.kind} ${subject.name}${to}`
}

function deniedBy({ id, origin }: { readonly id: string; readonly origin: RuleOrigin }, atom: PolicyAtom): PolicyVerdict {
  const message = `${describe(atom)} is denied by the rule ${id}`.slice(0, maxMessage)
  return { effect: 'Deny', rule: id, origin, message }
}

/** The rule that requires most approvals, and for what. */
type Required = { readonly atom: PolicyAtom; readonly row: { readonly id: string; readonly approvals: number } }

type Allowed = Pick<Extract<PolicyVerdict, { effect: 'Allow' }>, 'rules' | 'lifetimes'>

function requiresApproval({ atom, row: { id, approvals } }: Required, allowed: Allowed): PolicyVerdict {
  const people =
    approvals === 1 ? 'an admin of the tenant who did not request it' : `${approvals} admins of the tenant who did not request it`
  const message = `${describe(atom)} needs the approval of ${people}, by the rule ${id}`.slice(0, maxMessage)
  return { effect: 'RequireApproval', ...allowed, approvals, message }
}

/** Without a rule of either, what is missing is said of the first place that lacks it. */
type Unallowed = { readonly atom: PolicyAtom; readonly origin: 'GrantPolicy' | 'ClusterGrantPolicy' }

const unallowedTexts = {
  GrantPolicy: {
    rule: 'no-grant-policy-allows',
    text: 'no rule that applies in this namespace allows it to this requester: request less, or an admin of the tenant writes a GrantPolicy that does',
  },
  ClusterGrantPolicy: {
    rule: noClusterPolicyAllows,
    text: 'the platform does not let a tenant allow it to this requester: request less, or a platform admin writes a ClusterGrantPolicy that does',
  },
}

const optInText = `no rule of a ClusterGrantPolicy allows the delivery ${optInDelivery}, which it has to name in deliveries: ask a platform admin, or use another delivery`

function notAllowed({ atom, origin }: Unallowed, { delivery }: PolicyFacts): PolicyVerdict {
  const { rule, text: usual } = unallowedTexts[origin]
  const text = origin === 'ClusterGrantPolicy' && delivery === optInDelivery ? optInText : usual
  return { effect: 'Deny', rule, origin, message: `${describe(atom)}: ${text}`.slice(0, maxMessage) }
}
