// What the platform's ServiceAccounts may never do, asked of a real API server with the roles that deploy/rbac ships: the
// column "never holds" of ARCHITECTURE.md for the cluster. Policies are not installed here: this is what RBAC alone allows. A
// tenant has its namespaces and bindings, so that the answers are not those of an empty cluster.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import type { AdminClient, Manifest } from '../../dev/cluster/control-plane/admin-client.ts'
import { dataServicesNamespace } from '../../src/api/names.ts'
import { KubeError, lacksRight } from '../../src/kube/client/errors.ts'
import { limits } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { impersonation, type Reply } from '../attack/impersonation.ts'
import { testAdmin, testKubeconfig } from '../fixtures/harness.ts'
import { type Account, giveRights } from '../fixtures/platform-rights.ts'

const tenantNamespace = 'test-rights-acme'
const buildNamespace = 'test-rights-acme-build'
const accounts: readonly Account[] = [
  'sekisho',
  'sekisho-broker',
  'sekisho-controllers',
  'sekisho-admission',
  'sekisho-data-services',
]

type Asked = {
  readonly verb: string
  readonly group?: string
  readonly resource: string
  readonly subresource?: string
  readonly namespace?: string
  readonly name?: string
}

let admin: AdminClient

beforeAll(async () => {
  admin = await testAdmin()
  for (const name of [tenantNamespace, buildNamespace])
    await admin.apply(`/api/v1/namespaces/${name}`, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  await giveRights(admin, tenantNamespace, ['application'])
  await giveRights(admin, buildNamespace, ['build'])
})

async function mayUser(user: string, { group = '', ...asked }: Asked): Promise<boolean> {
  const spec = { user, groups: ['system:serviceaccounts', 'system:authenticated'], resourceAttributes: { group, ...asked } }
  const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec }
  const answer = await admin.call('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', review)
  return (answer as { readonly status: { readonly allowed: boolean } }).status.allowed
}

const may = (account: Account, asked: Asked): Promise<boolean> =>
  mayUser(`system:serviceaccount:sekisho-system:${account}`, asked)

const atOnce = 20

/** Asked a few at a time: the API server answers 429 to hundreds. */
async function allowedOf(account: Account, list: readonly Asked[]): Promise<readonly string[]> {
  const found: string[] = []
  for (let start = 0; start < list.length; start += atOnce) {
    const some = list.slice(start, start + atOnce)
    const answers = await Promise.all(some.map(asked => may(account, asked)))
    found.push(...some.filter((_, index) => answers[index]).map(asked => JSON.stringify(asked)))
  }
  return found
}

const rbac = 'rbac.authorization.k8s.io'
const platformPlaces = ['kube-system', 'default', 'sekisho-system']
const tenantPlaces = [tenantNamespace, buildNamespace]
const everywhere = [...platformPlaces, ...tenantPlaces]
const inEach = (asked: Omit<Asked, 'namespace'>, namespaces = everywhere): readonly Asked[] =>
  namespaces.map(namespace => ({ ...asked, namespace }))

/** Of every ServiceAccount of ours. */
const never: readonly Asked[] = [
  ...['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'].flatMap(verb => [
    { verb, resource: 'secrets' },
    { verb, group: '*', resource: '*' },
    ...inEach({ verb, resource: 'secrets' }, platformPlaces),
    ...inEach({ verb, resource: 'secrets', name: 'db' }, platformPlaces),
    ...(verb === 'list' || verb === 'watch' ? [] : [{ verb, resource: 'pods' }]),
  ]),
  ...['create', 'update', 'patch', 'delete'].flatMap(verb => [
    ...inEach({ verb, resource: 'pods' }, platformPlaces),
    ...(verb === 'delete' ? [] : inEach({ verb, resource: 'pods' }, [tenantNamespace])),
    ...inEach({ verb, group: 'apps', resource: 'daemonsets' }),
    ...inEach({ verb, group: 'apps', resource: 'statefulsets' }),
    ...inEach({ verb, group: 'apps', resource: 'deployments' }, ['kube-system', 'default', 'sekisho-system', buildNamespace]),
    ...inEach({ verb, group: 'batch', resource: 'jobs' }, ['kube-system', 'default', 'sekisho-system', buildNamespace]),
    ...inEach({ verb, resource: 'serviceaccounts' }, ['kube-system', 'default', 'sekisho-system']),
    ...inEach({ verb, group: 'networking.k8s.io', resource: 'networkpolicies' }, ['kube-system', 'default', 'sekisho-system']),
    ...inEach({ verb, group: rbac, resource: 'roles' }),
    { verb, group: rbac, resource: 'clusterroles' },
    { verb, group: rbac, resource: 'clusterrolebindings' },
    ...['validatingadmissionpolicies', 'mutatingadmissionpolicies'].map(resource => ({
      verb,
      group: 'admissionregistration.k8s.io',
      resource,
    })),
    ...['validatingwebhookconfigurations', 'mutatingwebhookconfigurations'].flatMap(resource =>
      ['other', 'sekisho-admission'].map(name => ({ verb, group: 'admissionregistration.k8s.io', resource, name })),
    ),
    { verb, group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' },
    { verb, group: 'apiregistration.k8s.io', resource: 'apiservices' },
    { verb, group: 'certificates.k8s.io', resource: 'certificatesigningrequests' },
    { verb, resource: 'nodes' },
    { verb, resource: 'persistentvolumes' },
  ]),
  ...['kube-system', 'default', 'sekisho-system'].flatMap(namespace =>
    ['patch', 'update', 'delete'].map(verb => ({ verb, resource: 'namespaces', namespace, name: namespace })),
  ),
  ...[
    'pods/exec',
    'pods/attach',
    'pods/portforward',
    'pods/ephemeralcontainers',
    'pods/proxy',
    'services/proxy',
    'nodes/proxy',
  ].flatMap(path => {
    const [resource = '', subresource = ''] = path.split('/')
    return ['get', 'create'].flatMap(verb => inEach({ verb, resource, subresource }))
  }),
  ...inEach({ verb: 'create', resource: 'serviceaccounts', subresource: 'token' }),
  ...['users', 'groups', 'serviceaccounts'].map(resource => ({ verb: 'impersonate', resource })),
  { verb: 'impersonate', group: 'authentication.k8s.io', resource: 'userextras' },
  ...['cluster-admin', 'admin', 'edit', 'system:node', 'sekisho:platform-admin', 'sekisho:controllers', 'sekisho:broker'].flatMap(
    name => ['bind', 'escalate'].map(verb => ({ verb, group: rbac, resource: 'clusterroles', name })),
  ),
  ...['bind', 'escalate'].flatMap(verb => inEach({ verb, group: rbac, resource: 'roles' })),
  { verb: 'escalate', group: rbac, resource: 'clusterroles', name: 'sekisho:tenant-admin' },
  { verb: 'administer', group: 'sekisho.dev', resource: 'platforms' },
  // An owner ends one Tenant; nobody of ours ends all of them with one request.
  { verb: 'deletecollection', group: 'tenancy.sekisho.dev', resource: 'tenants' },
  { verb: 'get', resource: 'configmaps', namespace: 'kube-system' },
]

/**
 * What only the controllers have a part of in tenants' namespaces. RBAC knows no prefixes of names: there they write Secrets of
 * AppSecrets and of builds, and pods of Dockerfile builds, and the policies `own-writes` and `build-pods` hold them to their
 * names and shape; they delete pods of applications, and `own-pod-deletions` holds them to those that are being deleted already
 * (test/attack/rows). They never list Secrets.
 */
const heldByPolicies: readonly Asked[] = [
  ...['list', 'watch', 'update', 'deletecollection'].flatMap(verb => inEach({ verb, resource: 'secrets' }, tenantPlaces)),
  { verb: 'get', resource: 'secrets', namespace: buildNamespace, name: 'db' },
  { verb: 'update', resource: 'pods', namespace: buildNamespace },
  { verb: 'patch', resource: 'pods', namespace: buildNamespace },
]
const otherAccountsNever: readonly Asked[] = [
  ...['get', 'create', 'patch', 'delete'].flatMap(verb => [
    ...inEach({ verb, resource: 'secrets' }, tenantPlaces),
    ...inEach({ verb, resource: 'secrets', name: 'db' }, tenantPlaces),
  ]),
  ...['create', 'delete'].map(verb => ({ verb, resource: 'pods', namespace: buildNamespace })),
  { verb: 'delete', resource: 'pods', namespace: tenantNamespace },
  ...inEach({ verb: 'deletecollection', resource: 'pods' }, tenantPlaces),
]

const platformSecret = (verb: string, name: string): Asked => ({ verb, resource: 'secrets', namespace: 'sekisho-system', name })
const secretVerbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete']
/** Of the accounts of the servers that tenants share. */
const serverAccount = (verb: string): Asked => ({ verb, resource: 'secrets', namespace: dataServicesNamespace, name: 'x' })
const secretsOf = (...names: readonly string[]): readonly Asked[] =>
  names.flatMap(name => secretVerbs.map(verb => platformSecret(verb, name)))
const lease = (verb: string, name: string): Asked => ({
  verb,
  group: 'coordination.k8s.io',
  resource: 'leases',
  namespace: 'sekisho-system',
  name,
})
const rolebindings = (verb: string, namespace: string): Asked => ({ verb, group: rbac, resource: 'rolebindings', namespace })

const brokerSecrets = ['sekisho-broker-secrets', 'sekisho-broker-tls']
const controllersSecrets = ['sekisho-controllers-secrets', 'sekisho-registry-tokens-tls']
/** What renews the webhook's certificate needs no more than to read and patch it. */
const webhookSecret = ['list', 'watch', 'create', 'update', 'delete'].map(verb => platformSecret(verb, 'sekisho-admission-tls'))
const appKeys = ['github-app-key', 'github-app-key-2']

/** Of one of them: what another process holds. */
const neverOf: Readonly<Record<Account, readonly Asked[]>> = {
  sekisho: [
    ...secretsOf(...brokerSecrets, ...controllersSecrets, 'sekisho-secrets'),
    ...webhookSecret,
    platformSecret('patch', 'github-app-key'),
    ...['sekisho-broker', 'sekisho-controllers'].map(name => lease('patch', name)),
  ],
  'sekisho-broker': [
    ...secretVerbs.map(serverAccount),
    ...secretsOf(...brokerSecrets, ...controllersSecrets, ...appKeys, 'sekisho-registry-platform', 'sekisho-admission-tls'),
    ...everywhere.flatMap(namespace => ['create', 'patch', 'delete'].map(verb => rolebindings(verb, namespace))),
    ...['create', 'patch', 'delete'].flatMap(verb => inEach({ verb, resource: 'namespaces' })),
    ...['create', 'patch', 'delete'].flatMap(verb => inEach({ verb, group: 'apps', resource: 'deployments' })),
    ...inEach({ verb: 'get', resource: 'pods', subresource: 'log' }),
    ...inEach({ verb: 'list', resource: 'pods' }),
    ...inEach({ verb: 'list', resource: 'configmaps' }),
    { verb: 'patch', group: 'github.sekisho.dev', resource: 'installations', subresource: 'status', namespace: tenantNamespace },
    { verb: 'create', group: 'github.sekisho.dev', resource: 'repositorygrants', namespace: tenantNamespace },
    { verb: 'create', group: 'github.sekisho.dev', resource: 'installations', namespace: 'default' },
    ...['sekisho', 'sekisho-controllers'].map(name => lease('patch', name)),
  ],
  'sekisho-controllers': [
    ...secretVerbs.map(serverAccount),
    ...secretsOf(...brokerSecrets, ...controllersSecrets),
    ...webhookSecret,
    ...appKeys.flatMap(name => ['list', 'watch', 'create', 'patch', 'delete'].map(verb => platformSecret(verb, name))),
    { verb: 'create', group: 'github.sekisho.dev', resource: 'installations', namespace: tenantNamespace },
    { verb: 'create', group: 'tenancy.sekisho.dev', resource: 'tenants' },
    { verb: 'patch', resource: 'configmaps', namespace: 'sekisho-system', name: 'sekisho-audit-checkpoints' },
    { verb: 'patch', resource: 'configmaps', namespace: 'sekisho-system', name: 'sekisho-settings' },
    { verb: 'create', group: 'authorization.k8s.io', resource: 'subjectaccessreviews' },
    ...['kube-system', 'default', 'sekisho-system'].map(namespace => rolebindings('delete', namespace)),
    ...['sekisho', 'sekisho-broker'].map(name => lease('patch', name)),
  ],
  'sekisho-admission': [
    ...secretVerbs.map(serverAccount),
    ...secretsOf(...brokerSecrets, ...controllersSecrets, ...appKeys, 'sekisho-registry-platform', 'sekisho-admission-tls'),
    ...['get', 'list', 'watch'].flatMap(verb => [
      { verb, group: 'tenancy.sekisho.dev', resource: 'tenants' },
      { verb, group: 'github.sekisho.dev', resource: 'installations' },
      { verb, resource: 'pods' },
      { verb, resource: 'namespaces' },
      ...inEach({ verb, resource: 'configmaps' }),
    ]),
    ...inEach({ verb: 'create', group: 'coordination.k8s.io', resource: 'leases' }),
  ],
  // The passwords of the servers are its alone, and nothing else is.
  'sekisho-data-services': [
    ...secretsOf(...brokerSecrets, ...controllersSecrets, ...appKeys, 'sekisho-registry-platform', 'sekisho-admission-tls'),
    ...['get', 'create', 'patch', 'delete'].flatMap(verb => [
      { verb, resource: 'secrets', namespace: buildNamespace },
      ...['pods', 'configmaps', 'serviceaccounts'].flatMap(resource => inEach({ verb, resource })),
      ...['deployments', 'replicasets'].flatMap(resource => inEach({ verb, group: 'apps', resource })),
      ...['applications', 'appsecrets', 'remotesyncs'].flatMap(resource => inEach({ verb, group: 'apps.sekisho.dev', resource })),
      ...['installations', 'repositorygrants'].flatMap(resource => inEach({ verb, group: 'github.sekisho.dev', resource })),
      ...everywhere.map(namespace => rolebindings(verb, namespace)),
    ]),
    ...['create', 'patch', 'delete'].flatMap(verb => [
      { verb, group: 'tenancy.sekisho.dev', resource: 'tenants' },
      ...inEach({ verb, resource: 'namespaces' }),
    ]),
    // It patches them for its finalizer; the policy service-class-writers holds it to that.
    ...['create', 'delete'].map(verb => ({ verb, group: 'services.sekisho.dev', resource: 'serviceclasses' })),
    ...['list', 'watch', 'create', 'patch', 'delete'].map(serverAccount),
    ...['sekisho', 'sekisho-broker', 'sekisho-controllers'].map(name => lease('patch', name)),
  ],
}

describe.each(accounts)('the ServiceAccount %s', account => {
  test('has no right that none of ours may have', async () => {
    expect(await allowedOf(account, [...never, ...heldByPolicies])).toEqual([])
  })

  test('has none of what the others hold', async () => {
    const ofOthers = account === 'sekisho-broker' || account === 'sekisho-admission' ? otherAccountsNever : []
    expect(await allowedOf(account, [...neverOf[account], ...ofOthers])).toEqual([])
  })
})

test('everybody who signed in reads which services there are, and nobody by that writes one or reads another kind', async () => {
  const person = (verb: string, resource: string) =>
    mayUser('github|github.com|7', { verb, group: 'services.sekisho.dev', resource })
  for (const verb of ['get', 'list', 'watch']) expect(await person(verb, 'serviceclasses')).toBe(true)
  for (const verb of ['create', 'update', 'patch', 'delete']) expect(await person(verb, 'serviceclasses')).toBe(false)
  for (const resource of ['serviceinstances', 'buckets', 'servicebindings']) expect(await person('list', resource)).toBe(false)
})

test('the questions are understood: the same ones are allowed to an administrator, and a right of each account to it', async () => {
  const spec = {
    user: 'root',
    groups: ['system:masters'],
    resourceAttributes: { verb: 'bind', group: rbac, resource: 'clusterroles' },
  }
  const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec }
  expect(await admin.call('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', review)).toMatchObject({
    status: { allowed: true },
  })
  expect(await may('sekisho-broker', { verb: 'create', group: 'tenancy.sekisho.dev', resource: 'tenants' })).toBe(true)
  expect(await may('sekisho-controllers', platformSecret('get', 'github-app-key'))).toBe(true)
  expect(await may('sekisho-controllers', { verb: 'delete', resource: 'namespaces', namespace: tenantNamespace })).toBe(true)
  expect(await may('sekisho-controllers', rolebindings('create', tenantNamespace))).toBe(true)
  const tokenOf = (name: string): Asked => ({
    ...{ verb: 'create', resource: 'serviceaccounts', subresource: 'token' },
    ...{ namespace: 'sekisho-system', name },
  })
  for (const account of ['sekisho', 'sekisho-controllers'] as const) {
    expect(await may(account, tokenOf('sekisho-wall-probe'))).toBe(true)
    for (const other of ['default', 'sekisho-broker', 'sekisho-controllers', 'sekisho'])
      expect(await may(account, tokenOf(other))).toBe(false)
  }
  expect(await may('sekisho', platformSecret('get', 'github-app-key'))).toBe(true)
  expect(await may('sekisho', { verb: 'create', group: 'tenancy.sekisho.dev', resource: 'tenants' })).toBe(true)
  for (const account of ['sekisho', 'sekisho-broker', 'sekisho-controllers'] as const)
    expect(await may(account, lease('patch', account))).toBe(true)
})

/**
 * Under the controllers' name, by impersonation: the suite's comparison of requests and rights is about the platform's own
 * requests.
 */
async function asControllers() {
  const { send, close } = await impersonation(testKubeconfig())
  onTestFinished(close)
  const identity = { user: 'system:serviceaccount:sekisho-system:sekisho-controllers', groups: ['system:authenticated'] }
  const apply = (path: string, body: object) =>
    send(identity, { method: 'PATCH', path: `${path}?fieldManager=t&force=true`, body, type: 'application/apply-patch+yaml' })
  return { apply }
}

const inTenant = (plural: string): string => `/api/v1/namespaces/${tenantNamespace}/${plural}`

test('what a quota refuses is not taken for a missing right', async () => {
  const { apply } = await asControllers()
  const errorOf = ({ status, message }: Reply) => new KubeError(message, { status, reason: 'Forbidden' })
  const spec = { hard: { 'count/configmaps': '0' } }
  const quota = inTenant('resourcequotas/none')
  await admin.apply(quota, { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'none' }, spec })
  onTestFinished(async () => void (await admin.call('DELETE', quota)))
  let number = 0
  const refused = async () => {
    number += 1
    const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `x-${number}` } }
    const reply = await apply(inTenant(`configmaps/x-${number}`), configMap)
    return reply.status === 201 ? undefined : errorOf(reply)
  }
  // The admission plugin for quotas learns of a new one a moment later.
  const byQuota = await waitUntil('the quota counts', refused, { timeoutMilliseconds: limits.rollout })
  const byRbac = errorOf(
    await apply('/api/v1/namespaces/default/secrets/db', { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'db' } }),
  )
  expect([byQuota.status, lacksRight(byQuota)]).toEqual([403, false])
  expect([byRbac.status, lacksRight(byRbac)]).toEqual([403, true])
})

test('kpack’s controller reads the two credentials that it uses, and no others', async () => {
  const text = await readFile(join(import.meta.dirname, '../../deploy/rbac/kpack.yaml'), 'utf8')
  const binding = parseAllDocuments(text)
    .map(document => document.toJS() as Manifest & { readonly subjects?: readonly { namespace: string; name: string }[] })
    .find(({ kind }) => kind === 'ClusterRoleBinding')
  const [subject] = binding?.subjects ?? []
  const user = `system:serviceaccount:${subject?.namespace}:${subject?.name}`
  const ask = (verb: string, name?: string): Promise<boolean> =>
    mayUser(user, { verb, resource: 'secrets', namespace: buildNamespace, ...(name === undefined ? {} : { name }) })
  expect(await Promise.all(['sekisho-registry-build', 'sekisho-registry-platform'].map(name => ask('get', name)))).toEqual([
    true,
    true,
  ])
  expect(
    await Promise.all([
      ask('get', 'db'),
      ask('get', 'sekisho-registry-pull'),
      ask('get'),
      ask('list'),
      ask('delete', 'sekisho-registry-build'),
    ]),
  ).toEqual([false, false, false, false, false])
})
