// The closed roles of tenants, tried by whoever holds them: the real ClusterRoles and RoleBindings on a real API server, and
// requests with tokens that this API server issued to each of them. Nobody is impersonated, and nobody here has more than a
// tenant role. Every resource that the API server knows is read in every form; then come the attacks.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Agent, fetch } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import type { AdminClient, Manifest } from '../../dev/cluster/control-plane/admin-client.ts'
import { readKubeconfig } from '../../dev/cluster/control-plane/kubeconfig.ts'
import { grantPolicy } from '../../src/api/github/grant-policy.ts'
import { labels, tenantRoles } from '../../src/api/names.ts'
import { tenantRoleRules } from '../../src/api/tenancy/tenant-roles.ts'
import { priorityQuota } from '../../src/controllers/tenant/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { testAdmin, testKubeconfig } from '../fixtures/harness.ts'
import { tenantRoleAttacks } from './tenant-role-attacks.ts'
import { type Call, container, namespaced, object } from './tenant-role-requests.ts'

type Answer = { readonly status: number; readonly message: string; readonly text: string }
const tenant = `roles-${process.pid.toString(36)}`
const stranger = `${tenant}-other`
const people = `${tenant}-people`
const canary = Buffer.from(`canary of ${tenant}`).toString('base64')
const roleOf = new Map<string, string | undefined>([
  ['viewer', tenantRoles.viewer],
  ['developer', tenantRoles.developer],
  ['admin', tenantRoles.admin],
  ['auditor', tenantRoles.auditor],
  ['outsider', undefined],
])
/** The holders of the roles, an outsider, and the ServiceAccount under which pods of the tenant run. */
const identities = [...roleOf.keys(), 'workload']

let admin: AdminClient
let server = ''
let agent: Agent
const tokens = new Map<string, string>()

async function send(who: string, { method, path, body, type, accept }: Call): Promise<Answer> {
  const contentType = type ?? (method === 'PATCH' ? 'application/merge-patch+json' : 'application/json')
  const response = await fetch(new URL(path, server), {
    method,
    dispatcher: agent,
    headers: {
      authorization: `Bearer ${tokens.get(who)}`,
      accept: accept ?? 'application/json',
      ...(body === undefined ? {} : { 'content-type': contentType }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const parsed: unknown =
    text.startsWith('{') && response.headers.get('content-type')?.includes('json') ? tryParse(text) : undefined
  const message = typeof parsed === 'object' && parsed !== null && 'message' in parsed ? String(parsed.message) : ''
  return { status: response.status, message, text }
}

/** A watch answers with several documents. */
function tryParse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const restricted = { 'pod-security.kubernetes.io/enforce': 'restricted' }

async function makeNamespace(name: string, marks: Readonly<Record<string, string>> = {}): Promise<void> {
  await admin.call('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: marks } })
}

async function makeIdentity(namespace: string, name: string): Promise<string> {
  await admin.call('POST', namespaced(namespace, 'serviceaccounts'), {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name },
  })
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3600 } }
  const issued = (await admin.call('POST', namespaced(namespace, 'serviceaccounts', `/${name}/token`), request)) as {
    readonly status: { readonly token: string }
  }
  return issued.status.token
}

beforeAll(async () => {
  admin = await testAdmin()
  const access = await readKubeconfig(testKubeconfig())
  server = access.server
  agent = new Agent({ connect: access.certificateAuthority === undefined ? {} : { ca: access.certificateAuthority } })
  const file = join(import.meta.dirname, '../../deploy/rbac/tenant-roles.yaml')
  for (const document of parseAllDocuments(readFileSync(file, 'utf8'))) {
    const role = document.toJS() as Manifest
    await admin.apply(`/apis/rbac.authorization.k8s.io/v1/clusterroles/${String(role.metadata['name'])}`, role)
  }
  await makeNamespace(tenant, { ...restricted, [labels.tenant]: tenant })
  await makeNamespace(stranger, { ...restricted, [labels.tenant]: stranger })
  await makeNamespace(people)
  for (const [name, role] of roleOf) {
    tokens.set(name, await makeIdentity(people, name))
    if (role === undefined) continue
    await admin.call('POST', `/apis/rbac.authorization.k8s.io/v1/namespaces/${tenant}/rolebindings`, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: role },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: [{ kind: 'ServiceAccount', namespace: people, name }],
    })
  }
  tokens.set('workload', await makeIdentity(tenant, 'workload'))
  for (const namespace of [tenant, stranger]) {
    const metadata = { name: 'canary' }
    await admin.call('POST', namespaced(namespace, 'secrets'), { apiVersion: 'v1', kind: 'Secret', metadata, data: { canary } })
    await admin.call('POST', namespaced(namespace, 'configmaps'), {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata,
      data: { a: '1' },
    })
  }
  await waitUntil(
    'the roles to be in effect',
    async () => (await send('viewer', { method: 'GET', path: namespaced(tenant, 'configmaps') })).status === 200,
  )
})

afterAll(async () => {
  for (const name of [tenant, stranger, people]) await admin.call('DELETE', `/api/v1/namespaces/${name}`)
  await agent.close()
})

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const metadataOnly =
  'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'

/** Every form of reading a collection that the API offers. */
function readsOf(collection: string): readonly Call[] {
  const get = (query: string, accept?: string): Call => ({
    method: 'GET',
    path: `${collection}${query}`,
    ...(accept ? { accept } : {}),
  })
  return [
    get(''),
    get('?limit=1'),
    get('?resourceVersion=0&resourceVersionMatch=NotOlderThan'),
    get('?fieldSelector=metadata.name%3Dcanary'),
    get('?labelSelector=a%3Db'),
    get('', table),
    get('', metadataOnly),
    get('?watch=true&timeoutSeconds=1&resourceVersion=0'),
    get('/canary'),
    get('/canary', table),
    get('/canary', metadataOnly),
  ]
}

describe('reads, of every resource that the API server has', () => {
  type Resource = { readonly base: string; readonly group: string; readonly plural: string; readonly isNamespaced: boolean }

  async function everyResource(): Promise<readonly Resource[]> {
    const groups = (await admin.call('GET', '/apis')) as {
      readonly groups: readonly { readonly name: string; readonly versions: readonly { readonly groupVersion: string }[] }[]
    }
    const bases = [
      { base: '/api/v1', group: '' },
      ...groups.groups.flatMap(({ name, versions }) =>
        versions.map(({ groupVersion }) => ({ base: `/apis/${groupVersion}`, group: name })),
      ),
    ]
    const found = await Promise.all(
      bases.map(async ({ base, group }) => {
        const { resources } = (await admin.call('GET', base)) as {
          readonly resources: readonly {
            readonly name: string
            readonly namespaced: boolean
            readonly verbs: readonly string[]
          }[]
        }
        return resources
          .filter(({ name, verbs }) => !name.includes('/') && verbs.includes('list'))
          .map(({ name, namespaced: isNamespaced }) => ({ base, group, plural: name, isNamespaced }))
      }),
    )
    return found.flat()
  }

  test.each(identities)('%s reads exactly what the role names, in the own namespace', async who => {
    const resources = await everyResource()
    expect(resources.length).toBeGreaterThan(40)
    const rules = tenantRoleRules().get(roleOf.get(who) ?? '') ?? []
    const mayRead = ({ group, plural }: Resource) =>
      rules.some(rule => rule.apiGroups.includes(group) && rule.resources.includes(plural) && rule.verbs.includes('list'))
    const wrong: string[] = []
    const expectAll = async (calls: readonly Call[], allowed: boolean): Promise<void> => {
      const answers = await Promise.all(calls.map(call => send(who, call)))
      for (const [index, { status }] of answers.entries()) {
        const right = allowed ? [200, 404, 406].includes(status) : status === 403
        if (!right) wrong.push(`${calls[index]?.path} ${calls[index]?.accept ?? ''}: ${status}`)
      }
    }
    for (const resource of resources) {
      const { base, plural, isNamespaced } = resource
      // Everybody who signed in reads which services there are (deploy/rbac/service-classes.yaml).
      await expectAll(readsOf(`${base}/${plural}`), plural === 'serviceclasses')
      if (!isNamespaced) continue
      const within = (namespace: string) => readsOf(`${base}/namespaces/${namespace}/${plural}`)
      // A watch that is allowed lasts a second.
      const own = within(tenant).filter(({ path }) => !(mayRead(resource) && path.includes('watch=true')))
      await expectAll(own, mayRead(resource))
      await expectAll(within(stranger), false)
      await expectAll(within('kube-system'), false)
    }
    expect(wrong).toEqual([])
  })
})

test.each(['viewer', 'developer', 'admin'])(
  '%s lists every kind of the category sekisho: kubectl get sekisho ends with an error when one is refused',
  async who => {
    type Discovered = { readonly name: string; readonly categories?: readonly string[] }
    const found = await Promise.all(
      ['apps', 'github', 'tenancy'].map(async group => {
        const base = `/apis/${group}.sekisho.dev/v1alpha1`
        const { resources } = (await admin.call('GET', base)) as { readonly resources: readonly Discovered[] }
        return resources
          .filter(({ name, categories }) => !name.includes('/') && categories?.includes('sekisho'))
          .map(({ name }) => `${base}/namespaces/${tenant}/${name}`)
      }),
    )
    const paths = found.flat()
    expect(paths.length).toBeGreaterThan(5)
    for (const path of paths)
      expect((await send(who, { method: 'GET', path: `${path}?limit=500`, accept: table })).status, path).toBe(200)
  },
)

const { own, dryRun, secret, rbac, attacks } = tenantRoleAttacks(tenant)

describe.each(identities)('%s is refused', who => {
  test.each(attacks)('%s', async (_name, call) => {
    const answer = await send(who, call)
    expect(answer.status, answer.text).toBe(403)
    expect(answer.text).not.toContain(canary)
  })

  test.each([
    ['a person', { 'impersonate-user': 'github|github.com|1' }],
    ['masters', { 'impersonate-user': 'x', 'impersonate-group': 'system:masters' }],
    ['the platform', { 'impersonate-user': 'system:serviceaccount:sekisho-system:sekisho' }],
    ['a uid', { 'impersonate-user': 'x', 'impersonate-uid': '1' }],
  ])('impersonating %s', async (_name, headers) => {
    const response = await fetch(new URL(own('secrets'), server), {
      dispatcher: agent,
      headers: { authorization: `Bearer ${tokens.get(who)}`, ...headers },
    })
    expect(response.status).toBe(403)
  })

  test('everything in the namespace of another tenant', async () => {
    const configMap = object('v1', 'ConfigMap')
    for (const call of [
      { method: 'POST', path: namespaced(stranger, 'configmaps'), body: configMap },
      { method: 'PATCH', path: namespaced(stranger, 'configmaps', '/canary'), body: {} },
      { method: 'DELETE', path: namespaced(stranger, 'configmaps', '/canary') },
      { method: 'POST', path: namespaced(stranger, 'pods'), body: object('v1', 'Pod', { spec: { containers: [container] } }) },
      { method: 'POST', path: namespaced(stranger, 'secrets'), body: object('v1', 'Secret') },
    ])
      expect((await send(who, call)).status).toBe(403)
  })
})

const restrictedContainer = {
  ...container,
  securityContext: {
    allowPrivilegeEscalation: false,
    runAsNonRoot: true,
    capabilities: { drop: ['ALL'] },
    seccompProfile: { type: 'RuntimeDefault' },
  },
}

describe('a GrantPolicy', () => {
  const { apiVersion } = grantPolicy
  const path = `/apis/${apiVersion}/namespaces/${tenant}/grantpolicies`
  const spec = { rules: [{ name: 'all', effect: 'Allow', permissions: { '*': 'admin' } }] }
  const body = { apiVersion, kind: grantPolicy.kind, metadata: { name: 'of-admin' }, spec }

  test('is written by an admin of the tenant', async () => {
    expect((await send('admin', { method: 'POST', path, body })).status).toBe(201)
    const change = { spec: { mode: 'Audit' } }
    expect((await send('admin', { method: 'PATCH', path: `${path}/of-admin`, body: change })).status).toBe(200)
    expect((await send('admin', { method: 'DELETE', path: `${path}/of-admin` })).status).toBe(200)
  })

  test.each(['viewer', 'developer', 'auditor', 'outsider', 'workload'])('is written by no %s', async who => {
    for (const call of [
      { method: 'POST', path, body },
      { method: 'PATCH', path: `${path}/of-admin`, body: {} },
      { method: 'DELETE', path: `${path}/of-admin` },
      { method: 'DELETE', path },
    ])
      expect((await send(who, call)).status).toBe(403)
  })
})

describe('own rights work', () => {
  const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
  test.each(['developer', 'admin'])(
    '%s writes ConfigMaps, Services and Deployments, and creates Secrets without reading them',
    async who => {
      const name = `of-${who}`
      expect((await send(who, { method: 'POST', path: own('configmaps'), body: configMap(name) })).status).toBe(201)
      expect((await send(who, { method: 'PATCH', path: own('configmaps', `/${name}`), body: { data: { a: 'b' } } })).status).toBe(
        200,
      )
      expect((await send(who, { method: 'DELETE', path: own('configmaps', `/${name}`) })).status).toBe(200)
      const made = { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData: { a: 'b' } }
      expect((await send(who, { method: 'POST', path: own('secrets'), body: made })).status).toBe(201)
      expect((await send(who, { method: 'PUT', path: own('secrets', `/${name}`), body: made })).status).toBe(200)
      expect((await send(who, { method: 'GET', path: own('secrets', `/${name}`) })).status).toBe(403)
    },
  )

  test('an update of a Secret does not disclose what was in it', async () => {
    const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'canary' }, data: {} }
    for (const change of [
      body,
      { ...body, immutable: true, type: 'kubernetes.io/tls' },
      { ...body, metadata: { name: 'canary', resourceVersion: '1' } },
    ]) {
      const answer = await send('developer', { method: 'PUT', path: `${secret}${dryRun}`, body: change })
      expect(answer.text).not.toContain(canary)
    }
  })

  test('a developer runs commands in pods of the own namespace, a viewer and a workload in none', async () => {
    const exec = (namespace: string, method: string): Call => ({
      method,
      path: namespaced(namespace, 'pods', '/x/exec?command=sh'),
    })
    for (const method of ['GET', 'POST']) {
      // There is no such pod: the request is allowed and leads nowhere.
      for (const who of ['developer', 'admin']) expect((await send(who, exec(tenant, method))).status).toBe(404)
      for (const who of ['viewer', 'auditor', 'workload', 'outsider'])
        expect((await send(who, exec(tenant, method))).status).toBe(403)
      for (const who of identities) expect((await send(who, exec(stranger, method))).status).toBe(403)
    }
  })

  test('a viewer and a workload write nothing', async () => {
    for (const who of ['viewer', 'auditor', 'workload', 'outsider'])
      expect((await send(who, { method: 'POST', path: own('configmaps'), body: configMap('x') })).status).toBe(403)
  })

  test('a pod that is not restricted is refused by Pod Security, under any of its privileges', async () => {
    const safe = restrictedContainer
    const create = (spec: object) =>
      send('developer', { method: 'POST', path: `${own('pods')}${dryRun}`, body: object('v1', 'Pod', { spec }) })
    expect((await create({ containers: [safe] })).status).toBe(201)
    for (const spec of [
      {
        containers: [{ ...safe, securityContext: { ...safe.securityContext, privileged: true, allowPrivilegeEscalation: true } }],
      },
      { containers: [safe], hostNetwork: true },
      { containers: [safe], hostPID: true },
      { containers: [safe], hostIPC: true },
      { containers: [safe], volumes: [{ name: 'host', hostPath: { path: '/' } }] },
      {
        containers: [
          { ...safe, securityContext: { ...safe.securityContext, capabilities: { add: ['SYS_ADMIN'], drop: ['ALL'] } } },
        ],
      },
      { containers: [{ ...safe, securityContext: { ...safe.securityContext, runAsNonRoot: false, runAsUser: 0 } }] },
      { containers: [{ ...safe, ports: [{ containerPort: 1, hostPort: 80 }] }] },
      { containers: [container] },
    ]) {
      const answer = await create(spec)
      expect([answer.status, answer.message]).toEqual([403, expect.stringContaining('violates PodSecurity "restricted')])
    }
  })
})

test('a pod with a priority class is refused by the quota, one without is not', async () => {
  const quota = `${own('resourcequotas')}/tenant-priority`
  const metadata = { name: 'tenant-priority', namespace: tenant }
  await admin.apply(quota, { apiVersion: 'v1', kind: 'ResourceQuota', metadata, spec: priorityQuota('application') })
  await waitUntil('the quota to be counted', async () => {
    const { status } = (await admin.call('GET', quota)) as { readonly status?: { readonly used?: object } }
    return status?.used !== undefined
  })
  const classes = '/apis/scheduling.k8s.io/v1/priorityclasses'
  const name = `${tenant}-important`
  await admin.call('POST', classes, {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name },
    value: 1000,
  })
  try {
    const create = (spec: object) =>
      send('developer', { method: 'POST', path: `${own('pods')}${dryRun}`, body: object('v1', 'Pod', { spec }) })
    expect((await create({ containers: [restrictedContainer] })).status).toBe(201)
    for (const priorityClassName of ['system-node-critical', 'system-cluster-critical', name]) {
      const answer = await create({ containers: [restrictedContainer], priorityClassName })
      expect([answer.status, answer.message]).toEqual([403, expect.stringContaining('exceeded quota: tenant-priority')])
    }
  } finally {
    await admin.call('DELETE', `${classes}/${name}`)
  }
})

test('the roles have no wildcard, nothing aggregates into them, and nobody else is given their rights', async () => {
  const { items } = (await admin.call('GET', `${rbac}/clusterroles`)) as {
    readonly items: readonly {
      readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> }
      readonly aggregationRule?: unknown
      readonly rules: readonly {
        readonly verbs: readonly string[]
        readonly resources: readonly string[]
        readonly apiGroups: readonly string[]
      }[]
    }[]
  }
  const roles = items.filter(({ metadata }) => Object.values<string>(tenantRoles).includes(metadata.name))
  expect(roles).toHaveLength(Object.keys(tenantRoles).length)
  for (const { metadata, aggregationRule, rules } of roles) {
    expect(aggregationRule).toBeUndefined()
    expect(Object.keys(metadata.labels ?? {}).filter(label => label.includes('aggregate-to'))).toEqual([])
    expect(rules.flatMap(({ verbs, resources, apiGroups }) => [...verbs, ...resources, ...apiGroups])).not.toContain('*')
  }
})
