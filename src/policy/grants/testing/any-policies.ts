// Random policies and facts for tests and the bench: names, ids and levels from small sets, so that rules meet.
import fc from 'fast-check'
import { requesterRoles, visibilities } from '../../../api/github/grant-policy.ts'
import { grantDeliveries } from '../../../api/github/repository-grant/delivery.ts'
import { grantSubjectKinds } from '../../../api/github/repository-grant.ts'
import { permissionLevels } from '../../permission-level.ts'
import { type PolicyAtom, type PolicyFacts, roleKey, teamKey } from '../policy-facts.ts'
import type { Policy } from '../policy-row.ts'

const hosts = ['github.com', 'github.example.com']
const patterns = ['acme/*', 'acme/shop', 'ACME/Shop', '*/shop', 'acme/s*p', 'acme/*o*', 'a*e/*-x', '*/*', 'other/*']
const names = ['acme/shop', 'Acme/Shop', 'acme/shoop', 'acme/web-x', 'other/shop', 'acme/s']
const permissions = ['contents', 'statuses', 'checks', 'administration', 'organization_hooks', 'secrets']
const subjects = ['runner', 'builder']
/** Of rules and of grants: one in the other, apart, with an end in common. */
const refs = [
  'refs/heads/main',
  'refs/heads/*',
  'refs/heads/release/*',
  'refs/heads/*/x',
  'refs/tags/v*',
  'refs/tags/v1',
  'refs/*',
]
const [ids, teams, people] = [
  [1, 2, 3],
  [7, 8],
  [42, 43],
]
const some = <T>(items: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...items)
const maybe = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<readonly T[] | undefined> =>
  fc.option(fc.uniqueArray(one, { minLength: 1, maxLength: 2 }), { nil: undefined })

const requester = fc.oneof(
  fc.record({ type: fc.constant('Person' as const), id: some(people) }),
  fc.record({ type: fc.constant('Team' as const), id: some(teams) }),
  fc.record({ type: fc.constant('Role' as const), role: some(requesterRoles) }),
)
const levels = fc.dictionary(some([...permissions, '*']), some(permissionLevels), { minKeys: 1, maxKeys: 3 })
const rule = fc.record({
  effect: some(['Allow', 'Allow', 'Deny', 'RequireApproval'] as const),
  approvals: fc.integer({ min: 1, max: 3 }),
  tokenLifetimeSeconds: fc.option(some([60, 300, 900, 3600]), { nil: undefined }),
  host: fc.option(some(hosts), { nil: undefined }),
  requesters: maybe(requester),
  repositories: maybe(some(patterns)),
  repositoryIds: maybe(some(ids)),
  visibility: maybe(some(visibilities)),
  permissions: levels,
  subjects: maybe(fc.record({ kind: some(grantSubjectKinds), name: fc.option(some(subjects), { nil: undefined }) })),
  refs: maybe(some(refs)),
  deliveries: fc.option(fc.uniqueArray(some(grantDeliveries), { minLength: 1, maxLength: 2 }), { nil: undefined }),
})

/** Policies of one place, as the API server stores them. */
export const anyPolicies: fc.Arbitrary<readonly Policy[]> = fc
  .array(
    fc.record({
      builtInRules: some(['Keep', 'Keep', 'Replace'] as const),
      rules: fc.array(rule, { minLength: 1, maxLength: 6 }),
    }),
    { maxLength: 3 },
  )
  .map(specs =>
    specs.map(({ builtInRules, rules }, at) => {
      const named = rules.map(({ approvals, tokenLifetimeSeconds, ...one }, index) => {
        const required = one.effect === 'RequireApproval' ? { approvals } : {}
        const life = one.effect === 'Deny' ? {} : { tokenLifetimeSeconds }
        return { ...one, ...required, ...life, name: `rule-${index}` }
      })
      const spec = { mode: 'Enforce', builtInRules, rules: named }
      // Without what is undefined, as JSON is.
      return JSON.parse(
        JSON.stringify({
          apiVersion: 'github.sekisho.dev/v1alpha1',
          kind: 'GrantPolicy',
          metadata: { name: `policy-${at}` },
          spec,
        }),
      ) as Policy
    }),
  )

const membership = fc.dictionary(some([...teams.map(teamKey), ...requesterRoles.map(roleKey)]), fc.boolean())

/** Facts in which things may be unknown. */
export const anyFacts: fc.Arbitrary<PolicyFacts> = fc.record({
  host: some(hosts),
  requester: fc.record({
    personId: fc.option(some(people), { nil: undefined }),
    memberships: membership.map(found => new Map(Object.entries(found))),
    isNobody: some([false, false, true]),
  }),
  repositories: fc.array(
    fc.record({
      id: fc.option(some(ids), { nil: undefined }),
      name: some(names),
      visibility: fc.option(some(visibilities), { nil: undefined }),
    }),
    { minLength: 1, maxLength: 2 },
  ),
  permissions: fc.dictionary(some(permissions), some(permissionLevels), { minKeys: 1, maxKeys: 2 }),
  subjects: fc.array(fc.record({ kind: some(grantSubjectKinds), name: some(subjects) }), { minLength: 1, maxLength: 2 }),
  delivery: some(grantDeliveries),
  refs: fc.uniqueArray(some(refs), { minLength: 1, maxLength: 2 }),
})

/** The same facts with everything that is unknown made up. */
export function completed(facts: PolicyFacts, choices: readonly number[]): PolicyFacts {
  let at = 0
  const pick = <T>(items: readonly T[]): T => items[(choices[at++ % Math.max(1, choices.length)] ?? 0) % items.length] as T
  const keys = [...teams.map(teamKey), ...requesterRoles.map(roleKey)]
  const { memberships } = facts.requester
  return {
    ...facts,
    requester: { ...facts.requester, memberships: new Map(keys.map(key => [key, memberships.get(key) ?? pick([true, false])])) },
    repositories: facts.repositories.map(({ id, name, visibility }) => ({
      id: id ?? pick(ids),
      name,
      visibility: visibility ?? pick(visibilities),
    })),
  }
}

/** Each combination that the facts are about; of what writes contents, one for each ref. */
export function atomsOfFacts({ subjects, repositories, permissions: asked, refs: pushed }: PolicyFacts): readonly PolicyAtom[] {
  return subjects.flatMap(subject =>
    repositories.flatMap(repository =>
      Object.entries(asked).flatMap(([permission, level]): readonly PolicyAtom[] => {
        const atom = { subject, repository, permission, level }
        return permission === 'contents' && level !== 'read' ? pushed.map(ref => ({ ...atom, ref })) : [atom]
      }),
    ),
  )
}
