// When the webhook may be down: wherever a policy says the same, and nowhere else.
import { expect, test } from 'vitest'
import { registrations, validatingWebhooks } from './registrations.ts'
import { ruleSets } from './rule-sets.ts'
import { rules } from './rules/index.ts'

type Entry = { readonly name: string; readonly failurePolicy: string; readonly matchConditions?: readonly unknown[] }

const service = { kind: 'service' } as const

function policiesOf(webhooks: readonly object[]): Readonly<Record<string, string>> {
  const entries = webhooks as readonly Entry[]
  return Object.fromEntries(entries.map(({ name, failurePolicy }) => [name.split('.')[0], failurePolicy]))
}

test('no write that a policy judges depends on the webhook', () => {
  expect(rules.filter(rule => rule.policy === undefined)).toEqual([])
  expect(new Set(Object.values(policiesOf(validatingWebhooks(service))))).toEqual(new Set(['Ignore']))
})

test('of a set in which only the webhook judges one rule, that rule alone is required', () => {
  const [first] = ruleSets
  if (first === undefined) return expect.fail('there are no sets')
  const [one, ...others] = first.rules
  if (one === undefined) return expect.fail('there are no rules')
  const { policy: _, ...webhookOnly } = one
  const set = { ...first, rules: [webhookOnly, ...others] }
  expect(policiesOf(validatingWebhooks(service, [set]))).toMatchObject({
    [first.name]: 'Ignore',
    [`${first.name}-required`]: 'Fail',
  })
})

test('a write that names its requester is not sent to be filled in', () => {
  const [, mutating] = registrations(service)
  const [entry] = (mutating?.['webhooks'] ?? []) as readonly Entry[]
  expect(entry).toMatchObject({ failurePolicy: 'Fail', matchConditions: [{ name: 'name-must-be-filled-in' }] })
})

test('of what the webhook writes, only the record of who changed an Application may be missing', () => {
  const [, mutating] = registrations(service)
  const webhooks = (mutating?.['webhooks'] ?? []) as readonly object[]
  expect(policiesOf(webhooks)).toEqual({ 'requested-by': 'Fail', 'changed-by': 'Ignore', 'app-secrets': 'Fail' })
})

test('only dry runs of policies are sent to be warned of, and none waits for the webhook when it is down', () => {
  const [validating] = registrations(service)
  const webhooks = (validating?.['webhooks'] ?? []) as readonly Entry[]
  expect(webhooks.find(({ name }) => name.startsWith('policy-warnings.'))).toMatchObject({
    failurePolicy: 'Ignore',
    sideEffects: 'None',
    matchConditions: [{ expression: 'request.dryRun == true' }],
    rules: [{ resources: ['grantpolicies', 'clustergrantpolicies'] }],
  })
})
