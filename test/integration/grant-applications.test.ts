// A grant for an Application on a real API server, with the GitHub emulator: its account, the pods under it, a token for them and
// for nobody else, and the end of all that with the Application or with the grant. The controllers and the desk have the rights
// of their ServiceAccount; Kubernetes' own controllers make the pods.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type Application, application } from '../../src/api/apps/application.ts'
import { applicationChart } from '../../src/api/apps/application-chart.ts'
import { deployments, type Pod, pods, serviceAccounts } from '../../src/api/builtin/index.ts'
import { type RepositoryGrant, repositoryGrant } from '../../src/api/github/repository-grant.ts'
import { tenant } from '../../src/api/tenancy/tenant.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLog } from '../../src/lib/testing/silent-log.ts'
import { timeLimit } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { tokenRoutes } from '../../src/services/token-desk/server/routes.ts'
import { workloadIdentifier } from '../../src/services/token-desk/server/workload.ts'
import { createWebServer } from '../../src/web/server.ts'
import { applyApplication, image, makeChart, startApplicationController, withCharts } from '../fixtures/application-controller.ts'
import { chartOf, gone, readyReason, restrictedTo } from '../fixtures/application-fixture.ts'
import { testAdmin, withNamespace } from '../fixtures/harness.ts'
import { giveRightsIn, withClientOf } from '../fixtures/process-clients.ts'
import { onlyNamed } from '../fixtures/test-clients.ts'
import { type DeskEnvironment, startDeskEnvironment, type TenantFixture, withTenant } from '../fixtures/token-desk-fixture.ts'

const account = 'sekisho-app-shop'
const subjects = [{ kind: 'Application', name: 'shop' }]
const renderer = withCharts()
let environment: DeskEnvironment
beforeAll(async () => {
  environment = await startDeskEnvironment()
})
afterAll(() => environment?.stop())

type Shop = TenantFixture & {
  readonly chart: string
  readonly ask: (bearer: string) => Promise<{ status: number; token: string }>
}

/** A tenant with the controllers of grants and Applications, and a desk. */
async function started(): Promise<Shop> {
  const fixture = await withTenant(environment)
  const { namespace, desk } = fixture
  await fixture.applyTenant()
  await readyReason(fixture.client, tenant, { name: namespace }, 'NamespacesReady')
  await fixture.bind()
  const { name: platformNamespace } = await withNamespace()
  await giveRightsIn(platformNamespace, 'platform')
  const controllers = await withClientOf('sekisho-controllers')
  const chart = await makeChart(fixture)
  const controllersClient = onlyNamed(restrictedTo(controllers, namespace), applicationChart, chartOf(namespace))
  await startApplicationController({ controllersClient, platformNamespace }, renderer)
  const server = await createWebServer({ log: silentLog })
  await server.register(tokenRoutes({ desk, identify: workloadIdentifier({ client: controllers, clock: systemClock }) }))
  onTestFinished(() => server.close())
  return {
    ...fixture,
    chart,
    async ask(bearer) {
      const headers = { authorization: `Bearer ${bearer}` }
      const answer = await server.inject({ method: 'POST', url: '/v1/token', headers, payload: { grant: 'read-shop' } })
      return { status: answer.statusCode, token: answer.json().token }
    },
  }
}

const run = (shop: Shop): Promise<Application> =>
  applyApplication(shop, { chart: shop.chart, image: image(1), processes: [{ name: 'web', port: 3000, replicas: 1 }] })

async function request(shop: Shop, reason: string): Promise<RepositoryGrant> {
  // After a deletion the quota is counted again, and refuses meanwhile.
  await waitUntil('the grant is requested', () => shop.requestGrant('read-shop', 'dave', { subjects }))
  return readyReason(shop.client, repositoryGrant, { namespace: shop.namespace, name: 'read-shop' }, reason)
}

/** One that Kubernetes made, other than that of before. */
const podUnderAccount = ({ client, namespace }: Shop, before?: Pod): Promise<Pod> =>
  waitUntil('a pod under the account', async () => {
    const found = await client.list(pods, { namespace })
    return found.find(
      ({ metadata, spec }) =>
        spec?.serviceAccountName === account &&
        metadata.deletionTimestamp === undefined &&
        metadata.ownerReferences !== undefined &&
        metadata.uid !== before?.metadata.uid,
    )
  })

/** As the kubelet makes it for the pod. */
async function identityOf({ namespace }: Shop, { metadata: { name, uid } }: Pod): Promise<string> {
  const admin = await testAdmin()
  const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name, uid }
  const answer = (await admin.call('POST', `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { audiences: ['sekisho'], expirationSeconds: 600, boundObjectRef },
  })) as { readonly status: { readonly token: string } }
  return answer.status.token
}

/** As if admission had not refused it. */
function podOfDeveloper({ client, namespace }: Shop): Promise<Pod> {
  const securityContext = {
    allowPrivilegeEscalation: false,
    runAsNonRoot: true,
    capabilities: { drop: ['ALL'] },
    seccompProfile: { type: 'RuntimeDefault' },
  }
  const metadata = { generateName: 'mine-', namespace, labels: { 'sekisho.dev/application': 'shop' } }
  const spec = { serviceAccountName: account, containers: [{ name: 'main', image: 'none', securityContext }] }
  return client.create(pods, { apiVersion: 'v1', kind: 'Pod', metadata, spec }, { fieldManager: 'test' })
}

async function reads({ endpoints }: Shop, token: string): Promise<number> {
  return (await fetch(`${endpoints.api}/repos/acme/shop`, { headers: { authorization: `Bearer ${token}` } })).status
}

test(
  'gives tokens to the pods of the Application and to no other pod under its account, and ends with the Application',
  async () => {
    const shop = await started()
    const { client, namespace } = shop
    // It waits for the Application, and is bound to the one that comes.
    await request(shop, 'ApplicationNotFound')
    const first = await run(shop)
    const grant = await readyReason(client, repositoryGrant, { namespace, name: 'read-shop' }, 'Approved')
    expect(grant.status?.applications).toEqual([{ name: 'shop', uid: first.metadata.uid }])
    const pod = await podUnderAccount(shop)
    const made = await client.get(serviceAccounts, { namespace, name: account })
    expect(made).toMatchObject({
      automountServiceAccountToken: false,
      metadata: { ownerReferences: [{ kind: 'Application', uid: first.metadata.uid, controller: true }] },
    })
    expect(pod.spec).toMatchObject({
      volumes: expect.arrayContaining([
        expect.objectContaining({ name: 'sekisho-identity', projected: expect.objectContaining({ sources: expect.anything() }) }),
      ]),
    })
    const identity = await identityOf(shop, pod)
    const delivered = await shop.ask(identity)
    expect(delivered.status).toBe(200)
    expect(await reads(shop, delivered.token)).toBe(200)
    const [record] = await environment.store.audit.list({ namespace, action: 'token.delivered', limit: 1 })
    expect(record).toMatchObject({
      actor: `system:serviceaccount:${namespace}:${account}`,
      details: { subject: { kind: 'Application', name: 'shop', uid: first.metadata.uid }, pod: { name: pod.metadata.name } },
    })
    const mine = await identityOf(shop, await podOfDeveloper(shop))
    expect((await shop.ask(mine)).status).toBe(401)

    await client.delete(application, { namespace, name: 'shop' })
    await gone(client, application, { namespace, name: 'shop' })
    expect((await shop.ask(identity)).status).toBe(401)
    await waitUntil('the token is revoked', async () => (await reads(shop, delivered.token)) === 401)
    await gone(client, serviceAccounts, { namespace, name: account })

    // Another one of that name needs another decision, and has no account until then.
    const second = await run(shop)
    expect(second.metadata.uid).not.toBe(first.metadata.uid)
    const ended = await readyReason(client, repositoryGrant, { namespace, name: 'read-shop' }, 'ApplicationReplaced')
    expect(ended.status?.applications).toEqual([{ name: 'shop', uid: first.metadata.uid }])
    await waitUntil('its Deployment', () => client.get(deployments, { namespace, name: 'shop-web' }))
    expect(await client.get(serviceAccounts, { namespace, name: account })).toBeUndefined()

    await client.delete(repositoryGrant, { namespace, name: 'read-shop' })
    await gone(client, repositoryGrant, { namespace, name: 'read-shop' })
    const again = await request(shop, 'Approved')
    expect(again.status?.applications).toEqual([{ name: 'shop', uid: second.metadata.uid }])
    expect((await shop.ask(await identityOf(shop, await podUnderAccount(shop, pod)))).status).toBe(200)

    // Without a grant there is no account, and nothing of it is left in the pods.
    await client.delete(repositoryGrant, { namespace, name: 'read-shop' })
    await gone(client, serviceAccounts, { namespace, name: account })
    const deployment = await client.get(deployments, { namespace, name: 'shop-web' })
    expect(deployment?.spec?.template.spec?.serviceAccountName).toBe('default')
    expect(JSON.stringify(deployment?.spec?.template)).not.toContain('sekisho-identity')
  },
  timeLimit(3),
)

test('never adopts an account that somebody else made', async () => {
  const shop = await started()
  const { client, namespace } = shop
  const foreign = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: account, namespace } }
  await client.create(serviceAccounts, foreign, { fieldManager: 'stranger' })
  await run(shop)
  await request(shop, 'Approved')
  const refused = await readyReason(client, application, { namespace, name: 'shop' }, 'NameConflict')
  expect(refused.status?.conditions?.find(({ type }) => type === 'Ready')?.message).toContain(`ServiceAccount ${account}`)
  const kept = await client.get(serviceAccounts, { namespace, name: account })
  expect(kept?.metadata.ownerReferences).toBeUndefined()
  const deployment = await client.get(deployments, { namespace, name: 'shop-web' })
  expect(deployment?.spec?.template.spec?.serviceAccountName).not.toBe(account)
})

test('is not requested by the name of its account', async () => {
  const { name, admin } = await withNamespace()
  const { status, body } = await admin.request('POST', `/apis/github.sekisho.dev/v1alpha1/namespaces/${name}/repositorygrants`, {
    ...{ apiVersion: repositoryGrant.apiVersion, kind: repositoryGrant.kind, metadata: { name: 'by-account' } },
    spec: {
      installation: 'github',
      repositories: ['acme/shop'],
      permissions: { contents: 'read' },
      subjects: [{ kind: 'ServiceAccount', name: account }],
      reason: 'a test',
      requestedBy: 'github|github.localhost|1002',
    },
  })
  expect([status, JSON.stringify(body)]).toEqual([
    422,
    expect.stringContaining('name the Application, with the kind Application'),
  ])
})
