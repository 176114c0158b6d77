// Offices that only read, on a real API server: an auditor of the platform, one of a tenant, and programs by the tokens of their
// ServiceAccounts. What they read of the log, what else they read in the cluster, and what they never can.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { AdminClient } from '../../dev/cluster/control-plane/admin-client.ts'
import { groups, labels } from '../../src/api/names.ts'
import { KubeError } from '../../src/kube/client/errors.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { type Impersonation, impersonation } from '../attack/impersonation.ts'
import { type BrokerEnvironment, bringOrganization, startBrokerEnvironment } from '../fixtures/broker-fixture.ts'
import { testAdmin, testKubeconfig } from '../fixtures/harness.ts'
import { apiCall, kubectlLogin } from '../fixtures/kubectl-login.ts'
import { type Finished, runSekisho } from '../fixtures/run-sekisho.ts'

const rbac = '/apis/rbac.authorization.k8s.io/v1'
const apiGroup = 'rbac.authorization.k8s.io'
const suffix = process.pid.toString(36)
const other = `auditors-other-${suffix}`
const siem = `auditors-siem-${suffix}`
const reviews = ['SubjectAccessReview', 'TokenReview', 'Namespace']

let environment: BrokerEnvironment
let admin: AdminClient
let api: Impersonation
let own: string
let isAway = false

type Subject = { readonly kind: 'User' | 'ServiceAccount'; readonly name: string; readonly namespace?: string }

async function bind(role: string, subject: Subject, namespace?: string): Promise<string> {
  const kind = namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding'
  const path = namespace === undefined ? `${rbac}/clusterrolebindings` : `${rbac}/namespaces/${namespace}/rolebindings`
  const name = `auditors-${suffix}-${subject.name.replaceAll(/[^a-z0-9]/g, '-')}`
  await admin.call('POST', path, {
    ...{ apiVersion: `${apiGroup}/v1`, kind, metadata: { name } },
    roleRef: { apiGroup, kind: 'ClusterRole', name: role },
    subjects: [subject.kind === 'User' ? { apiGroup, ...subject } : subject],
  })
  return `${path}/${name}`
}

async function account(namespace: string, name: string): Promise<Subject> {
  const manifest = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } }
  await admin.call('POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, manifest)
  return { kind: 'ServiceAccount', namespace, name }
}

async function tokenOf({ namespace, name }: Subject, audience = 'sekisho-audit', seconds = 3600): Promise<string> {
  const spec = { audiences: [audience], expirationSeconds: seconds }
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec }
  return ((await admin.call('POST', path, request)) as { readonly status: { readonly token: string } }).status.token
}

const personToken = async (login: string): Promise<string> =>
  (await kubectlLogin(environment, (await environment.signIn(login)).browser, login)).id_token ?? ''

const ask = (token: string, path: string, body?: object) => apiCall(environment, { id_token: token }, `/api/v1${path}`, body)

/** Asks again until it is so, at a pace that the limit of an address allows. */
const until = (what: string, is: () => Promise<boolean>) =>
  waitUntil(what, () => {
    environment.advance(0.25)
    return is()
  })

async function namespacesIn(token: string, query = ''): Promise<readonly string[] | number> {
  const { status, body } = await ask(token, `/audit?limit=1000${query}`)
  const entries = body['entries'] as readonly { readonly namespace?: string }[] | undefined
  return entries === undefined ? status : [...new Set(entries.flatMap(({ namespace }) => namespace ?? []))].sort()
}

beforeAll(async () => {
  admin = await testAdmin()
  api = await impersonation(testKubeconfig())
  environment = await startBrokerEnvironment({
    platformAdmins: ['olivia'],
    client: client => ({
      ...client,
      create: (type, object, options) => {
        if (isAway && reviews.includes(type.kind)) throw new KubeError('away', { status: 503, reason: 'Unreachable' })
        return client.create(type, object, options)
      },
      get: (type, key) => {
        if (isAway && reviews.includes(type.kind)) throw new KubeError('away', { status: 503, reason: 'Unreachable' })
        return client.get(type, key)
      },
    }),
  })
  await bringOrganization(environment)
  own = environment.organization.login
  for (const [name, marks] of [
    [other, { [labels.tenant]: other }],
    [siem, {}],
  ] as const)
    await admin.call('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: marks } })
  const record = { action: 'grant.decided', actor: 'sekisho:test', object: 'x', outcome: 'allowed', reason: 'r' } as const
  for (const namespace of [own, other]) await environment.store.audit.append({ ...record, namespace, details: {} })
})
afterAll(async () => {
  for (const name of [other, siem]) await admin.request('DELETE', `/api/v1/namespaces/${name}`)
  await api?.close()
  await environment?.stop()
})

const writes: readonly (readonly [string, object])[] = [
  ['/audit/acknowledge', { reason: 'because', statements: [] }],
  ['/audit/prune', { reason: 'because', statement: 'x' }],
]

describe('an auditor of the platform', () => {
  let token: string
  let binding: string
  beforeAll(async () => {
    // Noah has no role in a tenant: the binding alone lets him sign in.
    binding = await bind('sekisho:auditor', { kind: 'User', name: environment.subjectOf('noah') })
    token = await waitUntil('a token', async () => (await personToken('noah')) || undefined)
  })
  afterAll(() => admin.call('DELETE', binding))

  test('reads the whole log, its head and its checkpoints, and changes nothing', async () => {
    expect(await namespacesIn(token)).toEqual(expect.arrayContaining([own, other]))
    expect(await namespacesIn(token, `&namespace=${other}`)).toEqual([other])
    for (const path of ['/audit/head', '/audit/checkpoints', '/audit/stream', '/audit/names?person=olivia'])
      expect((await environment.fetch(`${environment.url}/api/v1${path}`, bearer(token))).status, path).toBe(200)
    expect((await ask(token, '/whoami')).body).toMatchObject({ platformAdmin: false, auditor: true, tenants: [] })
    for (const [path, body] of writes) expect((await ask(token, path, body)).status, path).toBe(403)
    expect((await ask(token, '/sessions')).status).toBe(403)
  })

  test('reads in the cluster what decides about access, and nothing else', async () => {
    const noah = { user: environment.subjectOf('noah'), groups: ['system:authenticated'] }
    const github = '/apis/github.sekisho.dev/v1alpha1'
    const inOwn = `/api/v1/namespaces/${own}`
    const readable = [
      '/apis/tenancy.sekisho.dev/v1alpha1/tenants',
      `${github}/repositorygrants`,
      `${github}/installations`,
      `${github}/halts`,
      '/apis/apps.sekisho.dev/v1alpha1/previewapprovals',
    ]
    for (const path of readable) expect((await api.as(noah, 'GET', path)).status, path).toBe(200)
    const checkpoints = `/api/v1/namespaces/sekisho-system/configmaps/sekisho-audit-checkpoints`
    expect([200, 404]).toContain((await api.as(noah, 'GET', checkpoints)).status)
    const closed = [
      ...['secrets', 'secrets/x', 'pods', 'pods/x/log', 'configmaps', 'configmaps/x', 'serviceaccounts'].map(
        one => `${inOwn}/${one}`,
      ),
      '/api/v1/namespaces/sekisho-system/configmaps',
      '/api/v1/namespaces/sekisho-system/secrets',
      `/apis/apps.sekisho.dev/v1alpha1/namespaces/${own}/applications`,
      `/apis/apps.sekisho.dev/v1alpha1/namespaces/${own}/appsecrets`,
    ]
    for (const path of closed) expect((await api.as(noah, 'GET', path)).status, path).toBe(403)
    const grants = `${github}/namespaces/${own}/repositorygrants`
    const halts = `${github}/namespaces/sekisho-system/halts`
    for (const path of [grants, halts]) expect((await api.as(noah, 'POST', path, {})).status, path).toBe(403)
    for (const path of [`${grants}/x`, `${halts}/x`, `/apis/tenancy.sekisho.dev/v1alpha1/tenants/${own}`])
      for (const method of ['PATCH', 'DELETE']) expect((await api.as(noah, method, path, {})).status, path).toBe(403)
  })

  test('reads nothing while the API server is away', async () => {
    isAway = true
    environment.advance(11)
    const asked = [
      '/audit',
      `/audit?namespace=${own}`,
      '/audit/stream',
      '/audit/head',
      '/audit/checkpoints',
      '/audit/names?person=x',
    ]
    for (const path of asked) {
      const { status, body } = await ask(token, path)
      expect([status, Object.keys(body)], path).toEqual([503, ['error']])
    }
    isAway = false
    expect((await ask(token, '/audit')).status).toBe(200)
  })
})

test('an auditor of a tenant reads its log and its grants, and nothing of others or of its applications', async () => {
  const token = await personToken('mia')
  expect(await namespacesIn(token)).toBe(404)
  // As the Tenant controller binds the role.
  const binding = await bind('sekisho:tenant-auditor', { kind: 'User', name: environment.subjectOf('mia') }, own)
  await until('the right', async () => (await namespacesIn(token)) !== 404)
  for (const query of ['', `&namespace=${own}`]) expect(await namespacesIn(token, query)).toEqual([own])
  for (const query of [`&namespace=${other}`, '&namespace=kube-system']) expect(await namespacesIn(token, query)).toBe(404)
  for (const path of ['/audit/head', '/audit/checkpoints']) expect((await ask(token, path)).status, path).toBe(404)
  const mia = {
    user: environment.subjectOf('mia'),
    groups: [groups.members(environment.host, environment.organization.id), 'system:authenticated'],
  }
  const grants = (namespace: string) => `/apis/github.sekisho.dev/v1alpha1/namespaces/${namespace}/repositorygrants`
  expect((await api.as(mia, 'GET', grants(own))).status).toBe(200)
  expect((await api.as(mia, 'GET', grants(other))).status).toBe(403)
  for (const resource of ['secrets', 'pods', 'pods/x/log', 'configmaps'])
    expect((await api.as(mia, 'GET', `/api/v1/namespaces/${own}/${resource}`)).status, resource).toBe(403)
  await admin.call('DELETE', binding)
  environment.advance(11)
  await until('the right is gone', async () => (await namespacesIn(token)) === 404)
})

test('a person without a role in any tenant, whom a binding makes an auditor of the platform, sees all tenants on the pages', async () => {
  const { browser } = await environment.signIn('noah')
  const status = async (path: string) => (await browser.open(`${environment.url}${path}`)).status
  for (const path of ['/tenants', `/tenants/${own}`]) expect(await status(path), path).toBe(404)
  const binding = await bind('sekisho:auditor', { kind: 'User', name: environment.subjectOf('noah') })
  // A test that fails leaves nothing to the next one.
  onTestFinished(async () => void (await admin.request('DELETE', binding)))
  await until('the right', async () => (await status('/tenants')) === 200)
  const listed = async (query: string) => (await browser.open(`${environment.url}/tenants${query}`)).text
  for (const query of ['', `?name=${own}`]) expect(await listed(query)).toContain(`href="/tenants/${own}"`)
  expect(await listed('?name=nobody')).not.toContain(`href="/tenants/${own}"`)
  // What the role has of a tenant: its Installations and grants, and nothing that runs.
  await until('the page of a tenant', async () => (await status(`/tenants/${own}`)) === 200)
  expect((await browser.open(`${environment.url}/tenants/${own}`)).text).not.toContain('id="applications"')
  await admin.call('DELETE', binding)
  // Groups are remembered for a minute.
  environment.advance(61)
  await until('the right is gone', async () => (await status('/tenants')) === 404)
  expect(await status(`/tenants/${own}`)).toBe(404)
})

test('a person whom a binding by hand alone makes an auditor of a tenant reads the pages of its namespace, and gets no token', async () => {
  const { browser } = await environment.signIn('noah')
  const status = async (path: string) => (await browser.open(`${environment.url}${path}`)).status
  const paths = ['/audit', '/access', '/tokens']
  for (const path of paths)
    for (const query of ['', `?namespace=${own}`]) expect(await status(`${path}${query}`), path + query).toBe(403)
  const binding = await bind('sekisho:tenant-auditor', { kind: 'User', name: environment.subjectOf('noah') }, own)
  await until('the right', async () => (await status(`/audit?namespace=${own}`)) === 200)
  const list = await browser.open(`${environment.url}/audit?namespace=${own}`)
  const [link = ''] = /\/audit\/\d+\?namespace=[a-z0-9-]+/.exec(list.text) ?? []
  for (const path of [...paths.map(one => `${one}?namespace=${own}`), link]) expect(await status(path), path).toBe(200)
  for (const path of paths)
    for (const query of ['', `?namespace=${other}`, '?namespace=kube-system'])
      expect(await status(`${path}${query}`), path + query).toBe(403)
  await expect(kubectlLogin(environment, browser, 'noah')).rejects.toThrow(/access_denied.*no(\+|%20)role/)
  await admin.call('DELETE', binding)
  environment.advance(11)
  await until('the right is gone', async () => (await status(`/audit?namespace=${own}`)) === 403)
})

describe('a program with the token of a ServiceAccount', () => {
  let exporter: Subject
  let binding: string
  beforeAll(async () => {
    exporter = await account(siem, 'exporter')
    binding = await bind('sekisho:auditor', exporter)
    const token = await tokenOf(exporter)
    await until('the right', async () => (await namespacesIn(token)) !== 404)
  })
  afterAll(() => admin.call('DELETE', binding))

  test('reads the whole log, and no other route takes its token', async () => {
    const token = await tokenOf(exporter)
    expect(await namespacesIn(token)).toEqual(expect.arrayContaining([own, other]))
    for (const path of ['/audit/head', '/audit/checkpoints', '/audit/stream', '/audit/names?person=olivia'])
      expect((await environment.fetch(`${environment.url}/api/v1${path}`, bearer(token))).status, path).toBe(200)
    for (const path of ['/whoami', '/cluster', '/sessions', '/onboardings'])
      expect((await ask(token, path)).status, path).toBe(401)
    for (const [path, body] of writes) expect((await ask(token, path, body)).status, path).toBe(401)
  })

  test('is refused with a token for another audience, a changed one, and one that lives too long', async () => {
    const good = await tokenOf(exporter)
    const refused = [
      await tokenOf(exporter, 'sekisho'),
      await tokenOf(exporter, 'https://kubernetes.default.svc'),
      await tokenOf(exporter, 'sekisho-audit', 172_800),
      `${good.slice(0, -40)}${'A'.repeat(40)}`,
    ]
    for (const [index, token] of refused.entries()) expect(await namespacesIn(token), String(index)).toBe(401)
  })

  test('is refused when its ServiceAccount was deleted, also when there is a new one of that name', async () => {
    const short = await account(siem, 'short')
    const bound = await bind('sekisho:auditor', short)
    const token = await tokenOf(short)
    await until('the right', async () => (await namespacesIn(token)) !== 404)
    await admin.call('DELETE', `/api/v1/namespaces/${siem}/serviceaccounts/short`)
    // The API server remembers an answer about a token for ten seconds.
    await until('the token ends', async () => (await namespacesIn(token)) === 401)
    await account(siem, 'short')
    expect(await namespacesIn(token)).toBe(401)
    await admin.call('DELETE', bound)
  })

  test('of a tenant reads what its namespace allows, and no more when somebody binds it in the cluster', async () => {
    const reader = await account(own, 'reader')
    const token = await tokenOf(reader)
    expect(await namespacesIn(token)).toBe(404)
    const inOwn = await bind('sekisho:tenant-auditor', reader, own)
    await until('the right', async () => (await namespacesIn(token)) !== 404)
    expect(await namespacesIn(token)).toEqual([own])
    const inCluster = await bind('sekisho:auditor', reader)
    const inOther = await bind('sekisho:tenant-auditor', reader, other)
    const user = `system:serviceaccount:${own}:reader`
    const everywhere = { user, resourceAttributes: { group: 'sekisho.dev', resource: 'auditentries', verb: 'list' } }
    const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec: everywhere }
    const allowed = async () => {
      const answer = await admin.call('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', review)
      return (answer as { readonly status: { readonly allowed: boolean } }).status.allowed
    }
    await waitUntil('RBAC allows more', allowed)
    environment.advance(11)
    for (const query of ['', `&namespace=${own}`]) expect(await namespacesIn(token, query)).toEqual([own])
    expect(await namespacesIn(token, `&namespace=${other}`)).toBe(404)
    expect((await ask(token, '/audit/head')).status).toBe(404)
    for (const path of [inCluster, inOther, inOwn]) await admin.call('DELETE', path)
    await admin.call('DELETE', `/api/v1/namespaces/${own}/serviceaccounts/reader`)
  })

  test('reads nothing while the API server is away', async () => {
    const token = await tokenOf(exporter)
    isAway = true
    environment.advance(11)
    expect((await ask(token, '/audit')).status).toBe(503)
    isAway = false
  })

  test('exports, verifies and asks by the command without a login, and the token is nowhere but in its file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sekisho-auditors-'))
    const file = join(folder, 'token')
    await writeFile(join(folder, 'ca.pem'), environment.certificateAuthority)
    const token = await tokenOf(exporter)
    await writeFile(file, `${token}\n`)
    const sekisho = (...args: readonly string[]) => command(folder, [...args, '--token-file', file])
    const exported = await sekisho('audit', 'export')
    expect(exported).toMatchObject({ code: 0 })
    await writeFile(join(folder, 'audit.jsonl'), exported.out)
    expect((await command(folder, ['audit', 'verify', '--export', join(folder, 'audit.jsonl')])).code).toBe(0)
    const listed = await sekisho('audit', 'list', '--namespace', other, '-o', 'json')
    expect(JSON.parse(listed.out)).toMatchObject([{ namespace: other, action: 'grant.decided' }])
    const answers = [
      await sekisho('audit', 'verify'),
      await sekisho('access', 'workload', `${own}/ci`, '--since', '1d', '-o', 'json'),
      await sekisho('tokens', 'list', '-o', 'json'),
    ]
    expect(answers.map(({ code, err }) => [code, code === 0 ? '' : err])).toEqual([
      [0, ''],
      [0, ''],
      [0, ''],
    ])
    expect(await sekisho('tokens', 'show', 'none')).toMatchObject({ err: expect.stringContaining('has the id none') })
    const wrong = await tokenOf(exporter, 'sekisho')
    await writeFile(file, wrong)
    const refused = await sekisho('audit', 'list')
    for (const args of [
      ['audit', 'verify'],
      ['access', 'workload', `${own}/ci`],
      ['tokens', 'list'],
      ['tokens', 'show', 'none'],
    ])
      expect(await sekisho(...args), args.join(' ')).toMatchObject({ code: 3, out: '', err: refused.err })
    expect(refused).toMatchObject({ code: 3, out: '', err: expect.stringContaining('have the audience sekisho-audit') })
    await writeFile(file, 'not a token')
    const unread = await sekisho('audit', 'list')
    expect(unread).toMatchObject({ out: '', err: expect.stringContaining(`does not contain a token: ${file}`) })
    for (const { out, err } of [exported, listed, ...answers, refused, unread])
      for (const secret of [token, wrong, 'not a token ']) expect(out + err).not.toContain(secret)
    await rm(folder, { recursive: true })
  })
})

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })

/** The CLI with its own home, which has no login. */
const command = (home: string, args: readonly string[]): Promise<Finished> =>
  runSekisho(args, { HOME: home, SEKISHO_ISSUER: environment.url, SEKISHO_CA_FILE: join(home, 'ca.pem') })
