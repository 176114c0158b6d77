// What a Tenant's namespaces contain, whose a namespace is, and when it is ready.
import { describe, expect, test } from 'vitest'
import { testNetwork } from '../../../test/fixtures/network.ts'
import { noClasses } from '../../../test/fixtures/runtime-classes.ts'
import type { Namespace, ResourceQuota } from '../../api/builtin/index.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import { tenantRoleRules } from '../../api/tenancy/tenant-roles.ts'
import { defined } from '../../lib/json/defined.ts'
import { firstUserOf } from '../../lib/limits/user-range.ts'
import { SecretString } from '../../lib/secret-string.ts'
import { canonicalQuantity } from '../../lib/text/quantity.ts'
import { credentialsExist, decide, quotasAreCounted } from './decide.ts'
import { desiredContents, desiredNamespaces, desiredRights } from './desired.ts'
import { stateOf } from './gather.ts'
import { needsApply } from './needs-apply.ts'
import { desiredBindings } from './rights/role-bindings.ts'
import { classMarks } from './runtime/choose-classes.ts'
import { nextStatus } from './status.ts'

const host = 'github.localhost'
const firstUser = firstUserOf(5)
const tenant: Tenant = {
  apiVersion: 'tenancy.sekisho.dev/v1alpha1',
  kind: 'Tenant',
  metadata: { name: 'acme', uid: 'tenant-uid', generation: 3 },
  spec: {
    account: { host, id: 2001, login: 'acme', type: 'Organization' },
    namespace: 'acme',
    roles: [
      { role: 'admin', subject: { type: 'Owners' } },
      { role: 'viewer', subject: { type: 'Members' } },
      { role: 'developer', subject: { type: 'Team', id: 3001, name: 'developers' } },
      { role: 'developer', subject: { type: 'User', id: 1003 } },
      { role: 'auditor', subject: { type: 'Team', id: 3002, name: 'security' } },
    ],
    limits: { concurrentBuilds: 2, tokensPerHour: 600, applications: 7 },
  },
}
const accounts = { broker: 'sekisho-broker', controllers: 'sekisho-controllers', dataServices: 'sekisho-data-services' }
const settings = {
  network: testNetwork,
  certificateAuthorities: () => 'PEM',
  accounts,
  addresses: { tokenDeskHost: 'desk.test', gitProxyHost: 'git.test' },
  runtimeClasses: noClasses,
  buildsDockerfiles: false,
}
const given = { firstUser, classes: classMarks({}, () => undefined) }
const credentials = {
  kind: 'credentials',
  build: new SecretString('{"auths":{"r":{"auth":"build"}}}'),
  pull: new SecretString('{"auths":{"r":{"auth":"pull"}}}'),
} as const
const contents = desiredContents(tenant, settings, credentials)
const named = (kind: string, namespace: string) =>
  contents
    .filter(({ object }) => object.kind === kind && object.metadata.namespace === namespace)
    .map(({ object }) => object.metadata.name)

test.each([7, 500, 1000, 2000])('with %i Applications, quotas are written as the API server stores them', applications => {
  const made = desiredContents(
    { ...tenant, spec: { ...tenant.spec, limits: { concurrentBuilds: 2, tokensPerHour: 600, applications } } },
    settings,
    credentials,
  )
  const quotas = made.filter(({ object }) => object.kind === 'ResourceQuota').map(({ object }) => object['spec'])
  const amounts = quotas.flatMap(spec => Object.values((spec as { readonly hard: Record<string, string> }).hard))
  expect(amounts.length).toBeGreaterThan(20)
  expect(amounts.map(canonicalQuantity)).toEqual(amounts)
})

test.each([
  [{}, '14'],
  [{ services: 3 }, '3'],
  [{ services: 0 }, '0'],
  [{ services: 2000 }, '2k'],
])('with the limits %j, the quota of services is %s', (more, quota) => {
  const limits = { concurrentBuilds: 2, tokensPerHour: 600, applications: 7, ...more }
  const made = desiredContents({ ...tenant, spec: { ...tenant.spec, limits } }, settings, credentials)
  const kinds = made.find(({ object }) => object.metadata.name === 'tenant-kinds')
  const hard = {
    'count/serviceinstances.services.sekisho.dev': quota,
    'count/buckets.services.sekisho.dev': quota,
    'count/servicebindings.services.sekisho.dev': '28',
  }
  expect(kinds?.object['spec']).toMatchObject({ hard })
})

test('platform admins raise what everything in the namespace may use together, and the rest stays as it is', () => {
  const hardOf = (resources?: NonNullable<Tenant['spec']['limits']>['resources']) => {
    const limits = { concurrentBuilds: 2, tokensPerHour: 600, applications: 7, ...defined({ resources }) }
    const made = desiredContents({ ...tenant, spec: { ...tenant.spec, limits } }, settings, credentials)
    const quotas = made.filter(({ object }) => object.metadata.name === 'tenant' && object.metadata.namespace === 'acme')
    const [quota = expect.fail('no quota')] = quotas.filter(({ object }) => object.kind === 'ResourceQuota')
    return (quota.object['spec'] as { readonly hard: Record<string, string> }).hard
  }
  const usual = hardOf()
  expect(usual).toMatchObject({ pods: '200', 'count/pods': '300', 'requests.cpu': '16', 'requests.ephemeral-storage': '40Gi' })
  expect(hardOf({})).toEqual(usual)
  expect(hardOf({ pods: 2000, memory: '2048Gi', ephemeralStorage: '400Gi' })).toEqual({
    ...usual,
    pods: '2k',
    'count/pods': '2100',
    'requests.memory': '2Ti',
    'limits.memory': '2Ti',
    'requests.ephemeral-storage': '400Gi',
    'limits.ephemeral-storage': '400Gi',
  })
  expect(hardOf({ cpu: '500m', storage: '1Ti' })).toEqual({ ...usual, 'requests.cpu': '500m', 'requests.storage': '1Ti' })
})

describe('the bindings of a tenant', () => {
  test('name groups and people by numeric ids, never by slug or login', () => {
    const group = (name: string) => ({ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name })
    expect(desiredBindings(tenant.spec).map(({ name, subjects }) => [name, subjects])).toEqual([
      ['sekisho:tenant-viewer', [group(`github|${host}|org|2001|members`)]],
      [
        'sekisho:tenant-developer',
        [{ ...group(`github|${host}|1003`), kind: 'User' }, group(`github|${host}|org|2001|team|3001`)],
      ],
      ['sekisho:tenant-admin', [group(`github|${host}|org|2001|owners`)]],
      ['sekisho:tenant-auditor', [group(`github|${host}|org|2001|team|3002`)]],
    ])
  })

  test('of a person’s account are for that person; such an account has no teams', () => {
    const spec = { ...tenant.spec, account: { ...tenant.spec.account, id: 1001, type: 'User' as const } }
    expect(desiredBindings(spec).map(({ subjects }) => subjects.map(({ kind, name }) => `${kind} ${name}`))).toEqual([
      [`User github|${host}|1001`],
      [`User github|${host}|1003`],
      [`User github|${host}|1001`],
    ])
  })

  test('are in the tenant’s namespace only: nobody has a role in the build namespace', () => {
    expect(named('RoleBinding', 'acme')).toHaveLength(4)
    expect(named('RoleBinding', 'acme-build')).toEqual([])
  })
})

describe('the namespaces of a tenant', () => {
  test('both enforce the restricted Pod Security standard and say what they are for', () => {
    const labels = desiredNamespaces(tenant, settings, given).map(({ object }) => [object.metadata.name, object.metadata.labels])
    for (const [, found] of labels)
      expect(found).toMatchObject({
        'pod-security.kubernetes.io/enforce': 'restricted',
        'sekisho.dev/tenant': 'acme',
        'sekisho.dev/first-user': String(2 ** 30 + 5 * 65_536),
      })
    expect(labels.map(([name, found]) => [name, (found as Record<string, string>)['sekisho.dev/purpose']])).toEqual([
      ['acme', 'application'],
      ['acme-build', 'build'],
    ])
  })

  test('the build namespace leaves its pods to the policy build-pods, and opens its network to them, where Dockerfiles are built', () => {
    const building = { ...settings, buildsDockerfiles: true }
    const levels = desiredNamespaces(tenant, building, given).map(
      ({ object }) => (object.metadata.labels as Record<string, string>)['pod-security.kubernetes.io/enforce'],
    )
    expect(levels).toEqual(['restricted', 'privileged'])
    const policies = desiredContents(tenant, building, credentials).filter(
      ({ object }) => object.kind === 'NetworkPolicy' && object.metadata.namespace === 'acme-build',
    )
    expect(policies.map(({ object }) => object.metadata.name)).toEqual([
      'sekisho-deny-all',
      'sekisho-egress',
      'sekisho-egress-buildpacks',
      'sekisho-egress-dockerfile',
    ])
  })

  test('have quota and defaults; the build namespace has a builder without token and closed network policies', () => {
    expect([named('ResourceQuota', 'acme'), named('LimitRange', 'acme')]).toEqual([
      ['tenant', 'tenant-kinds', 'tenant-priority'],
      ['tenant'],
    ])
    expect([named('ResourceQuota', 'acme-build'), named('LimitRange', 'acme-build')]).toEqual([
      ['tenant', 'tenant-priority'],
      ['tenant'],
    ])
    const quota = contents.find(({ object }) => object.kind === 'ResourceQuota' && object.metadata.namespace === 'acme')
    expect(quota?.object['spec']).toMatchObject({ hard: { 'services.nodeports': '0', 'services.loadbalancers': '0' } })
    const kinds = contents.find(({ object }) => object.metadata.name === 'tenant-kinds')
    expect(kinds?.object['spec']).toMatchObject({
      hard: {
        'count/applications.apps.sekisho.dev': '7',
        'count/remotesyncs.apps.sekisho.dev': '7',
        'count/grantpolicies.github.sekisho.dev': '10',
        'count/halts.github.sekisho.dev': '50',
        'count/repositorygrants.github.sekisho.dev': '514',
      },
    })
    const builder = contents.find(({ object }) => object.kind === 'ServiceAccount')?.object
    expect(builder).toMatchObject({ metadata: { name: 'builder', namespace: 'acme-build' }, automountServiceAccountToken: false })
    expect(named('NetworkPolicy', 'acme')).toEqual([
      'sekisho-deny-all',
      'sekisho-ingress',
      'sekisho-egress',
      'sekisho-ingress-isolated',
      'sekisho-egress-isolated',
    ])
    expect(named('NetworkPolicy', 'acme-build')).toEqual(['sekisho-deny-all', 'sekisho-egress', 'sekisho-egress-buildpacks'])
  })

  test('have the credentials of the registry where they are used, and nowhere else', () => {
    expect([named('Secret', 'acme'), named('Secret', 'acme-build')]).toEqual([
      ['sekisho-registry-pull'],
      ['sekisho-registry-build'],
    ])
    const find = (kind: string, namespace: string) =>
      contents.find(({ object }) => object.kind === kind && object.metadata.namespace === namespace)?.object
    const text = (namespace: string): string => {
      const { data } = find('Secret', namespace) as unknown as { readonly data: Readonly<Record<string, string>> }
      return Buffer.from(data['.dockerconfigjson'] ?? '', 'base64').toString()
    }
    expect([text('acme'), text('acme-build')]).toEqual([credentials.pull.reveal(), credentials.build.reveal()])
    expect(find('ServiceAccount', 'acme-build')).toMatchObject({
      secrets: [{ name: 'sekisho-registry-build' }],
      imagePullSecrets: [{ name: 'sekisho-registry-build' }],
    })
    expect(find('ServiceAccount', 'acme')).toMatchObject({
      metadata: { name: 'default' },
      imagePullSecrets: [{ name: 'sekisho-registry-pull' }],
    })
    const isolated = contents.find(({ object }) => object.metadata.name === 'sekisho-isolated')?.object
    expect(isolated).toMatchObject({
      kind: 'ServiceAccount',
      metadata: { namespace: 'acme' },
      automountServiceAccountToken: false,
      imagePullSecrets: [{ name: 'sekisho-registry-pull' }],
    })
  })

  test('have none for an open registry; the status says so, and a missing one makes the tenant wait', () => {
    const open = desiredContents(tenant, settings, { kind: 'open' })
    expect(open.filter(({ object }) => object.kind === 'Secret')).toEqual([])
    const said = nextStatus(
      tenant,
      {
        decision: { kind: 'fill', imagesAreOpen: true },
        teams: { kind: 'not-due' },
        enforcement: { ingress: 'Unknown', egress: 'Unknown' },
        walls: undefined,
        installations: [],
      },
      new Date(0),
    )
    expect(said.conditions?.find(({ type }) => type === 'Ready')?.message).toContain('other tenants can read and replace')
    const missing = { kind: 'missing', message: 'create Secret x' } as const
    expect(credentialsExist(missing)).toEqual({
      reason: 'RegistryCredentialMissing',
      message: 'create Secret x',
      requeueAfterMilliseconds: 30_000,
    })
    expect(credentialsExist(credentials)).toBeUndefined()
  })

  test('are controlled by the Tenant, and so is everything in them', () => {
    for (const { object } of [...desiredNamespaces(tenant, settings, given), ...desiredRights(tenant, accounts), ...contents])
      expect(object.metadata.ownerReferences).toMatchObject([{ kind: 'Tenant', uid: 'tenant-uid', controller: true }])
  })
})

test('the platform has its rights by bindings to its own accounts, held until nothing needs them', () => {
  const found = desiredRights(tenant, { broker: 'sekisho', controllers: 'sekisho', dataServices: 'sekisho' }).map(
    ({ object }) => [object.metadata.namespace, object['roleRef'], object['subjects'], object.metadata.finalizers],
  )
  const role = (name: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name })
  const subjects = [{ kind: 'ServiceAccount', name: 'sekisho', namespace: 'sekisho-system' }]
  const finalizers = ['sekisho.dev/platform-rights']
  const { namespace } = tenant.spec
  expect(found).toEqual([
    [namespace, role('sekisho:controllers-application-namespace'), subjects, finalizers],
    [namespace, role('sekisho:broker-application-namespace'), subjects, finalizers],
    [namespace, role('sekisho:data-services-application-namespace'), subjects, finalizers],
    [`${namespace}-build`, role('sekisho:controllers-build-namespace'), subjects, finalizers],
  ])
})

describe('whose a namespace is', () => {
  const namespace = (change: Partial<Namespace['metadata']>): Namespace => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'acme', uid: 'n', labels: { 'sekisho.dev/tenant': 'acme' }, ...change },
  })
  const owner = { apiVersion: tenant.apiVersion, kind: 'Tenant', name: 'acme', uid: 'tenant-uid', controller: true }

  test('is decided by the uid of its controller, not by labels', () => {
    expect(stateOf(tenant, undefined)).toBe('absent')
    expect(stateOf(tenant, namespace({ ownerReferences: [owner] }))).toBe('ours')
    expect(stateOf(tenant, namespace({}))).toBe('taken')
    expect(stateOf(tenant, namespace({ ownerReferences: [{ ...owner, uid: 'an older tenant' }] }))).toBe('taken')
    expect(stateOf(tenant, namespace({ ownerReferences: [owner], deletionTimestamp: '2026-01-01T00:00:00Z' }))).toBe(
      'terminating',
    )
  })

  test('decides whether it is filled', () => {
    const facts = (...states: ('absent' | 'ours' | 'terminating' | 'taken')[]) => ({
      tenant,
      namespaces: states.map(state => ({ name: 'acme', state, object: undefined })),
      firstUser: undefined,
    })
    expect(decide(facts('absent', 'ours'))).toEqual({ kind: 'fill' })
    expect(decide(facts('ours', 'taken'))).toMatchObject({ reason: 'NamespaceTaken' })
    expect(decide(facts('terminating', 'ours'))).toMatchObject({ reason: 'NamespaceTerminating', requeueAfterMilliseconds: 3000 })
    expect(decide(facts('terminating', 'taken'))).toMatchObject({ reason: 'NamespaceTaken' })
  })
})

test('no quota counts EndpointSlices: a refused one keeps the addresses of deleted pods in others', () => {
  const quotas = contents.filter(({ object }) => object.kind === 'ResourceQuota')
  expect(quotas.length).toBeGreaterThan(0)
  expect(JSON.stringify(quotas)).not.toContain('endpointslices')
})

test('every kind that a tenant role may create has a quota', () => {
  const { namespace } = tenant.spec
  const counted = contents
    .filter(({ object }) => object.kind === 'ResourceQuota' && object.metadata.namespace === namespace)
    .flatMap(({ object }) => Object.entries((object['spec'] as { readonly hard: Record<string, string> }).hard))
  const quotas = new Map(counted)
  const creatable = [...tenantRoleRules().values()].flatMap(rules =>
    rules
      .filter(({ verbs }) => verbs.includes('create'))
      .flatMap(({ apiGroups, resources }) =>
        // A subresource stores no object of its own.
        apiGroups.flatMap(group =>
          resources.filter(plural => !plural.includes('/')).map(plural => (group ? `${plural}.${group}` : plural)),
        ),
      ),
  )
  expect(creatable.length).toBeGreaterThan(20)
  // One more for each RemoteSync and AppPipeline, which own one.
  const most = (kind: string): number => (kind === 'repositorygrants.github.sekisho.dev' ? 500 + 2 * 7 : 500)
  for (const kind of creatable) expect(Number(quotas.get(`count/${kind}`)), kind).toBeLessThanOrEqual(most(kind))
})

describe('a quota', () => {
  const quota = (used?: Record<string, string>): ResourceQuota => ({
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'tenant' },
    spec: { hard: { pods: '1', services: '2' } },
    ...(used === undefined ? {} : { status: { used } }),
  })

  test('keeps the tenant waiting until the cluster has counted everything it names', () => {
    const counted = quota({ pods: '0', services: '0' })
    expect(quotasAreCounted([counted, counted])).toBeUndefined()
    for (const pending of [undefined, quota(), quota({ pods: '0' })])
      expect(quotasAreCounted([counted, pending])).toMatchObject({ reason: 'QuotaNotCounted', requeueAfterMilliseconds: 300 })
  })
})

describe('the status of a tenant', () => {
  const enforced = { ingress: 'Enforced', egress: 'Enforced' } as const
  const observed = {
    decision: { kind: 'fill' },
    teams: { kind: 'not-due' },
    enforcement: enforced,
    walls: undefined,
    installations: [],
  } as const

  test('stays equal when nothing changed', () => {
    const first = nextStatus(tenant, observed, new Date('2026-01-01T00:00:00Z'))
    expect(first).toMatchObject({ namespace: 'acme', buildNamespace: 'acme-build', observedGeneration: 3 })
    const second = nextStatus({ ...tenant, status: first }, observed, new Date('2026-01-02T00:00:00Z'))
    expect(second).toEqual(first)
  })

  test.each([
    ['True', 'PoliciesEnforced', enforced, /both directions/],
    ['False', 'PoliciesNotEnforced', { ...enforced, egress: 'NotEnforced' }, /for egress: pods of all tenants reach each other/],
    ['False', 'PoliciesNotEnforced', { ingress: 'NotEnforced', egress: 'NotEnforced' }, /for ingress and egress/],
    ['False', 'PoliciesNotEnforced', { ingress: 'NotEnforced', egress: 'Unknown' }, /for ingress:/],
    ['Unknown', 'PoliciesNotProbed', { ingress: 'Unknown', egress: 'Unknown' }, /did not answer/],
  ] as const)('says %s (%s) about the network, and stays Ready', (status, reason, enforcement, message) => {
    const { conditions } = nextStatus(tenant, { ...observed, enforcement }, new Date('2026-01-01T00:00:00Z'))
    expect(conditions).toContainEqual(expect.objectContaining({ type: 'Ready', status: 'True' }))
    expect(conditions).toContainEqual(
      expect.objectContaining({ type: 'NetworkPoliciesEnforced', status, reason, message: expect.stringMatching(message) }),
    )
  })
})

describe('a live object', () => {
  const wanted = contents.find(({ object }) => object.kind === 'RoleBinding')?.object
  if (wanted === undefined) throw new Error('there is no RoleBinding')
  const live = { ...wanted, metadata: { ...wanted.metadata, uid: 'u', resourceVersion: '1' } }

  test('needs no apply when it has what is wanted, whatever else the server added', () => {
    expect(needsApply(wanted, live)).toBe(false)
  })

  test('needs one when somebody changed or added something, or when something else is wanted now', () => {
    expect(needsApply(wanted, { ...live, subjects: [] } as never)).toBe(true)
    const annotations = { 'sekisho.dev/desired-hash': 'old' }
    expect(needsApply(wanted, { ...live, metadata: { ...live.metadata, annotations } })).toBe(true)
    const added = { ...live, subjects: [...(wanted['subjects'] as object[]), { kind: 'User', name: 'somebody' }] }
    expect(needsApply(wanted, added)).toBe(true)
  })
})
