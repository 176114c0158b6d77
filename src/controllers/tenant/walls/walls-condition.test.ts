// What a Tenant says about the walls around it: those of the cluster and its own, never those of others.
import { expect, test } from 'vitest'
import type { Tenant } from '../../../api/tenancy/tenant.ts'
import type { Finding } from '../../../services/wall-probe/finding.ts'
import { saysOtherwise, wallsCondition } from './walls-condition.ts'

const acme = { metadata: { name: 'acme' }, spec: { namespace: 'acme' }, status: { namespace: 'acme' } } as unknown as Tenant
const off = (wall: Finding['wall'], where?: string): Finding => ({
  wall,
  verdict: 'Off',
  text: 'it is open',
  ...(where === undefined ? {} : { where }),
})

test.each<readonly [string, readonly Finding[] | undefined, string, string, string]>([
  ['nothing was recorded', undefined, 'Unknown', 'WallsNotProbed', 'the platform has not looked at its walls yet'],
  ['all hold', [], 'True', 'WallsHold', 'all walls were found in place'],
  ['one of the cluster is off', [off('own-writes')], 'False', 'WallOff', 'own-writes: it is open'],
  ['one of its build namespace is off', [off('secrets', 'acme-build')], 'False', 'WallOff', 'secrets in acme-build: it is open'],
  ['one of another tenant is off', [off('secrets', 'globex')], 'True', 'WallsHold', 'all walls were found in place'],
  [
    'one is not known',
    [{ wall: 'secrets', verdict: 'Unknown', text: 'HTTP 503' }],
    'Unknown',
    'WallsNotProbed',
    'secrets (not known): HTTP 503',
  ],
  [
    'many are off',
    [off('secrets'), off('tenants'), off('own-writes'), off('pod-connections'), off('account-tokens')],
    'False',
    'WallOff',
    'secrets: it is open; tenants: it is open; own-writes: it is open; and 2 more',
  ],
])('%s', (_what, findings, ...said) => {
  const [status, reason, message] = said
  const record = findings === undefined ? undefined : { findings, more: 0 }
  expect(wallsCondition(acme, record)).toEqual({ type: 'WallsHold', status, reason, message })
})

test('a Tenant about which the record has no room, or at which nobody looked, is not said to be safe', () => {
  expect(wallsCondition(acme, { findings: [off('secrets', 'globex')], more: 1 })).toMatchObject({ status: 'Unknown' })
  const { status: _, ...unmade } = acme
  expect(wallsCondition(unmade, { findings: [], more: 0 })).toMatchObject({ status: 'Unknown', reason: 'WallsNotProbed' })
})

test('a change of the record concerns those who say something else: not the others, and everybody when it is gone', () => {
  const saying = (findings: readonly Finding[], namespace = 'acme'): Tenant => {
    const { type, ...rest } = wallsCondition(acme, { findings, more: 0 })
    const condition = { type, ...rest, observedGeneration: 1, lastTransitionTime: '2026-01-01T00:00:00Z' }
    return {
      metadata: { name: namespace },
      spec: { namespace },
      status: { namespace, conditions: [condition] },
    } as unknown as Tenant
  }
  const record = { findings: [off('secrets', 'globex')], more: 0 }
  expect(saysOtherwise(saying([]), record)).toBe(false)
  expect(saysOtherwise(saying([], 'globex'), record)).toBe(true)
  expect(saysOtherwise(saying([off('tenants')]), record)).toBe(true)
  expect(saysOtherwise(saying([]), undefined)).toBe(true)
  expect(saysOtherwise(acme, record)).toBe(true)
})
