// The checks of the token desk: what each refuses, and what all admit.
import { describe, expect, test } from 'vitest'
import { haltObject } from '../../policy/testing/halt-object.ts'
import { admit, checks } from './checks.ts'
import type { DeskFacts } from './gather.ts'
import { grantObject, host, installationObject, ready, runner } from './testing/desk-objects.ts'

const facts: DeskFacts = {
  grant: grantObject(),
  grantUid: 'read-shop-uid',
  installation: installationObject,
  app: { host, appId: 5001, api: 'http://x', web: 'http://x' },
  subject: runner,
  delivery: 'TokenEndpoint',
  halts: [],
  tenant: 'acme',
  now: new Date('2026-06-01T00:00:00Z'),
}

const { spec } = installationObject
const shop = { kind: 'Application', namespace: 'acme', name: 'shop', uid: 'u1' }

/** A grant for the Application `shop`, bound to that UID. */
function ofApplication(uid?: string) {
  const subjects = [{ kind: 'Application' as const, name: 'shop' }]
  return grantObject({ spec: { subjects }, ...(uid === undefined ? {} : { status: { applications: [{ name: 'shop', uid }] } }) })
}

test('an Application that the grant is bound to is admitted', () => {
  expect(admit({ ...facts, grant: ofApplication('u1'), subject: shop })).toMatchObject({ admitted: { subject: shop } })
})

/** What is changed, and the check that must refuse it. */
const refusals: readonly (readonly [string, string, Partial<DeskFacts>])[] = [
  ['the grant is gone', 'GrantNotFound', { grant: undefined }],
  ['another grant has the name now', 'GrantNotFound', { grantUid: 'an-older-uid' }],
  ['the caller does not know the uid', 'GrantNotFound', { grantUid: undefined }],
  [
    'the grant is being deleted',
    'GrantEnding',
    { grant: grantObject({ metadata: { deletionTimestamp: '2026-06-01T00:00:00Z' } }) },
  ],
  ['a Halt stands in the way', 'Halted', { halts: [haltObject({ type: 'Tenant', tenant: { name: 'acme' } })] }],
  ['the grant was never decided', 'GrantNotApproved', { grant: grantObject({ status: { decision: undefined as never } }) }],
  ['the grant was denied', 'GrantNotApproved', { grant: grantObject({ status: { decision: 'Denied' } }) }],
  ['the decision is about another generation', 'GrantNotApproved', { grant: grantObject({ status: { observedGeneration: 2 } }) }],
  [
    'the grant was approved but is not ready now',
    'GrantNotApproved',
    { grant: grantObject({ status: { conditions: [ready('False')] } }) },
  ],
  ['the grant is for the git proxy', 'OtherDelivery', { grant: grantObject({ spec: { delivery: 'GitProxy' } }) }],
  ['the git proxy asks under a grant for tokens', 'OtherDelivery', { delivery: 'GitProxy' }],
  ['the grant has expired', 'GrantExpired', { grant: grantObject({ status: { expiresAt: '2026-06-01T00:00:00.000Z' } }) }],
  ['break-glass is over', 'GrantNotApproved', { grant: grantObject({ status: { approvedUntil: '2026-06-01T00:00:00.000Z' } }) }],
  ['the grant has no end', 'GrantExpired', { grant: grantObject({ status: { expiresAt: undefined as never } }) }],
  ['the subject is another ServiceAccount', 'NotASubject', { subject: { ...runner, name: 'other' } }],
  ['the subject is another kind of the same name', 'NotASubject', { subject: { ...runner, kind: 'RemoteSync' } }],
  ['the subject is in another namespace', 'NotASubject', { subject: { ...runner, namespace: 'globex' } }],
  ['the Application was created again', 'NotASubject', { grant: ofApplication('u1'), subject: { ...shop, uid: 'u2' } }],
  ['the grant is bound to no Application', 'NotASubject', { grant: ofApplication(), subject: shop }],
  [
    'the subject has the name of the Application',
    'NotASubject',
    { grant: ofApplication('u1'), subject: { ...runner, name: 'shop' } },
  ],
  ['the subject has no uid', 'NotASubject', { subject: { ...runner, uid: '' } }],
  ['the Installation is gone', 'InstallationNotReady', { installation: undefined }],
  [
    'the Installation is not ready',
    'InstallationNotReady',
    { installation: { ...installationObject, status: { conditions: [ready('False')] } } },
  ],
  [
    'who answered for the Installation does not stand in any more',
    'InstallationNotReady',
    { installation: { ...installationObject, status: { conditions: [ready()], standIn: { id: 1002, login: 'dave' } } } },
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
  [
    'the App belongs to another host',
    'AppNotUsable',
    { app: { host: 'github.com', appId: 5001, api: 'http://x', web: 'http://x' } },
  ],
  ['no repository was resolved', 'NoRepositories', { grant: grantObject({ status: { repositories: [] } }) }],
  ['the grant has no permission', 'NoPermissions', { grant: grantObject({ spec: { permissions: {} } }) }],
  [
    'a repository is above the ceiling',
    'AboveCeiling',
    { grant: grantObject({ status: { repositories: [{ id: 9, name: 'acme/x' }] } }) },
  ],
  ['a level is above the ceiling', 'AboveCeiling', { grant: grantObject({ spec: { permissions: { contents: 'admin' } } }) }],
  ['a level is unknown', 'AboveCeiling', { grant: grantObject({ spec: { permissions: { contents: 'maintain' } as never } }) }],
  ['a permission is not in the ceiling', 'AboveCeiling', { grant: grantObject({ spec: { permissions: { secrets: 'read' } } }) }],
  [
    'a permission has the name of an inherited property',
    'AboveCeiling',
    { grant: grantObject({ spec: { permissions: { constructor: 'read' } as never } }) },
  ],
  [
    'a Selected ceiling has no list',
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

  test('each are the first to refuse a case here', () => {
    const first = refusals.map(([, , change]) => checks.find(check => check({ ...facts, ...change }) !== undefined))
    expect(checks.filter(check => !first.includes(check)).map(({ name }) => name)).toEqual([])
  })

  test('admit a subject while another person comes to stand in for the binding', () => {
    const standIns = [
      { id: 1002, login: 'dave', proof: { method: 'OrganizationOwner' as const, provedAt: '2026-01-01T00:00:00Z' } },
    ]
    const { metadata, status } = installationObject
    const changed = { ...installationObject, metadata: { ...metadata, generation: 2 }, spec: { ...spec, standIns } }
    expect(admit({ ...facts, installation: changed })).toHaveProperty('admitted')
    const answered = { ...changed, status: { ...status, standIn: { id: 1002, login: 'dave' } } }
    expect(admit({ ...facts, installation: answered })).toHaveProperty('admitted')
  })

  test('admit metadata: read under every ceiling, and all repositories under the ceiling All', () => {
    const grant = grantObject({
      spec: { permissions: { metadata: 'read' } },
      status: { repositories: [{ id: 9, name: 'acme/x' }] },
    })
    const installation = { ...installationObject, spec: { ...spec, ceiling: { repositories: 'All' as const, permissions: {} } } }
    expect(admit({ ...facts, grant, installation })).toHaveProperty('admitted')
  })
})
