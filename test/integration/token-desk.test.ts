// Tenants, grants and the token desk on a real API server with the GitHub emulator: who receives a token, what it reaches, and
// when it is revoked.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { namespaces, networkPolicies, pods, resourceQuotas, roleBindings, serviceAccounts } from '../../src/api/builtin/index.ts'
import { installation } from '../../src/api/github/installation.ts'
import { repositoryGrant } from '../../src/api/github/repository-grant.ts'
import { wakeAnnotation } from '../../src/api/names.ts'
import { tenant } from '../../src/api/tenancy/tenant.ts'
import { isCounted } from '../../src/controllers/tenant/decide.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLog } from '../../src/lib/testing/silent-log.ts'
import { limits } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { tokenRoutes } from '../../src/services/token-desk/server/routes.ts'
import { workloadIdentifier } from '../../src/services/token-desk/server/workload.ts'
import { createWebServer, type WebServer } from '../../src/web/server.ts'
import { readyReason } from '../fixtures/application-fixture.ts'
import { testAdmin } from '../fixtures/harness.ts'
import { quiet } from '../fixtures/quiet.ts'
import { type DeskEnvironment, startDeskEnvironment, type TenantFixture, withTenant } from '../fixtures/token-desk-fixture.ts'

let environment: DeskEnvironment
beforeAll(async () => {
  environment = await startDeskEnvironment()
})
afterAll(() => environment?.stop())

/** A tenant with its namespaces and a ready Installation. */
async function readyTenant(): Promise<TenantFixture> {
  const fixture = await withTenant(environment)
  await fixture.applyTenant()
  await ready(fixture)
  await fixture.bind()
  return fixture
}

async function ready(fixture: TenantFixture, reason = 'NamespacesReady') {
  let seen = ''
  return waitUntil(`Tenant is ${reason}`, async () => {
    const found = await fixture.client.get(tenant, { name: fixture.namespace })
    const condition = found?.status?.conditions?.find(({ type }) => type === 'Ready')
    seen = `${condition?.reason}: ${condition?.message}`
    if (condition?.reason === reason && condition.observedGeneration === found?.metadata.generation) return found
    throw new Error(seen)
  })
}

async function reads(fixture: TenantFixture, token: string, repository: string): Promise<number> {
  return (await fetch(`${fixture.endpoints.api}/repos/${repository}`, { headers: { authorization: `Bearer ${token}` } })).status
}

describe('Tenant', () => {
  test('has its namespaces, roles and network policies, and a second reconcile writes nothing', async () => {
    const fixture = await readyTenant()
    const { client, namespace } = fixture
    const build = `${namespace}-build`
    for (const name of [namespace, build]) {
      const labels = (await client.get(namespaces, { name }))?.metadata.labels
      expect(labels).toMatchObject({ 'sekisho.dev/tenant': namespace, 'pod-security.kubernetes.io/enforce': 'restricted' })
      expect((await client.list(resourceQuotas, { namespace: name })).map(({ metadata }) => metadata.name)).toContain('tenant')
    }
    const bound = await client.list(roleBindings, { namespace })
    expect(bound.map(({ metadata, subjects }) => [metadata.name, subjects?.[0]?.name])).toEqual([
      ['sekisho:broker', 'sekisho-broker'],
      ['sekisho:controllers', 'sekisho-controllers'],
      ['sekisho:data-services', 'sekisho-data-services'],
      ['sekisho:tenant-admin', 'github|github.localhost|org|2001|owners'],
      ['sekisho:tenant-developer', 'github|github.localhost|org|2001|team|3001'],
    ])
    expect((await client.list(roleBindings, { namespace: build })).map(({ roleRef }) => roleRef.name)).toEqual([
      'sekisho:controllers-build-namespace',
    ])
    expect((await client.list(networkPolicies, { namespace: build })).map(({ metadata }) => metadata.name)).toContain(
      'sekisho-deny-all',
    )
    const builder = await client.get(serviceAccounts, { namespace: build, name: 'builder' })
    expect(builder?.automountServiceAccountToken).toBe(false)
    await quiet(fixture)
    const before = fixture.writes.length
    await client.mergePatch(
      tenant,
      { name: namespace },
      { metadata: { annotations: { [wakeAnnotation]: 'now' } } },
      { fieldManager: 'test' },
    )
    await quiet(fixture)
    expect(fixture.writes.slice(before)).toEqual([])
  })

  test('removes a role that nobody has any more, and recreates a deleted binding', async () => {
    const fixture = await readyTenant()
    const { client, namespace } = fixture
    await fixture.applyTenant({ roles: [{ role: 'viewer', subject: { type: 'User', id: 1003 } }] })
    const names = async () =>
      (await client.list(roleBindings, { namespace }))
        .map(({ metadata }) => metadata.name)
        .filter(name => name.startsWith('sekisho:tenant-'))
        .join()
    await waitUntil('only viewers are bound', async () => (await names()) === 'sekisho:tenant-viewer')
    await client.delete(roleBindings, { namespace, name: 'sekisho:tenant-viewer' })
    await waitUntil('the binding is back', async () => (await names()) === 'sekisho:tenant-viewer')
  })

  test('recreates a quota that the cluster has not counted', async () => {
    const fixture = await readyTenant()
    const { client, namespace } = fixture
    const key = { namespace, name: 'tenant-kinds' }
    const counted = await client.get(resourceQuotas, key)
    expect(isCounted(counted)).toBe(true)
    // As it is when a kind is newer than the quota. The quota controller does not count again because of a status.
    const admin = await testAdmin()
    const path = `/api/v1/namespaces/${namespace}/resourcequotas/tenant-kinds/status`
    await admin.call('PATCH', path, { status: { used: null } }, 'application/merge-patch+json')
    let wakes = 0
    const recreated = async () => {
      const found = await client.get(resourceQuotas, key)
      if (found?.metadata.uid !== counted?.metadata.uid && isCounted(found)) return true
      // Quotas do not wake a Tenant, and the controller's cache learns of the status a moment later.
      const annotations = { [wakeAnnotation]: `${++wakes}` }
      await client.mergePatch(tenant, { name: namespace }, { metadata: { annotations } }, { fieldManager: 'test' })
      return undefined
    }
    await waitUntil('the quota is recreated and counted', recreated)
    await ready(fixture)
  })

  test('gives the platform its rights again when somebody takes them away, and keeps them until the namespace is empty', async () => {
    const fixture = await readyTenant()
    const { client, namespace } = fixture
    await fixture.bind()
    const key = { namespace, name: 'sekisho:controllers' }
    const before = await client.get(roleBindings, key)
    expect(before?.metadata.finalizers).toEqual(['sekisho.dev/platform-rights'])
    await client.delete(roleBindings, key)
    const again = async () => {
      const found = await client.get(roleBindings, key)
      const isNew = found?.metadata.uid !== before?.metadata.uid && found?.metadata.deletionTimestamp === undefined
      return found !== undefined && isNew ? found : undefined
    }
    expect((await waitUntil('the binding is back', again)).metadata.finalizers).toEqual(['sekisho.dev/platform-rights'])
    await client.mergePatch(
      installation,
      { namespace, name: 'github' },
      { metadata: { finalizers: ['sekisho.dev/held-by-the-test'] } },
      { fieldManager: 'test' },
    )
    await client.delete(tenant, { name: namespace })
    const leaving = async () => (await client.get(roleBindings, key))?.metadata.deletionTimestamp !== undefined || undefined
    await waitUntil('the binding is to be deleted', leaving, { timeoutMilliseconds: limits.rollout })
    await quiet(fixture)
    expect((await client.get(roleBindings, key))?.metadata.finalizers).toEqual(['sekisho.dev/platform-rights'])
    await client.mergePatch(
      installation,
      { namespace, name: 'github' },
      { metadata: { finalizers: [] } },
      { fieldManager: 'test' },
    )
    const gone = async () => (await client.get(namespaces, { name: namespace })) === undefined || undefined
    await waitUntil('the namespace is gone', gone, { timeoutMilliseconds: limits.rollout })
  })

  test('deletes a network policy of an earlier version, which would keep open what it allowed, and recreates a deleted one', async () => {
    const fixture = await readyTenant()
    const { client, namespace } = fixture
    const build = `${namespace}-build`
    const owner = (await client.get(namespaces, { name: namespace }))?.metadata.ownerReferences ?? []
    const labels = { 'sekisho.dev/tenant': namespace }
    const create = (name: string, ownerReferences: typeof owner) =>
      client.create(
        networkPolicies,
        {
          apiVersion: 'networking.k8s.io/v1',
          kind: 'NetworkPolicy',
          metadata: { namespace: build, name, labels, ownerReferences },
          spec: { podSelector: {}, policyTypes: ['Egress'], egress: [{}] },
        },
        { fieldManager: 'test' },
      )
    await create('somebody-elses', [])
    await create('allow-registries', owner)
    await client.delete(networkPolicies, { namespace, name: 'sekisho-deny-all' })
    const names = async () =>
      (await Promise.all([namespace, build].map(name => client.list(networkPolicies, { namespace: name }))))
        .flat()
        .map(({ metadata }) => `${metadata.namespace === build ? 'build' : 'app'} ${metadata.name}`)
        .sort()
        .join()
    const wanted = [
      'app sekisho-deny-all',
      'app sekisho-egress',
      'app sekisho-egress-isolated',
      'app sekisho-ingress',
      'app sekisho-ingress-isolated',
      'build sekisho-deny-all',
      'build sekisho-egress',
      'build sekisho-egress-buildpacks',
    ]
    const all = [...wanted, 'build somebody-elses'].sort().join()
    await waitUntil('exactly the wanted policies of ours', async () => (await names()) === all)
  })

  test('does not adopt a namespace that it did not create, whatever its labels are', async () => {
    const fixture = await withTenant(environment)
    const { client, namespace } = fixture
    const metadata = { name: namespace, labels: { 'sekisho.dev/tenant': namespace } }
    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata }, { fieldManager: 'stranger' })
    onTestFinished(() => client.delete(namespaces, { name: namespace }))
    await fixture.applyTenant()
    await ready(fixture, 'NamespaceTaken')
    expect(await client.list(roleBindings, { namespace })).toEqual([])
    expect(await client.get(namespaces, { name: `${namespace}-build` })).toBeUndefined()
    await client.delete(tenant, { name: namespace })
    await waitUntil('the Tenant is gone', async () => ((await client.get(tenant, { name: namespace })) ? undefined : true))
    expect((await client.get(namespaces, { name: namespace }))?.metadata.deletionTimestamp).toBeUndefined()
  })

  test('is deleted after its tokens are revoked and its namespaces are gone', async () => {
    const fixture = await readyTenant()
    const { client, namespace } = fixture
    const grant = await approvedGrant(fixture)
    const { token } = await fixture.desk.request({ grant, subject: subjectIn(fixture), actor: 'test' })
    expect(await reads(fixture, token.reveal(), 'acme/shop')).toBe(200)
    await client.delete(tenant, { name: namespace })
    await waitUntil('the Tenant is gone', async () => ((await client.get(tenant, { name: namespace })) ? undefined : true))
    expect(await client.get(namespaces, { name: namespace })).toBeUndefined()
    expect(await reads(fixture, token.reveal(), 'acme/shop')).toBe(401)
    expect(await environment.store.audit.list({ action: 'tenant.ended', namespace, limit: 10 })).toMatchObject([
      { object: `Tenant/${namespace}`, outcome: 'allowed' },
    ])
  })
})

function subjectIn(fixture: TenantFixture) {
  return { kind: 'ServiceAccount', namespace: fixture.namespace, name: 'runner', uid: 'runner-uid' }
}

async function approvedGrant(fixture: TenantFixture, name = 'read-shop', changes: object = {}) {
  await fixture.requestGrant(name, 'dave', changes)
  return readyReason(fixture.client, repositoryGrant, { namespace: fixture.namespace, name }, 'Approved')
}

describe('RepositoryGrant', () => {
  test('of a developer with access is approved by ids and audited, and a second reconcile writes nothing', async () => {
    const fixture = await readyTenant()
    const grant = await approvedGrant(fixture)
    expect(grant.status).toMatchObject({ decision: 'Approved', repositories: [{ id: 4001, name: 'acme/shop' }] })
    const [decided] = await environment.store.audit.list({ namespace: fixture.namespace, action: 'grant.decided', limit: 10 })
    expect(decided).toMatchObject({
      actor: 'github|github.localhost|1002',
      outcome: 'allowed',
      details: { decision: 'Approved' },
    })
    await quiet(fixture)
    const before = fixture.writes.length
    const labelled = { metadata: { labels: { touched: 'yes' } } }
    await fixture.client.mergePatch(repositoryGrant, { namespace: fixture.namespace, name: 'read-shop' }, labelled, {
      fieldManager: 'test',
    })
    await quiet(fixture)
    expect(fixture.writes.slice(before)).toEqual([])
  })

  test.each([
    ['a repository that does not exist', 'dave', { repositories: ['acme/nope'] }, 'RepositoryNotFound'],
    ['another owner’s repository of the same name', 'dave', { repositories: ['globex/shop'] }, 'RepositoryNotFound'],
    ['a repository of another installation', 'dave', { repositories: ['globex/site'] }, 'RepositoryNotFound'],
    ['a repository the requester cannot read', 'dave', { repositories: ['acme/secret-plans'] }, 'RequesterLacksAccess'],
    [
      'one of two that the requester cannot read',
      'dave',
      { repositories: ['acme/shop', 'acme/secret-plans'] },
      'RequesterLacksAccess',
    ],
    ['a member without any access', 'mia', {}, 'RequesterLacksAccess'],
    ['a stranger', 'noah', {}, 'RequesterLacksAccess'],
    ['a permission above the ceiling', 'dave', { permissions: { administration: 'read' } }, 'AboveCeiling'],
    ['write, which no rule allows', 'dave', { permissions: { contents: 'write' } }, 'DeniedByPolicy'],
  ] as const)('for %s is not approved (%s asks)', async (_case, by, changes, reason) => {
    const fixture = await readyTenant()
    const asked = await fixture.requestGrant('requested', by, changes)
    const grant = await readyReason(fixture.client, repositoryGrant, { namespace: fixture.namespace, name: 'requested' }, reason)
    expect(grant.status?.decision).not.toBe('Approved')
    await expect(fixture.desk.request({ grant: asked, subject: subjectIn(fixture), actor: 'test' })).rejects.toMatchObject({
      code: 'forbidden',
    })
  })

  test.each(['github|github.com|1002', 'admin', 'github|github.localhost|9999999'])(
    'requested by %s is refused: that is not a person with access on this GitHub',
    async subject => {
      const fixture = await readyTenant()
      await fixture.requestGrant('requested', { subject })
      await readyReason(fixture.client, repositoryGrant, { namespace: fixture.namespace, name: 'requested' }, 'RequesterUnknown')
    },
  )

  test('leaves no active probe token', async () => {
    const fixture = await readyTenant()
    await approvedGrant(fixture)
    const count = async (action: string): Promise<number> => {
      const log = await environment.store.audit.list({ namespace: fixture.namespace, limit: 100 })
      return log.filter(entry => entry.action === action).length
    }
    // GitHub is read once for one decision; the probe's token is revoked before the decision is written.
    expect(await count('grant.decided')).toBe(1)
    expect(await count('token.minted')).toBe(1)
    expect(await count('token.revoked')).toBe(1)
  })

  test('waits for its Installation, and is decided when that becomes ready', async () => {
    const fixture = await withTenant(environment)
    await fixture.applyTenant()
    await ready(fixture)
    await fixture.bind({ ready: 'False' })
    await fixture.requestGrant('early', 'dave')
    await readyReason(fixture.client, repositoryGrant, { namespace: fixture.namespace, name: 'early' }, 'InstallationNotReady')
    await fixture.bind()
    await readyReason(fixture.client, repositoryGrant, { namespace: fixture.namespace, name: 'early' }, 'Approved')
  })

  test('that was denied while the App was not installed is approved as soon as it is bound anew', async () => {
    const fixture = await withTenant(environment)
    const { client, namespace } = fixture
    await fixture.applyTenant()
    await ready(fixture)
    // The webhook of the removal can reach the grant before the Installation says so: GitHub knows no such installation.
    await fixture.bind({ installationId: 999_999 })
    await fixture.requestGrant('early', 'dave')
    await readyReason(client, repositoryGrant, { namespace, name: 'early' }, 'RepositoryNotFound')
    await client.delete(installation, { namespace, name: 'github' })
    await fixture.bind()
    await readyReason(client, repositoryGrant, { namespace, name: 'early' }, 'Approved')
  })

  test.each(['the grant is deleted', 'its Installation stops being ready', 'its time is over'])(
    'revokes its tokens when %s',
    async how => {
      const fixture = await readyTenant()
      const { client, namespace } = fixture
      const grant = await approvedGrant(fixture, 'short', how === 'its time is over' ? { lifetimeSeconds: 60 } : {})
      const request = { grant, subject: subjectIn(fixture), actor: 'test' }
      const { token } = await fixture.desk.request(request)
      expect(await reads(fixture, token.reveal(), 'acme/shop')).toBe(200)
      if (how === 'the grant is deleted') await client.delete(repositoryGrant, { namespace, name: 'short' })
      if (how === 'its Installation stops being ready') await fixture.bind({ ready: 'False' })
      if (how === 'its time is over') {
        // The end is moved instead of waited for; the annotation makes the controller reconcile now.
        await fixture.setStatus(repositoryGrant, namespace, 'short', { expiresAt: new Date(Date.now() - 1000).toISOString() })
        const wake = { metadata: { annotations: { [wakeAnnotation]: 'now' } } }
        await client.mergePatch(repositoryGrant, { namespace, name: 'short' }, wake, { fieldManager: 'test' })
      }
      await waitUntil('the token is revoked', async () => (await reads(fixture, token.reveal(), 'acme/shop')) === 401)
      await expect(fixture.desk.request(request)).rejects.toMatchObject({ code: 'forbidden' })
    },
  )
})

describe('a token', () => {
  test('reaches its repository for reading, and nothing else', async () => {
    const fixture = await readyTenant()
    const grant = await approvedGrant(fixture)
    const answer = await fixture.desk.request({ grant, subject: subjectIn(fixture), actor: 'test' })
    const token = answer.token.reveal()
    expect(answer).toMatchObject({ repositories: [{ id: 4001, fullName: 'acme/shop' }], permissions: { contents: 'read' } })
    expect(await reads(fixture, token, 'acme/shop')).toBe(200)
    expect(await reads(fixture, token, 'acme/secret-plans')).toBe(404)
    const write = await fetch(`${fixture.endpoints.api}/repos/acme/shop/statuses/${'0'.repeat(40)}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ state: 'success' }),
    })
    expect(write.status).toBe(403)
  })
})

describe('the desk’s routes for workloads', () => {
  type Pod = { readonly name: string; readonly uid: string }

  async function withDeskServer(fixture: TenantFixture): Promise<WebServer> {
    const server = await createWebServer({ log: silentLog })
    const { client, desk } = fixture
    await server.register(
      tokenRoutes({
        desk,
        identify: workloadIdentifier({ client, clock: systemClock }),
      }),
    )
    onTestFinished(() => server.close())
    return server
  }

  async function runPod(fixture: TenantFixture, serviceAccount = 'runner'): Promise<Pod> {
    const { client, namespace } = fixture
    await client.apply(
      serviceAccounts,
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: serviceAccount, namespace } },
      { fieldManager: 'test' },
    )
    const securityContext = {
      allowPrivilegeEscalation: false,
      runAsNonRoot: true,
      capabilities: { drop: ['ALL'] },
      seccompProfile: { type: 'RuntimeDefault' },
    }
    const spec = { serviceAccountName: serviceAccount, containers: [{ name: 'main', image: 'none', securityContext }] }
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { generateName: 'job-', namespace }, spec }
    const made = await client.create(pods, pod, { fieldManager: 'test' })
    return { name: made.metadata.name, uid: made.metadata.uid ?? '' }
  }

  async function tokenOf(
    fixture: TenantFixture,
    pod: Pod | undefined,
    audience = 'sekisho',
    serviceAccount = 'runner',
  ): Promise<string> {
    const admin = await testAdmin()
    const boundObjectRef = pod && { kind: 'Pod', apiVersion: 'v1', ...pod }
    const path = `/api/v1/namespaces/${fixture.namespace}/serviceaccounts/${serviceAccount}/token`
    const answer = (await admin.call('POST', path, {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { audiences: [audience], expirationSeconds: 600, ...(boundObjectRef ? { boundObjectRef } : {}) },
    })) as { readonly status: { readonly token: string } }
    return answer.status.token
  }

  const ask = (server: WebServer, bearer: string, grant = 'read-shop') =>
    server.inject({ method: 'POST', url: '/v1/token', headers: { authorization: `Bearer ${bearer}` }, payload: { grant } })

  test('deliver a token to a subject’s pod as JSON and as a git credential', async () => {
    const fixture = await readyTenant()
    await approvedGrant(fixture)
    const server = await withDeskServer(fixture)
    const bearer = await tokenOf(fixture, await runPod(fixture))
    const answer = await ask(server, bearer)
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['cache-control']).toBe('no-store')
    expect(answer.json()).toMatchObject({
      repositories: [{ id: 4001, fullName: 'acme/shop' }],
      permissions: { contents: 'read' },
    })
    const { host, protocol } = new URL(fixture.endpoints.web)
    const credential = (path: string, at = host) =>
      server.inject({
        method: 'POST',
        url: '/v1/git-credential?grant=read-shop',
        headers: { authorization: `Bearer ${bearer}`, 'content-type': 'text/plain' },
        payload: `protocol=${protocol.slice(0, -1)}\nhost=${at}\npath=${path}\n\n`,
      })
    const given = await credential('acme/shop.git')
    expect(given.body).toContain(`password=${answer.json().token}\n`)
    expect((await credential('acme/secret-plans.git')).statusCode).toBe(403)
    expect((await credential('acme/shop.git', 'evil.example')).statusCode).toBe(403)
    const [last] = await environment.store.audit.list({ namespace: fixture.namespace, action: 'token.delivered', limit: 1 })
    expect(last?.actor).toBe(`system:serviceaccount:${fixture.namespace}:runner`)
  })

  test('refuse every token that does not belong to a running pod of a subject', async () => {
    const fixture = await readyTenant()
    await approvedGrant(fixture)
    const server = await withDeskServer(fixture)
    const pod = await runPod(fixture)
    const other = await runPod(fixture, 'other')
    const bearer = await tokenOf(fixture, pod)
    expect((await ask(server, bearer)).statusCode).toBe(200)
    expect((await ask(server, '')).statusCode).toBe(401)
    expect((await ask(server, `${bearer.slice(0, -4)}AAAA`)).statusCode).toBe(401)
    expect((await ask(server, await tokenOf(fixture, undefined))).statusCode).toBe(401)
    expect((await ask(server, await tokenOf(fixture, pod, 'https://kubernetes.default.svc'))).statusCode).toBe(401)
    const stranger = await ask(server, await tokenOf(fixture, other, 'sekisho', 'other'))
    const absent = await ask(server, bearer, 'no-such-grant')
    expect([stranger.statusCode, absent.statusCode]).toEqual([403, 403])
    expect(stranger.json().error.message).toBe(absent.json().error.message)
    await fixture.client.delete(pods, { namespace: fixture.namespace, name: pod.name })
    await waitUntil('the pod’s token is refused', async () => (await ask(server, bearer)).statusCode === 401)
  })

  test('refuse the token of a ServiceAccount that was deleted and created again', async () => {
    const fixture = await readyTenant()
    await approvedGrant(fixture)
    const server = await withDeskServer(fixture)
    const bearer = await tokenOf(fixture, await runPod(fixture))
    expect((await ask(server, bearer)).statusCode).toBe(200)
    await fixture.client.delete(serviceAccounts, { namespace: fixture.namespace, name: 'runner' })
    await runPod(fixture)
    await waitUntil(
      'the token of the former ServiceAccount is refused',
      async () => (await ask(server, bearer)).statusCode === 401,
    )
  })

  test('refuse a grant of another namespace, also by a path in its name', async () => {
    const fixture = await readyTenant()
    const neighbour = await readyTenant()
    await approvedGrant(neighbour, 'theirs')
    const server = await withDeskServer(fixture)
    const bearer = await tokenOf(fixture, await runPod(fixture))
    expect((await ask(server, bearer, 'theirs')).statusCode).toBe(403)
    const path = `../../${neighbour.namespace}/repositorygrants/theirs`
    expect((await ask(server, bearer, path)).statusCode).toBe(400)
  })
})
