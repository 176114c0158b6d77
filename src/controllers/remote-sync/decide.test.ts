import { describe, expect, test } from 'vitest'
import type { RemoteSync } from '../../api/apps/remote-sync.ts'
import { decide } from './decide.ts'
import type { Facts } from './gather.ts'
import { condition, facts, installation, named, sync } from './testing/remote-sync.ts'

function withBuild(build: Partial<RemoteSync['spec']['build']>): RemoteSync {
  return sync({ build: { ...sync().spec.build, ...build } })
}

describe('checks of a RemoteSync', () => {
  test('pass when everything is in order', () => {
    expect(decide(facts())).toBeUndefined()
    expect(
      decide(facts({ remoteSync: withBuild({ builder: 'paketo', resources: { cpu: '4', memory: '8Gi' } }) })),
    ).toBeUndefined()
  })

  test.each<[string, Partial<Facts>, string, RegExp]>([
    ['a suspended one', { remoteSync: sync({ suspend: true }) }, 'Suspended', /set it to false/],
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
    [
      'a builder that the platform does not have',
      { remoteSync: withBuild({ builder: 'heroku' }) },
      'BuildSettingRefused',
      /^spec\.build\.builder: there is no builder heroku: use one of paketo$/,
    ],
    [
      'a builder of the Tenant that the platform does not have',
      { builder: 'old' },
      'BuildSettingRefused',
      /^the Tenant's spec\.builder: there is no builder old/,
    ],
    [
      'more memory than there is',
      { remoteSync: withBuild({ resources: { cpu: '4000m', memory: '9000Mi' } }) },
      'BuildSettingRefused',
      /^spec\.build\.resources\.memory: 9000Mi is more than a build gets on this platform: at most 8Gi$/,
    ],
    [
      'a secret that does not exist',
      { missingSecrets: ['npm'] },
      'BuildSecretNotFound',
      /^spec\.build\.secrets: there is no AppSecret npm in this namespace/,
    ],
  ])('%s halts it', (_what, changes, reason, message) => {
    expect(decide(facts(changes))).toMatchObject({ stage: 'Resolved', reason, message: expect.stringMatching(message) })
  })

  describe('two that name the same of several Applications', () => {
    const both = sync({ otherApplications: ['worker'] })
    const ofWorker = (changes: Partial<RemoteSync> = {}, uid = 'uid-2') => {
      const other = named('other', uid)
      return { ...other, spec: { ...other.spec, application: 'worker' }, ...changes }
    }

    test('the older one goes on, and the other says which name it is', () => {
      expect(decide(facts({ remoteSync: both, rivals: [ofWorker()] }))).toBeUndefined()
      const message =
        'RemoteSync other already keeps Application worker: remove it from spec.otherApplications, or delete one of the two'
      expect(decide(facts({ remoteSync: both, rivals: [ofWorker({}, 'uid-0')] }))).toMatchObject({
        reason: 'ApplicationTaken',
        message,
      })
    })

    test('the one that has deployed to it goes on, also when the other has deployed elsewhere', () => {
      const before = { ...both, status: { image: 'i' } }
      expect(decide(facts({ remoteSync: before, rivals: [ofWorker({ status: { image: 'j' } })] }))?.reason).toBe(
        'ApplicationTaken',
      )
      const holder = { ...both, status: { image: 'i', applications: ['shop', 'worker'] } }
      expect(decide(facts({ remoteSync: holder, rivals: [ofWorker({}, 'uid-0')] }))).toBeUndefined()
      expect(decide(facts({ remoteSync: ofWorker({}, 'uid-0'), rivals: [holder] }))?.reason).toBe('ApplicationTaken')
    })
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
