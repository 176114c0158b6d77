// Who ends or changes access is in the audit log: real API server, real webhook, real controllers. Also when nobody recorded it.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { registrations } from '../../src/admission/registrations.ts'
import type { AuditAction } from '../../src/api/audit/audit-event.ts'
import { type RepositoryGrant, repositoryGrant } from '../../src/api/github/repository-grant.ts'
import { wakeAnnotation } from '../../src/api/names.ts'
import { tenant } from '../../src/api/tenancy/tenant.ts'
import { systemClock as clock } from '../../src/lib/clock.ts'
import { silentLog as log } from '../../src/lib/testing/silent-log.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { createAccessRecorder } from '../../src/services/access-records/open.ts'
import { createCountedAudit } from '../../src/store/audit/counted-audit.ts'
import { createPostServer } from '../../src/web/post-server.ts'
import { createCertificate } from '../../src/web/tls.ts'
import { impersonation } from '../attack/impersonation.ts'
import { readyReason } from '../fixtures/application-fixture.ts'
import { testAdmin, testKubeconfig } from '../fixtures/harness.ts'
import { type DeskEnvironment, startDeskEnvironment, type TenantFixture, withTenant } from '../fixtures/token-desk-fixture.ts'
import { webhookCertificate } from '../fixtures/webhook-certificate.ts'

const dave = { user: 'github|github.localhost|1002', groups: ['system:masters'], login: 'dave' }
const olivia = { user: 'github|github.localhost|1001', groups: ['system:masters'], login: 'olivia' }

let environment: DeskEnvironment
beforeAll(async () => {
  environment = await startDeskEnvironment()
})
afterAll(() => environment?.stop())

const registrationsPath = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'

type Recorded = TenantFixture & {
  readonly as: Awaited<ReturnType<typeof impersonation>>['as']
  readonly path: (grant: string) => string
  /** From now on the API server reaches nobody. */
  readonly unreachable: () => Promise<void>
  readonly entries: (action: AuditAction) => Promise<readonly { readonly actor: string; readonly details: object }[]>
}

/** A tenant whose changes the API server reports, and nobody else's: test files share the server. */
async function recordedTenant(): Promise<Recorded> {
  const fixture = await withTenant(environment)
  const { namespace } = fixture
  const { authorityPem, pair } = await webhookCertificate()
  const { audit } = environment.store
  const record = createAccessRecorder({ counted: createCountedAudit({ audit, clock, log }), clock, log })
  let calls = 0
  const counting = async (body: Buffer): Promise<string> => {
    calls += 1
    return record(body)
  }
  const server = createPostServer({
    log,
    certificate: createCertificate(pair),
    routes: new Map([['/records', counting]]),
    budget: { requests: 64, bytes: 1e8, bodyLimit: 1e7 },
    connections: { most: 64, maxOfClient: 64 },
  })
  const port = await server.listen({ host: '127.0.0.1', port: 0 })
  const close = async (): Promise<void> => {
    const closing = server.close()
    server.closeAllConnections()
    await closing
  }
  const origin = `https://127.0.0.1:${port}`
  const [validating] = registrations({ kind: 'url', origin, authorityPem, recordsOrigin: origin })
  if (validating === undefined) throw new Error('there is no registration')
  const all = (validating as unknown as { readonly webhooks: readonly { name: string; matchConditions: object[] }[] }).webhooks
  const webhooks = all
    .filter(({ name }) => name.startsWith('access-records'))
    .map(one => ({
      ...one,
      matchConditions: [
        ...one.matchConditions,
        { name: 'of-this-test', expression: `request.namespace == '${namespace}' || request.name == '${namespace}'` },
      ],
    }))
  const admin = await testAdmin()
  const name = `records-${namespace}`
  await admin.apply(`${registrationsPath}/${name}`, { ...validating, metadata: { name }, webhooks })
  const people = await impersonation(testKubeconfig())
  onTestFinished(async () => {
    await admin.call('DELETE', `${registrationsPath}/${name}`)
    await people.close()
    await close()
  })
  await fixture.applyTenant()
  await waitUntil('the API server calls the webhook', async () => {
    const tenantPath = `/apis/tenancy.sekisho.dev/v1alpha1/tenants/${namespace}?dryRun=All`
    await people.as(dave, 'PATCH', tenantPath, { spec: { roles: [] } })
    return calls > 0 ? true : undefined
  })
  await readyReason(fixture.client, tenant, { name: namespace }, 'NamespacesReady')
  await fixture.bind()
  return {
    ...fixture,
    as: people.as,
    path: grant => `/apis/github.sekisho.dev/v1alpha1/namespaces/${namespace}/repositorygrants/${grant}`,
    unreachable: close,
    entries: action => audit.list({ action, namespace, limit: 100 }),
  }
}

async function approved(fixture: TenantFixture, name: string, changes: object = {}): Promise<RepositoryGrant> {
  await fixture.requestGrant(name, 'dave', changes)
  return readyReason(fixture.client, repositoryGrant, { namespace: fixture.namespace, name }, 'Approved')
}

async function gone(fixture: TenantFixture, name: string): Promise<void> {
  const key = { namespace: fixture.namespace, name }
  await waitUntil(`${name} is gone`, async () => ((await fixture.client.get(repositoryGrant, key)) ? undefined : true))
}

describe('the end of a grant', () => {
  test('names who deleted it, without a live token and with one, whose record says why it ended', async () => {
    const fixture = await recordedTenant()
    const { namespace } = fixture
    const [unused, used] = [await approved(fixture, 'unused'), await approved(fixture, 'used')]
    const subject = { kind: 'ServiceAccount', namespace, name: 'runner', uid: 'runner-uid' }
    const pod = { name: 'ci-1', uid: 'pod-uid' }
    await fixture.desk.request({ grant: used, subject, actor: 'test', from: { pod, address: '10.0.0.9' } })
    await fixture.as(dave, 'DELETE', fixture.path('unused'))
    await fixture.as(olivia, 'DELETE', fixture.path('used'))
    await gone(fixture, 'unused')
    await gone(fixture, 'used')
    const about = { cause: 'Deleted', person: dave.user, login: 'dave', repositories: [{ id: 4001, fullName: 'acme/shop' }] }
    const ended = await fixture.entries('grant.ended')
    expect(ended).toHaveLength(2)
    expect(ended.find(({ details }) => 'uid' in details && details.uid === unused.metadata.uid)).toMatchObject({
      actor: dave.user,
      details: { ...about, doer: dave.user, doerLogin: 'dave', repositoryIds: [4001] },
    })
    expect(ended.find(({ details }) => 'uid' in details && details.uid === used.metadata.uid)).toMatchObject({
      actor: olivia.user,
      details: { ...about, doer: olivia.user, doerLogin: 'olivia' },
    })
    const token = {
      person: dave.user,
      generation: 1,
      rule: expect.any(String),
      inputs: expect.any(String),
      pod,
      address: '10.0.0.9',
    }
    const hashedToken = expect.stringMatching(/^[\w+/]{43}=$/)
    expect((await fixture.entries('token.delivered'))[0]?.details).toMatchObject({ ...token, hashedToken })
    const revoked = (await fixture.entries('token.revoked')).filter(({ details }) => 'pod' in details)
    expect(revoked.map(({ details }) => details)).toMatchObject([
      { ...token, hashedToken, cause: 'the grant was deleted', causeAt: expect.any(String), answer: 'revoked' },
    ])
  })

  test('is recorded, and says that it is not known who did it, when nobody recorded the request', async () => {
    const fixture = await recordedTenant()
    await approved(fixture, 'unseen')
    await fixture.unreachable()
    expect((await fixture.as(dave, 'DELETE', fixture.path('unseen'))).status).toBe(200)
    await gone(fixture, 'unseen')
    expect(await fixture.entries('grant.ended')).toMatchObject([
      {
        actor: 'sekisho:repository-grant',
        details: { doerUnknown: expect.stringContaining('no request of a user is recorded') },
      },
    ])
  })

  test('is recorded once when its time is over', async () => {
    const fixture = await recordedTenant()
    const grant = await approved(fixture, 'short', { lifetimeSeconds: 60 })
    const past = new Date(Date.now() - 1000).toISOString()
    const { client, namespace } = fixture
    await fixture.setStatus(repositoryGrant, namespace, 'short', { ...grant.status, expiresAt: past })
    const woken = { metadata: { annotations: { [wakeAnnotation]: 'now' } } }
    await client.mergePatch(repositoryGrant, { namespace, name: 'short' }, woken, { fieldManager: 'test' })
    await readyReason(fixture.client, repositoryGrant, { namespace, name: 'short' }, 'Expired')
    await waitUntil('the end is recorded', async () => ((await fixture.entries('grant.ended')).length > 0 ? true : undefined))
    expect(await fixture.entries('grant.ended')).toMatchObject([{ details: { cause: 'Expired', causeAt: past } }])
  })
})

describe('a Tenant', () => {
  test('names who changed its roles, with the roles, and who ended it and so its grants', async () => {
    const fixture = await recordedTenant()
    const { client, namespace } = fixture
    await approved(fixture, 'of-the-tenant')
    const path = `/apis/tenancy.sekisho.dev/v1alpha1/tenants/${namespace}`
    await fixture.as(olivia, 'PATCH', path, { spec: { roles: [] } })
    await waitUntil('the change is recorded', async () =>
      (await fixture.entries('tenant.changed')).some(({ actor }) => actor === olivia.user) ? true : undefined,
    )
    const [changed, created] = await fixture.entries('tenant.changed')
    expect(changed).toMatchObject({
      actor: olivia.user,
      details: { generation: 2, roles: [], roleCount: 0, doerLogin: 'olivia' },
    })
    expect(created?.details).toMatchObject({ generation: 1, roleCount: 2 })
    await fixture.as(dave, 'DELETE', path)
    await waitUntil('the Tenant is gone', async () => ((await client.get(tenant, { name: namespace })) ? undefined : true))
    expect(await fixture.entries('tenant.ended')).toMatchObject([{ actor: dave.user, details: { cause: 'Deleted' } }])
    expect(await fixture.entries('grant.ended')).toMatchObject([
      { actor: dave.user, details: { cause: 'NamespaceEnded', causeObject: `Tenant/${namespace}` } },
    ])
  })
})
