// The authorizer on a real API server with the file that is shipped: holders of Kubernetes' built-in roles read nothing of
// the platform, by no verb; what else they may read stays; a changed right counts at once; without the authorizer RBAC
// decides and the cluster goes on.
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { adminUser } from '../../dev/cluster/control-plane/certificates.ts'
import { openAuthority } from '../../dev/cluster/pki/authority.ts'
import { type AccessFiles, accessFromFiles } from '../../src/authorizer/access-files.ts'
import { createAuthorizerApp } from '../../src/authorizer/app.ts'
import { createAuthorizerMetrics } from '../../src/authorizer/metrics.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { SecretString } from '../../src/lib/secret-string.ts'
import { silentLog } from '../../src/lib/testing/silent-log.ts'
import { limits } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import type { DrainedServer } from '../../src/web/drained-server.ts'
import { createCertificate } from '../../src/web/tls.ts'
import { type AttackCluster, startAttackCluster, webhookAddress } from './attack-cluster.ts'
import type { Reply } from './impersonation.ts'

const name = 'authorizer-cluster'
const address = webhookAddress({ name })
const roles = ['view', 'edit', 'admin'] as const
type Role = (typeof roles)[number]
const reserved = ['ghtok-x', 'appsecret-shop', 'sekisho-registry-pull', 'binding-shop'] as const
const tenantNamespaces = ['globex', 'globex-build'] as const
const namespaces = [...tenantNamespaces, 'sekisho-system', 'tools'] as const
const value = Buffer.from('the value').toString('base64')

let cluster: AttackCluster
let authorizer: DrainedServer | undefined
let access: AccessFiles | undefined
const registry = new Registry()
let served = ''
const { answered } = createAuthorizerMetrics(registry, () => served)
const folder = mkdtempSync(join(tmpdir(), 'authorizer-'))

function write(file: 'readers' | 'namespaces', text: string): void {
  writeFileSync(join(folder, `${file}.new`), text)
  renameSync(join(folder, `${file}.new`), join(folder, file))
}

async function startAuthorizer(): Promise<void> {
  const authority = await openAuthority(dirname(cluster.authorityFile), 'ca', 'sekisho-dev-ca')
  const leaf = await authority.leaf('authorizer', { commonName: 'authorizer', usage: 'server', names: ['authorizer.test'] })
  served = readFileSync(leaf.certificate, 'utf8')
  const certificate = createCertificate({
    certificate: served,
    privateKey: new SecretString(readFileSync(leaf.key, 'utf8')),
    clientAuthorities: cluster.clientAuthorities,
  })
  access = accessFromFiles(folder, { log: silentLog })
  const deps = { clock: systemClock, log: silentLog, address, certificate, clientNames: ['kube-apiserver'], answered }
  authorizer = createAuthorizerApp({ ...deps, access: access.current })
  await authorizer.start()
}

async function stopAuthorizer(): Promise<void> {
  access?.stop()
  await authorizer?.stop()
  authorizer = undefined
}

async function secret(namespace: string, secretName: string): Promise<void> {
  const object = { apiVersion: 'v1', kind: 'Secret', metadata: { name: secretName }, data: { key: value } }
  await cluster.admin.call('POST', `/api/v1/namespaces/${namespace}/secrets`, object)
}

async function bind(namespace: string, role: Role): Promise<void> {
  await cluster.admin.call('POST', `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: role },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'ServiceAccount', name: role, namespace: 'tools' }],
  })
}

const holder = (role: string) => ({
  user: `system:serviceaccount:tools:${role}`,
  groups: ['system:serviceaccounts', 'system:serviceaccounts:tools', 'system:authenticated'],
})

function ask(role: string, method: string, path: string, more: { body?: unknown; type?: string } = {}): Promise<Reply> {
  return cluster.send(holder(role), { method, path, ...more })
}

beforeAll(async () => {
  const server = `https://${address.host}:${address.port}`
  cluster = await startAttackCluster({ name, authorizer: { server, serverName: 'authorizer.test', unasked: [adminUser] } })
  write('namespaces', 'tools')
  await startAuthorizer()
  const { admin } = cluster
  for (const namespace of namespaces) {
    await admin.call('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
    await secret(namespace, 'plain')
    for (const role of roles) await bind(namespace, role)
  }
  for (const namespace of tenantNamespaces) for (const one of reserved) await secret(namespace, one)
  await secret('globex-build', 'build-secrets-1')
  await secret('sekisho-system', 'github-app-key')
  await admin.call('POST', '/api/v1/namespaces/sekisho-system/configmaps', {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'sekisho-settings' },
    data: {},
  })
  for (const role of roles)
    await waitUntil(`${role} is bound`, async () => (await ask(role, 'GET', pods('tools'))).status === 200 || undefined)
})
afterAll(async () => {
  await stopAuthorizer()
  await cluster?.stop()
  rmSync(folder, { recursive: true, force: true })
})

const pods = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`
const secretsOf = (namespace: string): string => `/api/v1/namespaces/${namespace}/secrets`

/** Every request that shows what a Secret holds (docs of Kubernetes: API concepts, dry run), as one would send it. */
function readsOf(namespace: string, secretName: string): readonly (readonly [label: string, ...Parameters<typeof ask>])[] {
  const at = `${secretsOf(namespace)}/${secretName}`
  const whole = { apiVersion: 'v1', kind: 'Secret', metadata: { name: secretName } }
  return (['edit', 'admin'] as const).flatMap(role => [
    ['get', role, 'GET', at] as const,
    ['list of one', role, 'GET', `${secretsOf(namespace)}?fieldSelector=metadata.name%3D${secretName}`] as const,
    ['watch of one', role, 'GET', `${secretsOf(namespace)}?watch=1&fieldSelector=metadata.name%3D${secretName}`] as const,
    ['old watch', role, 'GET', `/api/v1/watch/namespaces/${namespace}/secrets/${secretName}`] as const,
    ['patch', role, 'PATCH', `${at}?dryRun=All`, { body: {} }] as const,
    ['apply', role, 'PATCH', `${at}?dryRun=All&fieldManager=x`, { body: whole, type: 'application/apply-patch+yaml' }] as const,
    ['update', role, 'PUT', `${at}?dryRun=All`, { body: whole }] as const,
    ['delete', role, 'DELETE', `${at}?dryRun=All&propagationPolicy=Foreground`] as const,
  ])
}

function expectDenied(reply: Reply, label: string): void {
  expect([reply.status, reply.message], label).toEqual([403, expect.stringContaining('docs/guide/authorizer.md')])
  expect(JSON.stringify(reply.body), label).not.toContain(value)
}

describe('holders of edit and admin', () => {
  test.each(tenantNamespaces.flatMap(namespace => reserved.map(one => [namespace, one] as const)))(
    'read nothing of %s/%s, by no verb',
    async (namespace, one) => {
      for (const [label, ...sent] of readsOf(namespace, one)) expectDenied(await ask(...sent), `${sent[0]}: ${label}`)
    },
  )

  test('read no values of builds and no Secret of the platform, whatever its name', async () => {
    for (const [namespace, one] of [
      ['globex-build', 'build-secrets-1'],
      ['sekisho-system', 'github-app-key'],
      ['sekisho-system', 'plain'],
    ] as const)
      for (const [label, ...sent] of readsOf(namespace, one)) expectDenied(await ask(...sent), `${one} ${sent[0]}: ${label}`)
  })

  test.each(['edit', 'admin'])('%s cannot list, watch or delete all Secrets of a tenant', async role => {
    for (const namespace of tenantNamespaces)
      for (const query of ['', '?watch=1', '?labelSelector=a%21%3Db', '?fieldSelector=metadata.name%21%3Dplain', '?limit=1'])
        expectDenied(await ask(role, 'GET', `${secretsOf(namespace)}${query}`), `${namespace}${query}`)
    expectDenied(await ask(role, 'DELETE', `${secretsOf('globex')}?dryRun=All`), 'deletecollection')
    const one = '?dryRun=All&fieldSelector=metadata.name%3Dplain'
    expectDenied(await ask(role, 'DELETE', `${secretsOf('globex')}${one}`), 'the API server names no object in it')
  })

  test.each(['edit', 'admin'])('%s cannot make the authorizer fail by what the request contains', async role => {
    const selector = Array.from({ length: 20_000 }, (_, index) => `k${index}`).join(',')
    const { status, message } = await ask(role, 'GET', `${secretsOf('globex')}?labelSelector=${selector}`)
    expect([status, message]).toEqual([403, expect.stringContaining('too long selectors')])
  })

  test.each(['edit', 'admin'])('%s cannot become who may read', async role => {
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'sekisho-controllers' } }
    await cluster.admin.request('POST', '/api/v1/namespaces/sekisho-system/serviceaccounts', account)
    const review = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: {
        resourceAttributes: {
          verb: 'impersonate',
          resource: 'serviceaccounts',
          namespace: 'sekisho-system',
          name: 'sekisho-controllers',
        },
      },
    }
    const { body } = await ask(role, 'POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { body: review })
    expect(body).toMatchObject({ status: { allowed: false, denied: true, reason: expect.stringContaining('acts in that name') } })
    const token = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
    const path = '/api/v1/namespaces/sekisho-system/serviceaccounts/sekisho-controllers/token'
    const { status, message } = await ask(role, 'POST', path, { body: token })
    expect([status, message]).toEqual([403, expect.stringContaining('tokens of the ServiceAccount')])
  })

  test.each(['edit', 'admin'])('%s still reads its other Secrets, and lists them where nothing is the platform’s', async role => {
    for (const namespace of ['globex', 'tools'])
      expect((await ask(role, 'GET', `${secretsOf(namespace)}/plain`)).status).toBe(200)
    expect((await ask(role, 'GET', secretsOf('tools'))).status).toBe(200)
    expect((await ask(role, 'PATCH', `${secretsOf('globex')}/plain?dryRun=All`, { body: {} })).status).toBe(200)
  })
})

test.each(['edit', 'admin'])('%s opens the wall by nothing in the namespace of the platform', async role => {
  const at = '/api/v1/namespaces/sekisho-system'
  const spec = { containers: [{ name: 'x', image: 'x', envFrom: [{ secretRef: { name: 'github-app-key' } }] }] }
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'attack' }, spec }
  const token = { 'kubernetes.io/service-account.name': 'default' }
  const type = 'kubernetes.io/service-account-token'
  const attempts: readonly (readonly [method: string, path: string, body: unknown])[] = [
    ['POST', `${at}/pods?dryRun=All`, pod],
    ['POST', `${at}/secrets?dryRun=All`, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x', annotations: token }, type }],
    ['PATCH', `${at}/configmaps/sekisho-authorizer-access?dryRun=All`, { data: { readers: `ServiceAccount tools/${role}` } }],
    [
      'PATCH',
      '/apis/apps/v1/namespaces/sekisho-system/deployments/sekisho-authorizer/scale?dryRun=All',
      { spec: { replicas: 0 } },
    ],
    ['DELETE', '/apis/apps/v1/namespaces/sekisho-system/deployments/sekisho-authorizer?dryRun=All', undefined],
    ['DELETE', `${at}/pods?dryRun=All`, undefined],
    ['DELETE', `${at}/services/sekisho-authorizer?dryRun=All`, undefined],
  ]
  for (const [method, path, body] of attempts) expectDenied(await ask(role, method, path, { body }), `${method} ${path}`)
})

test.each(roles)('a holder of %s reads nothing in the namespace of the platform, and goes on in others', async role => {
  for (const path of ['pods', 'configmaps', 'configmaps/sekisho-settings', 'events', 'services', 'pods?watch=1'])
    expectDenied(await ask(role, 'GET', `/api/v1/namespaces/sekisho-system/${path}`), path)
  for (const path of ['pods', 'configmaps', 'events']) {
    expect((await ask(role, 'GET', `/api/v1/namespaces/globex/${path}`)).status, path).toBe(200)
  }
})

test('a right that is given or taken counts at the next request, with the reason before', async () => {
  const read = async () => (await ask('edit', 'GET', `${secretsOf('globex')}/appsecret-shop`)).status
  expect(await read()).toBe(403)
  write('readers', 'ServiceAccount tools/edit')
  await waitUntil('edit reads', async () => (await read()) === 200 || undefined)
  expect((await ask('admin', 'GET', `${secretsOf('globex')}/appsecret-shop`)).status).toBe(403)
  write('readers', '')
  await waitUntil('edit is denied', async () => (await read()) === 403 || undefined)
  // Nothing is kept at the API server either: it was allowed a moment ago.
  expect(await read()).toBe(403)
})

test('kubectl auth can-i says why', async () => {
  const resourceAttributes = { verb: 'get', resource: 'secrets', namespace: 'globex', name: 'appsecret-shop' }
  const body = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes },
  }
  const reply = await ask('edit', 'POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { body })
  expect(reply.body).toMatchObject({
    status: { allowed: false, denied: true, reason: expect.stringContaining('the Secret appsecret-shop is the platform’s') },
  })
})

/** Kubernetes' own controllers list and delete what is in it. */
async function namespaceEnds(which: string): Promise<void> {
  const { admin } = cluster
  await admin.call('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: which } })
  await secret(which, 'appsecret-shop')
  await admin.call('DELETE', `/api/v1/namespaces/${which}`)
  const gone = async () => (await admin.request('GET', `/api/v1/namespaces/${which}`)).status === 404 || undefined
  await waitUntil(`${which} ends`, gone, { timeoutMilliseconds: limits.rollout })
}

test('Kubernetes’ own controllers go on', async () => {
  await namespaceEnds('ended-with')
})

test('without the authorizer RBAC decides, the cluster goes on, and the wall is back with it', async () => {
  await stopAuthorizer()
  try {
    const { status, body } = await ask('edit', 'GET', `${secretsOf('globex')}/appsecret-shop`)
    expect(status).toBe(200)
    expect(body).toMatchObject({ data: { key: value } })
    // Of what RBAC does not allow the API server then says that it could not ask: 500 instead of 403.
    const refused = await ask('view', 'GET', `${secretsOf('globex')}/appsecret-shop`)
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([500, expect.not.stringContaining(value)])
    expect((await ask('edit', 'GET', secretsOf('tools'))).status).toBe(200)
    await namespaceEnds('ended-without')
  } finally {
    await startAuthorizer()
  }
  const denied = async () => (await ask('edit', 'GET', `${secretsOf('globex')}/appsecret-shop`)).status === 403 || undefined
  await waitUntil('the wall', denied)
})
