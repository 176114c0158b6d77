import { describe, expect, test } from 'vitest'
import { admit, checks } from './checks.ts'
import type { DeskFacts } from './facts.ts'
import { grantObject, host, installationObject, ready, runner } from './testing/desk-objects.ts'

const facts: DeskFacts = {
  grant: grantObject(),
  grantUid: 'read-shop-uid',
  installation: installationObject,
  app: { host, appId: 5001 },
  subject: runner,
  now: new Date('2026-06-01T00:00:00Z'),
}

const { spec } = installationObject

/** What is changed, and the check that must refuse it. */
const refusals: readonly (readonly [string, string, Partial<DeskFacts>])[] = [
  ['the grant is gone', 'GrantNotFound', { grant: undefined }],
  ['another grant has the name by now', 'GrantNotFound', { grantUid: 'an-older-uid' }],
  ['the caller knows no uid', 'GrantNotFound', { grantUid: undefined }],
  [
    'the grant is being deleted',
    'GrantEnding',
    { grant: grantObject({ metadata: { deletionTimestamp: '2026-06-01T00:00:00Z' } }) },
  ],
  ['it was never decided', 'GrantNotApproved', { grant: grantObject({ status: { decision: undefined as never } }) }],
  ['it was denied', 'GrantNotApproved', { grant: grantObject({ status: { decision: 'Denied' } }) }],
  ['it waits for approval', 'GrantNotApproved', { grant: grantObject({ status: { decision: 'WaitingForApproval' } }) }],
  [
    'the decision speaks of another generation',
    'GrantNotApproved',
    { grant: grantObject({ status: { observedGeneration: 2 } }) },
  ],
  ['approved once, not ready now', 'GrantNotApproved', { grant: grantObject({ status: { conditions: [ready('False')] } }) }],
  ['it has expired', 'GrantExpired', { grant: grantObject({ status: { expiresAt: '2026-06-01T00:00:00.000Z' } }) }],
  ['it has no end', 'GrantExpired', { grant: grantObject({ status: { expiresAt: undefined as never } }) }],
  ['another ServiceAccount', 'NotASubject', { subject: { ...runner, name: 'other' } }],
  ['the same name as another kind', 'NotASubject', { subject: { ...runner, kind: 'AppPipeline' } }],
  ['the same name in another namespace', 'NotASubject', { subject: { ...runner, namespace: 'globex' } }],
  ['a subject without uid', 'NotASubject', { subject: { ...runner, uid: '' } }],
  ['a grant that delivers otherwise', 'OtherDelivery', { grant: grantObject({ spec: { delivery: 'GitProxy' } }) }],
  ['the Installation is gone', 'InstallationNotReady', { installation: undefined }],
  [
    'the Installation is not ready',
    'InstallationNotReady',
    { installation: { ...installationObject, status: { conditions: [ready('False')] } } },
  ],
  [
    'the Installation is another one',
    'InstallationNotReady',
    { installation: { ...installationObject, metadata: { ...installationObject.metadata, namespace: 'globex' } } },
  ],
  [
    'the Installation is being deleted',
    'InstallationNotReady',
    {
      installation: {
        ...installationObject,
        metadata: { ...installationObject.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
      },
    },
  ],
  ['the App is gone', 'AppNotUsable', { app: undefined }],
  ['the App is of another host', 'AppNotUsable', { app: { host: 'github.com', appId: 5001 } }],
  ['no repository was resolved', 'NoRepositories', { grant: grantObject({ status: { repositories: [] } }) }],
  ['no permission', 'NoPermissions', { grant: grantObject({ spec: { permissions: {} } }) }],
  [
    'a repository above the ceiling',
    'AboveCeiling',
    { grant: grantObject({ status: { repositories: [{ id: 9, name: 'acme/x' }] } }) },
  ],
  ['a level above the ceiling', 'AboveCeiling', { grant: grantObject({ spec: { permissions: { contents: 'admin' } } }) }],
  ['a permission outside of the ceiling', 'AboveCeiling', { grant: grantObject({ spec: { permissions: { secrets: 'read' } } }) }],
  [
    'an inherited name that is no permission',
    'AboveCeiling',
    { grant: grantObject({ spec: { permissions: { constructor: 'read' } as never } }) },
  ],
  [
    'a Selected ceiling without a list',
    'AboveCeiling',
    {
      installation: {
        ...installationObject,
        spec: { ...spec, ceiling: { repositories: 'Selected', permissions: { contents: 'read' } } },
      },
    },
  ],
]

describe('the checks of the token desk', () => {
  test('admit a subject of an approved grant under a ready installation', () => {
    expect(admit(facts)).toMatchObject({ admitted: { repositories: [{ id: 4001 }], app: { appId: 5001 } } })
  })

  test.each(refusals)('refuse when %s (%s)', (_case, reason, change) => {
    expect(admit({ ...facts, ...change })).toMatchObject({ refusal: { reason } })
  })

  test('each have a case here', () => {
    const covered = new Set(refusals.map(([, reason]) => reason))
    expect(checks.map(({ reason }) => reason).filter(reason => !covered.has(reason))).toEqual([])
  })

  test('let metadata: read pass every ceiling, and all repositories when the ceiling says so', () => {
    const grant = grantObject({
      spec: { permissions: { metadata: 'read' } },
      status: { repositories: [{ id: 9, name: 'acme/x' }] },
    })
    const installation = { ...installationObject, spec: { ...spec, ceiling: { repositories: 'All' as const, permissions: {} } } }
    expect(admit({ ...facts, grant, installation })).toHaveProperty('admitted')
  })
})
