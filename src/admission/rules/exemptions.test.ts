// A rule that lets an identity of Kubernetes or of an operator pass says so, and which rule judges the template by which a
// tenant leads that identity.
import { expect, test } from 'vitest'
import { type PlatformIdentities, platformIdentities } from '../identities.ts'
import type { AdmissionRequest } from '../review.ts'
import type { DeputyIdentities, PolicyRule, Rule } from '../rule.ts'
import { ownRules, policyRules, rules } from './index.ts'

const deputies: Readonly<Record<DeputyIdentities, true>> = {
  kubernetesPrefixes: true,
  reapers: true,
  endpointControllers: true,
  volumeBinders: true,
  certificateManagers: true,
}
const ours = ['brokers', 'controllers', 'dataServices', 'accounts']
const all: readonly (Rule | PolicyRule)[] = [...rules, ...policyRules, ...ownRules]

/** The identities that the rule looks at, in whichever of its forms. */
function lookedAt(rule: Rule | PolicyRule): readonly string[] {
  const seen = new Set<string>()
  const identities: PlatformIdentities = new Proxy(platformIdentities, {
    get(target, field) {
      if (field in deputies) seen.add(String(field))
      return Reflect.get(target, field)
    },
  })
  rule.policy?.(identities)
  if ('users' in rule) rule.users?.(identities)
  if ('webhookCondition' in rule) rule.webhookCondition?.(identities)
  if ('check' in rule) for (const request of requestsOf(rule)) rule.check(request, identities)
  return [...seen].sort()
}

/** An empty object of each kind, written by a stranger in each way. */
function requestsOf({ matches }: Rule): readonly AdmissionRequest[] {
  return matches.flatMap(({ group, resources, operations }) =>
    resources.flatMap(name => {
      const [resource = '', subResource] = name.split('/')
      const object = { metadata: { name: 'x' } }
      return operations.map(
        (operation): AdmissionRequest => ({
          uid: 'u',
          username: 'github|github.localhost|1',
          login: undefined,
          namespace: 'acme',
          group,
          resource,
          subResource,
          operation,
          object: operation === 'DELETE' ? undefined : object,
          oldObject: operation === 'CREATE' ? undefined : object,
        }),
      )
    }),
  )
}

test('every identity is of the platform, or one whose exemptions are declared', () => {
  const known = [...ours, ...Object.keys(deputies)]
  expect(Object.keys(platformIdentities).filter(field => !known.includes(field))).toEqual([])
})

test.each(all.map(rule => [rule.name, rule] as const))('%s declares whom it exempts', (_name, rule) => {
  expect(Object.keys(rule.exempts ?? {}).sort()).toEqual(lookedAt(rule))
})

test('the rules that judge a template exist', () => {
  const names = all.map(({ name }) => name)
  const judges = all.flatMap(({ exempts }) =>
    Object.values(exempts ?? {}).flatMap(({ follows }) => follows.flatMap(({ judgedBy = [] }) => judgedBy)),
  )
  expect(judges.length).toBeGreaterThan(5)
  expect(judges.filter(name => !names.includes(name))).toEqual([])
})
