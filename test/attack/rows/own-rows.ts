// What our own processes try when somebody else controls them, with all rights that RBAC has: the policies about our own
// identities refuse it. And what they do every day, which these policies allow. Under the ServiceAccounts of the production
// form, and under that of the standalone form, which is all three.

import { everything } from '../identities.ts'
import type { Identity } from '../impersonation.ts'
import { installation, namespace, secret, tenant, tenantLabel, workloads } from '../objects.ts'
import { allowed, expecting, type Row } from './row.ts'
import { ownServiceRows } from './service-kind-rows.ts'

const account = (name: string): Identity => ({ user: `system:serviceaccount:sekisho-system:${name}`, groups: [everything] })
const broker = account('sekisho-broker')
const controllers = account('sekisho-controllers')
const admission = account('sekisho-admission')
const dataServices = account('sekisho-data-services')
const standalone = account('sekisho')

const refused = expecting('own-writes')
const namespaces = '/api/v1/namespaces'
const rbac = '/apis/rbac.authorization.k8s.io/v1'
const core = (where: string, plural: string): string => `${namespaces}/${where}/${plural}`
const apply = (path: string): string => `${path}?fieldManager=attack&force=true`

const deploymentOf = (): object => {
  const one = workloads.get('Deployment')
  if (!one) throw new Error('the objects of the attacks are incomplete')
  return one.object('taken', { containers: [{ name: 'c', image: 'i' }] })
}
const deployments = (where: string): string => `/apis/apps/v1/namespaces/${where}/deployments`
const configMap = (name: string): object => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
const restricted = { 'pod-security.kubernetes.io/enforce': 'restricted' }
const application = { ...tenantLabel, 'sekisho.dev/purpose': 'application' }
const owners = [
  {
    apiVersion: 'tenancy.sekisho.dev/v1alpha1',
    kind: 'Tenant',
    name: 'acme',
    uid: '00000000-0000-4000-8000-000000000000',
    controller: true,
  },
]

/** A namespace as the Tenant controller makes it, with changes. */
function made(name: string, labels: object = {}, metadata: object = { ownerReferences: owners }): object {
  const plain = namespace(name, { ...application, ...restricted })
  return { ...plain, metadata: { name, labels: { ...application, ...restricted, ...labels }, ...metadata } }
}

const roleGroup = 'rbac.authorization.k8s.io'
const person = { kind: 'User', apiGroup: roleGroup, name: 'github|github.com|1001' }
const team = { kind: 'Group', apiGroup: roleGroup, name: 'github|github.com|org|2001|team|3001' }
const ours = (name: string): object => ({ kind: 'ServiceAccount', name, namespace: 'sekisho-system' })

function binding(role: string, subjects: readonly object[], kind = 'ClusterRole'): object {
  return {
    apiVersion: `${roleGroup}/v1`,
    kind: 'RoleBinding',
    metadata: { name: 'taken' },
    roleRef: { apiGroup: roleGroup, kind, name: role },
    subjects,
  }
}
const bindings = (where: string): string => `${rbac}/namespaces/${where}/rolebindings`

const writes: readonly Row[] = [
  ...['kube-system', 'default', 'other', 'sekisho-system', 'acme-build'].map(where =>
    refused.post(`the controllers run a Deployment in ${where}`, controllers, deployments(where), deploymentOf()),
  ),
  allowed.post('the controllers run a Deployment of a tenant', controllers, deployments('acme'), deploymentOf()),
  ...[broker, admission, dataServices].flatMap(as => [
    refused.post(`${as.user} runs a Deployment of a tenant`, as, deployments('acme'), deploymentOf()),
    refused.post(`${as.user} makes a namespace`, as, namespaces, made('new')),
    refused.post(`${as.user} binds a role`, as, bindings('acme'), binding('sekisho:tenant-admin', [person])),
    refused.post(`${as.user} writes a Secret`, as, core('sekisho-system', 'secrets'), secret({ name: 'github-app-key' })),
  ]),
  refused.post('the controllers make a Secret of a tenant', controllers, core('acme', 'secrets'), secret({ name: 'mine' })),
  refused.post('the controllers write a key of an App', controllers, core('sekisho-system', 'secrets'), secret({ name: 'key' })),
  refused.remove('the controllers delete a Secret of a tenant', controllers, core('acme', 'secrets/plain')),
  allowed.apply(
    'the controllers keep the values of an AppSecret',
    controllers,
    apply(core('acme', 'secrets/appsecret-x')),
    secret({ name: 'appsecret-x' }),
  ),
  allowed.remove('the controllers delete the values of an AppSecret', controllers, core('acme', 'secrets/appsecret-shop')),
  allowed.apply(
    'the controllers give values to a build',
    controllers,
    apply(core('acme-build', 'secrets/build-secrets-x')),
    secret({ name: 'build-secrets-x' }),
  ),
  ...[
    ['acme', 'build-secrets-x'],
    ['acme-build', 'appsecret-x'],
    ['other', 'appsecret-x'],
    ['sekisho-system', 'appsecret-x'],
    ['acme', 'xappsecret-x'],
  ].map(([where = '', name = '']) =>
    refused.apply(
      `the controllers write Secret ${name} in ${where}`,
      controllers,
      apply(core(where, `secrets/${name}`)),
      secret({ name }),
    ),
  ),
  refused.apply(
    'the broker writes the values of an AppSecret',
    broker,
    apply(core('acme', 'secrets/appsecret-x')),
    secret({ name: 'appsecret-x' }),
  ),
  expecting('own-pod-deletions').remove('the controllers delete a pod', controllers, core('acme', 'pods/runner')),
  expecting('own-pod-deletions').remove('the controllers delete all pods', controllers, core('acme', 'pods')),
  refused.remove('the broker deletes a pod that is being deleted', broker, core('acme', 'pods/leaving')),
  allowed.remove(
    'the controllers force a pod that is being deleted',
    controllers,
    `${core('acme', 'pods/leaving')}?gracePeriodSeconds=0`,
  ),
  refused.post('the controllers make a token', controllers, core('acme', 'serviceaccounts/default/token'), {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { audiences: ['x'] },
  }),
  refused.post('the controllers make a ClusterRole', controllers, `${rbac}/clusterroles`, {
    apiVersion: `${roleGroup}/v1`,
    kind: 'ClusterRole',
    metadata: { name: 'taken' },
    rules: [],
  }),
  refused.post('the controllers bind a role in the whole cluster', controllers, `${rbac}/clusterrolebindings`, {
    ...binding('sekisho:tenant-admin', [person]),
    kind: 'ClusterRoleBinding',
  }),
  ...['kube-system', 'sekisho-system', 'other'].map(where =>
    expecting('own-writes', 'own-role-bindings').post(
      `the controllers bind a role of a tenant in ${where}`,
      controllers,
      bindings(where),
      binding('sekisho:tenant-admin', [person]),
    ),
  ),
  refused.post('the broker writes a ConfigMap of the platform', broker, core('sekisho-system', 'configmaps'), configMap('chart')),
  refused.post(
    'the broker binds in a namespace that is no tenant’s',
    broker,
    '/apis/github.sekisho.dev/v1alpha1/namespaces/other/installations',
    installation({ name: 'mine' }),
  ),
  allowed.post(
    'the broker binds an account',
    broker,
    '/apis/github.sekisho.dev/v1alpha1/namespaces/acme/installations',
    installation({ name: 'mine' }),
  ),
  allowed.remove('the broker deletes a Tenant that its owner ended', broker, '/apis/tenancy.sekisho.dev/v1alpha1/tenants/acme'),
  refused.remove('the controllers delete a Tenant', controllers, '/apis/tenancy.sekisho.dev/v1alpha1/tenants/acme'),
  allowed.post('the broker makes a Tenant', broker, '/apis/tenancy.sekisho.dev/v1alpha1/tenants', tenant('new')),
  allowed.apply(
    'the broker keeps a checkpoint',
    broker,
    apply(core('sekisho-system', 'configmaps/sekisho-audit-checkpoints')),
    configMap('sekisho-audit-checkpoints'),
  ),
  refused.apply(
    'the controllers replace a checkpoint of the audit log',
    controllers,
    apply(core('sekisho-system', 'configmaps/sekisho-audit-checkpoints')),
    configMap('sekisho-audit-checkpoints'),
  ),
  refused.apply(
    'admission replaces its certificate',
    admission,
    apply(core('sekisho-system', 'secrets/sekisho-admission-tls')),
    secret({ name: 'sekisho-admission-tls' }),
  ),
  // They renew what is there, and make none.
  refused.apply(
    'the controllers make the Secret with the certificate of admission',
    controllers,
    apply(core('sekisho-system', 'secrets/sekisho-admission-tls')),
    secret({ name: 'sekisho-admission-tls' }),
  ),
  refused.apply(
    'the broker replaces the certificate of admission',
    broker,
    apply(core('sekisho-system', 'secrets/sekisho-admission-tls')),
    secret({ name: 'sekisho-admission-tls' }),
  ),
]

const refusedNamespace = expecting('own-namespaces', 'own-writes')
const one = `${namespaces}/acme`

const namespaceRows: readonly Row[] = [
  allowed.post('the controllers make a namespace of a Tenant', controllers, namespaces, made('new')),
  refusedNamespace.post('… of no Tenant', controllers, namespaces, made('new', {}, {})),
  refusedNamespace.post('… without its label', controllers, namespaces, made('new', { 'sekisho.dev/tenant': null })),
  refusedNamespace.post('… for nothing', controllers, namespaces, made('new', { 'sekisho.dev/purpose': 'other' })),
  refusedNamespace.post(
    '… that is privileged',
    controllers,
    namespaces,
    made('new', { [Object.keys(restricted)[0] ?? '']: 'privileged' }),
  ),
  ...['kube-tools', 'sekisho-tools', 'openshift-tools'].map(name =>
    refusedNamespace.post(`… called ${name}`, controllers, namespaces, made(name)),
  ),
  allowed.patch('the controllers restore the labels of a namespace', controllers, one, {
    metadata: { labels: restricted, ownerReferences: owners },
  }),
  refusedNamespace.patch('the controllers loosen Pod Security', controllers, one, {
    metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'privileged' }, ownerReferences: owners },
  }),
  refusedNamespace.patch('the controllers give a namespace to another tenant', controllers, one, {
    metadata: { labels: { ...restricted, 'sekisho.dev/tenant': 'globex' }, ownerReferences: owners },
  }),
  refusedNamespace.patch('the controllers take a namespace over', controllers, `${namespaces}/other`, {
    metadata: { labels: { ...application, ...restricted }, ownerReferences: owners },
  }),
  ...['kube-system', 'sekisho-system', 'default'].map(name =>
    refusedNamespace.patch(`the controllers label ${name}`, controllers, `${namespaces}/${name}`, {
      metadata: { labels: { ...application, ...restricted }, ownerReferences: owners },
    }),
  ),
  allowed.remove('the controllers delete the namespace of a tenant', controllers, one),
  refused.remove('the controllers delete another namespace', controllers, `${namespaces}/other`),
]

const refusedBinding = expecting('own-role-bindings', 'own-writes')
const bind = (what: string, where: string, body: object): Row => refusedBinding.post(what, controllers, bindings(where), body)

const bindingRows: readonly Row[] = [
  allowed.post(
    'people and teams get a role of a tenant',
    controllers,
    bindings('acme'),
    binding('sekisho:tenant-admin', [person, team]),
  ),
  allowed.post('nobody has a role', controllers, bindings('acme'), binding('sekisho:tenant-viewer', [])),
  bind('nobody has a role in a build namespace', 'acme-build', binding('sekisho:tenant-admin', [person])),
  bind('cluster-admin is bound', 'acme', binding('cluster-admin', [person])),
  bind('a Role is bound', 'acme', binding('sekisho:tenant-admin', [person], 'Role')),
  ...[
    { ...person, name: 'root' },
    { ...person, name: 'github|github.com|1001|org|1|owners' },
    { kind: 'Group', apiGroup: roleGroup, name: 'system:authenticated' },
    { kind: 'Group', apiGroup: roleGroup, name: 'github|github.com|1001' },
    { kind: 'ServiceAccount', name: 'default', namespace: 'other' },
    ours('sekisho-controllers'),
  ].map(subject =>
    bind(`a role of a tenant for ${JSON.stringify(subject)}`, 'acme', binding('sekisho:tenant-admin', [person, subject])),
  ),
  ...[
    { role: 'sekisho:controllers-application-namespace', where: 'acme', name: 'sekisho-controllers', other: 'acme-build' },
    { role: 'sekisho:controllers-build-namespace', where: 'acme-build', name: 'sekisho-controllers', other: 'acme' },
    { role: 'sekisho:broker-application-namespace', where: 'acme', name: 'sekisho-broker', other: 'acme-build' },
    { role: 'sekisho:data-services-application-namespace', where: 'acme', name: 'sekisho-data-services', other: 'acme-build' },
    { role: 'sekisho:controllers-application-namespace', where: 'acme', name: 'sekisho', other: 'acme-build' },
  ].flatMap(({ role, where, name, other }) => [
    allowed.post(`${role} for ${name}`, controllers, bindings(where), binding(role, [ours(name)])),
    bind(`${role} in the other namespace`, other, binding(role, [ours(name)])),
    bind(`${role} for admission`, where, binding(role, [ours('sekisho-admission')])),
    bind(`${role} for a person`, where, binding(role, [person])),
    bind(`${role} for an account of that name elsewhere`, where, binding(role, [{ ...ours(name), namespace: 'acme' }])),
    bind(`${role} for another as well`, where, binding(role, [ours(name), person])),
  ]),
]

const production: readonly Row[] = [...writes, ...namespaceRows, ...bindingRows, ...ownServiceRows]

/** What one of the processes may do, the account may do that is all of them; what none of them may, it may not. */
const standaloneRows: readonly Row[] = [
  ...production
    .filter(({ expected }) => expected === 'allowed')
    .map(row => ({ ...row, name: `${row.name} (standalone form)`, as: standalone })),
  ...['kube-system', 'sekisho-system', 'acme-build'].map(where =>
    refused.post(`the platform runs a Deployment in ${where}`, standalone, deployments(where), deploymentOf()),
  ),
  refused.post('the platform makes a Secret of a tenant', standalone, core('acme', 'secrets'), secret({ name: 'mine' })),
  refused.post('the platform makes a ServiceAccount beside its own', standalone, core('sekisho-system', 'serviceaccounts'), {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'sekisho-broker' },
  }),
  refusedBinding.post('the platform binds cluster-admin', standalone, bindings('acme'), binding('cluster-admin', [person])),
  expecting('own-pod-deletions').remove('the platform deletes a pod', standalone, core('acme', 'pods/runner')),
]

/** About our own identities; against the policies about them alone. */
export const ownRows: readonly Row[] = [
  ...production,
  refused.post('the controllers make a ServiceAccount beside their own', controllers, core('sekisho-system', 'serviceaccounts'), {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'sekisho' },
  }),
  ...standaloneRows,
]
