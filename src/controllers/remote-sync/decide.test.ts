import { describe, expect, test } from 'vitest'
import { decide } from './decide.ts'
import type { Facts } from './gather.ts'
import { condition, facts, installation, named, sync } from './testing/remote-sync.ts'

describe('checks of a RemoteSync', () => {
  test('pass when everything is in order', () => {
    expect(decide(facts())).toBeUndefined()
  })

  test.each<[string, Partial<Facts>, string, RegExp]>([
    ['no tenant', { tenant: undefined }, 'NotATenantNamespace', /namespace acme does not belong to a Tenant/],
    [
      'an older RemoteSync with the same Application',
      { rivals: [named('older', 'uid-0')] },
      'ApplicationTaken',
      /RemoteSync older already keeps/,
    ],
    [
      'a younger RemoteSync that has deployed to the Application',
      { rivals: [{ ...named('younger', 'uid-2'), status: { image: 'i' } }] },
      'ApplicationTaken',
      /delete one of the two/,
    ],
    ['no installation', { installation: undefined }, 'InstallationNotReady', /there is no Installation github in this namespace/],
    [
      'an installation that is not verified',
      { installation: { ...installation, status: {} } },
      'InstallationNotReady',
      /it has not been verified yet/,
    ],
    [
      'a suspended installation',
      {
        installation: { ...installation, status: { conditions: [condition('Ready', 'False', 'Suspended', 'suspended by ada')] } },
      },
      'InstallationNotReady',
      /Installation github is not ready: suspended by ada/,
    ],
  ])('%s halts it', (_what, changes, reason, message) => {
    expect(decide(facts(changes))).toMatchObject({ stage: 'Resolved', reason, message: expect.stringMatching(message) })
  })

  test.each<[string, Facts['rivals']]>([
    ['a younger RemoteSync', [named('younger', 'uid-2')]],
    [
      'an older RemoteSync that is being deleted',
      [sync({}, { metadata: { ...named('older', 'uid-0').metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } })],
    ],
  ])('%s does not', (_what, rivals) => {
    expect(decide(facts({ rivals }))).toBeUndefined()
  })
})
