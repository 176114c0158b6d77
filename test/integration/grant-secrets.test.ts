// Tokens in Secrets on a real API server, with the GitHub emulator: only where a ClusterGrantPolicy allows it, with a token that
// reads the repository, made again when the Secret is deleted or changed, gone with the grant and while a Halt stands in the way.
// The controllers and the desk have the rights of their ServiceAccount.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { applicationChart } from '../../src/api/apps/application-chart.ts'
import { deployments, type Secret, secrets, serviceAccounts } from '../../src/api/builtin/index.ts'
import { clusterGrantPolicy, grantPolicy } from '../../src/api/github/grant-policy.ts'
import { halt } from '../../src/api/github/halt.ts'
import { type RepositoryGrant, repositoryGrant } from '../../src/api/github/repository-grant.ts'
import { userSubject, wakeAnnotation } from '../../src/api/names.ts'
import { tenant } from '../../src/api/tenancy/tenant.ts'
import { findCondition } from '../../src/kube/object/conditions.ts'
import { SecretString } from '../../src/lib/secret-string.ts'
import { timeLimit } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { hashedToken } from '../../src/store/token-registry.ts'
import { applyApplication, image, makeChart, startApplicationController, withCharts } from '../fixtures/application-controller.ts'
import { chartOf, gone, readyReason, restrictedTo } from '../fixtures/application-fixture.ts'
import { withNamespace } from '../fixtures/harness.ts'
import { giveRightsIn, withClientOf } from '../fixtures/process-clients.ts'
import { put } from '../fixtures/put-object.ts'
import { onlyNamed } from '../fixtures/test-clients.ts'
import {
  type DeskEnvironment,
  people,
  startDeskEnvironment,
  type TenantFixture,
  withTenant,
} from '../fixtures/token-desk-fixture.ts'

const renderer = withCharts()
let environment: DeskEnvironment
beforeAll(async () => {
  environment = await startDeskEnvironment()
})
afterAll(() => environment?.stop())

const olivia = userSubject('github.localhost', people.olivia)
const name = 'ghtok-flux.read-shop'
const spec = { delivery: 'Secret', subjects: [{ kind: 'ServiceAccount', name: 'flux' }] }
const allow = { name: 'tokens', effect: 'Allow', permissions: { contents: 'read' }, deliveries: ['Secret'] }

/** A tenant in whose namespace the ServiceAccount flux is. */
async function started(): Promise<TenantFixture> {
  const fixture = await withTenant(environment)
  await fixture.applyTenant()
  await readyReason(fixture.client, tenant, { name: fixture.namespace }, 'NamespacesReady')
  await fixture.bind()
  await put(fixture.client, serviceAccounts, { name: 'flux', namespace: fixture.namespace }, {})
  return fixture
}

/** The controllers see the policy of this name alone. */
async function optIn({ client, namespace }: TenantFixture): Promise<void> {
  onTestFinished(async () => {
    await client.delete(clusterGrantPolicy, { name: namespace })
  })
  await put(client, clusterGrantPolicy, { name: namespace }, { spec: { rules: [allow] } })
}

const grantIn = ({ client, namespace }: TenantFixture) => client.get(repositoryGrant, { namespace, name: 'read-shop' })
const secretIn = ({ client, namespace }: TenantFixture) => client.get(secrets, { namespace, name })
const textIn = (secret: Secret | undefined, key = 'token'): string =>
  Buffer.from(secret?.data?.[key] ?? '', 'base64').toString('utf8')

async function isDelivered(fixture: TenantFixture, reason: string): Promise<RepositoryGrant> {
  return waitUntil(`Delivered says ${reason}`, async () => {
    const grant = await grantIn(fixture)
    const condition = findCondition(grant?.status?.conditions, 'Delivered')
    if (grant && condition?.reason === reason) return grant
    throw new Error(`${condition?.reason}: ${condition?.message}; ${JSON.stringify(grant?.status?.conditions)}`)
  })
}

/** Another token than that of before. */
const delivered = (fixture: TenantFixture, before = ''): Promise<string> =>
  waitUntil('a token is in the Secret', async () => {
    const token = textIn(await secretIn(fixture))
    return token !== '' && token !== before ? token : undefined
  })

/** As a webhook would: the Secrets are looked at now and not in minutes. */
async function look({ client, namespace }: TenantFixture): Promise<void> {
  const annotations = { [wakeAnnotation]: new Date().toISOString() }
  const key = { namespace, name: 'read-shop' }
  await client.mergePatch(repositoryGrant, key, { metadata: { annotations } }, { fieldManager: 'test' })
}

async function reads({ endpoints }: TenantFixture, token: string): Promise<number> {
  return (await fetch(`${endpoints.api}/repos/acme/shop`, { headers: { authorization: `Bearer ${token}` } })).status
}

const isLive = (token: string): Promise<boolean> =>
  environment.store.tokens.hasLive({ hashedToken: hashedToken(new SecretString(token)) })

test(
  'a ClusterGrantPolicy allows it, and nothing else: then a token is in the Secret until the grant ends',
  async () => {
    const fixture = await started()
    const { client, namespace } = fixture
    await fixture.requestGrant('read-shop', 'dave', spec)
    const denied = await readyReason(client, repositoryGrant, { namespace, name: 'read-shop' }, 'DeniedByGrantPolicy')
    expect(findCondition(denied.status?.conditions, 'Ready')?.message).toContain('deliveries')
    expect(await secretIn(fixture)).toBeUndefined()
    // The word of a tenant is not enough.
    await put(client, grantPolicy, { name: 'own', namespace }, { spec: { rules: [allow] } })
    await waitUntil('it is decided by that', async () => (await grantIn(fixture))?.status?.observedPolicies !== undefined)
    expect((await grantIn(fixture))?.status?.decision).toBe('Denied')

    await optIn(fixture)
    const grant = await isDelivered(fixture, 'SecretWritten')
    const token = await delivered(fixture)
    const secret = await secretIn(fixture)
    expect(secret).toMatchObject({
      type: 'kubernetes.io/basic-auth',
      metadata: {
        labels: { 'sekisho.dev/repository-grant': 'read-shop' },
        ownerReferences: [{ kind: 'RepositoryGrant', uid: grant.metadata.uid, controller: true }],
      },
    })
    expect([textIn(secret, 'username'), textIn(secret, 'password')]).toEqual(['x-access-token', token])
    expect(await reads(fixture, token)).toBe(200)
    const log = await environment.store.audit.list({ namespace, limit: 1000 })
    const delivery = log.find(({ action, details }) => action === 'token.delivered' && details['delivery'] === 'Secret')
    expect(delivery).toMatchObject({ actor: 'sekisho:repository-grant', namespace })

    await client.delete(repositoryGrant, { namespace, name: 'read-shop' })
    await gone(client, repositoryGrant, { namespace, name: 'read-shop' })
    expect(await secretIn(fixture)).toBeUndefined()
    expect(await reads(fixture, token)).toBe(401)
    expect(await isLive(token)).toBe(false)
  },
  timeLimit(120_000),
)

test(
  'a Secret that was deleted or changed is made again with another token, and what was in it is revoked',
  async () => {
    const fixture = await started()
    const { client, namespace } = fixture
    await optIn(fixture)
    await fixture.requestGrant('read-shop', 'dave', spec)
    const first = await delivered(fixture)
    await client.delete(secrets, { namespace, name })
    await look(fixture)
    const second = await delivered(fixture, first)
    expect(await reads(fixture, first)).toBe(401)

    const change = { data: { password: Buffer.from('other').toString('base64'), more: 'eA==' } }
    await client.mergePatch(secrets, { namespace, name }, change, { fieldManager: 'test' })
    await look(fixture)
    const third = await delivered(fixture, second)
    const secret = await secretIn(fixture)
    expect([textIn(secret, 'password'), Object.keys(secret?.data ?? {})]).toEqual([third, ['password', 'token', 'username']])
    expect([await reads(fixture, second), await reads(fixture, third)]).toEqual([401, 200])
  },
  timeLimit(120_000),
)

test(
  'nothing of it is there while a Halt stands in the way or a policy denies it, and none is adopted',
  async () => {
    const fixture = await started()
    const { client, namespace } = fixture
    await optIn(fixture)
    const key = { namespace, name }
    await put(client, secrets, { ...key }, { data: { token: Buffer.from('mine').toString('base64') } })
    await fixture.requestGrant('read-shop', 'dave', spec)
    await isDelivered(fixture, 'NameTaken')
    expect(textIn(await secretIn(fixture))).toBe('mine')
    await client.delete(secrets, key)
    await look(fixture)
    const token = await delivered(fixture, 'mine')

    await put(
      client,
      halt,
      { name: 'stop', namespace },
      {
        spec: { target: { type: 'Everything' }, reason: 'a test stops it', requestedBy: olivia },
      },
    )
    await gone(client, secrets, key)
    await waitUntil('the token is revoked', async () => !(await isLive(token)))
    const lifted = { spec: { lifted: { by: olivia, reason: 'found and mended' } } }
    await client.mergePatch(halt, { namespace, name: 'stop' }, lifted, { fieldManager: 'test' })
    await delivered(fixture, token)
    const never = { name: 'never', effect: 'Deny', permissions: { '*': 'read' }, deliveries: ['Secret'] }
    await put(client, grantPolicy, { name: 'own', namespace }, { spec: { rules: [never] } })
    await readyReason(client, repositoryGrant, { namespace, name: 'read-shop' }, 'DeniedByGrantPolicy')
    await gone(client, secrets, key)
  },
  timeLimit(120_000),
)

test(
  'the pods of an Application have the Secret of its grant mounted, until the grant ends',
  async () => {
    const fixture = await started()
    const { client, namespace } = fixture
    const { name: platformNamespace } = await withNamespace()
    await giveRightsIn(platformNamespace, 'platform')
    const controllers = await withClientOf('sekisho-controllers')
    const chart = await makeChart(fixture)
    const controllersClient = onlyNamed(restrictedTo(controllers, namespace), applicationChart, chartOf(namespace))
    await startApplicationController({ controllersClient, platformNamespace }, renderer)
    const shop = { ...fixture, chart }
    await applyApplication(shop, { chart, image: image(1), processes: [{ name: 'web', port: 3000, replicas: 0 }] })
    await optIn(fixture)
    await fixture.requestGrant('read-shop', 'dave', { ...spec, subjects: [{ kind: 'Application', name: 'shop' }] })
    await isDelivered(fixture, 'SecretWritten')
    const secretName = 'ghtok-sekisho-app-shop.read-shop'
    const template = async () => (await client.get(deployments, { namespace, name: 'shop-web' }))?.spec?.template.spec
    const mounting = await waitUntil('the pods have it mounted', async () => {
      const found = await template()
      return JSON.stringify(found).includes(secretName) ? found : undefined
    })
    expect(mounting).toMatchObject({
      serviceAccountName: 'sekisho-app-shop',
      volumes: expect.arrayContaining([
        { name: 'sekisho-token-read-shop', secret: expect.objectContaining({ secretName, optional: true }) },
      ]),
      containers: [
        {
          volumeMounts: expect.arrayContaining([
            { name: 'sekisho-token-read-shop', mountPath: '/var/run/sekisho-tokens/read-shop', readOnly: true },
          ]),
        },
      ],
    })
    const held = await client.get(secrets, { namespace, name: secretName })
    expect(await reads(fixture, textIn(held))).toBe(200)
    await client.delete(repositoryGrant, { namespace, name: 'read-shop' })
    await gone(client, secrets, { namespace, name: secretName })
    await waitUntil('the pods do without', async () => !JSON.stringify(await template()).includes('ghtok-'))
  },
  timeLimit(120_000),
)
