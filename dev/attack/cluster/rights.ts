// Other identities, more rights, and changes of the cluster itself: what would give a tenant another identity, or remove a
// defence.
import { neighbourNamespace, tenantNamespace } from '../../demo/context.ts'
import type { Attack } from '../attack.ts'
import type { Actor } from '../world/actors.ts'
import { platformNamespace } from '../world/targets.ts'
import { type ApiAttempt, apiAttempts, corePath, groupPath, mergePatch } from './api-attempts.ts'

/** Other identities: tokens, impersonation, certificates. */
function identities(as: Actor): readonly ApiAttempt[] {
  const planned = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { audiences: ['sekisho'], expirationSeconds: 600 },
  }
  const accounts = [
    [neighbourNamespace, 'default'],
    [`${neighbourNamespace}-build`, 'builder'],
    [tenantNamespace, 'default'],
    [platformNamespace, 'sekisho'],
    ['kube-system', 'namespace-controller'],
  ]
  const masks: readonly Readonly<Record<string, string>>[] = [
    { 'impersonate-user': 'system:admin' },
    { 'impersonate-user': 'github|github.localhost|1001' },
    { 'impersonate-user': 'system:serviceaccount:sekisho-system:sekisho' },
    { 'impersonate-user': 'x', 'impersonate-group': 'system:masters' },
    { 'impersonate-user': 'x', 'impersonate-group': 'github|github.localhost|org|2001|owners' },
    { 'impersonate-user': 'x', 'impersonate-uid': '0', 'impersonate-extra-scopes': 'all' },
    { 'impersonate-user': 'system:node:sekisho-node', 'impersonate-group': 'system:nodes' },
  ]
  const certificate = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'attack' },
    spec: { request: 'LS0=', signerName: 'kubernetes.io/kube-apiserver-client', usages: ['client auth'] },
  }
  return [
    ...accounts.map(
      ([namespace = '', name]): ApiAttempt => ({
        as,
        method: 'POST',
        path: `${corePath(namespace, 'serviceaccounts')}/${name}/token`,
        json: planned,
        dry: true,
      }),
    ),
    ...masks.map(
      (headers): ApiAttempt => ({
        as,
        method: 'GET',
        path: '/api/v1/secrets',
        headers,
        name: `act as ${Object.values(headers).join(', ')}`,
      }),
    ),
    { as, method: 'POST', path: '/apis/certificates.k8s.io/v1/certificatesigningrequests', json: certificate },
    { as, method: 'PUT', path: '/apis/certificates.k8s.io/v1/certificatesigningrequests/attack/approval', json: certificate },
    {
      as,
      method: 'POST',
      path: '/apis/authentication.k8s.io/v1/tokenreviews',
      json: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: 'x' } },
    },
  ]
}

/** More rights than one has. */
function rights(as: Actor): readonly ApiAttempt[] {
  const rbacGroup = 'rbac.authorization.k8s.io/v1'
  const everything = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]
  const secrets = [{ apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list'] }]
  const role = (kind: string, rules: unknown, labels = {}): object => ({
    apiVersion: rbacGroup,
    kind,
    metadata: { name: 'attack', labels },
    rules,
  })
  const binding = (kind: string, name: string, subject: object): object => ({
    apiVersion: rbacGroup,
    kind,
    metadata: { name: 'attack' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', ...subject }],
  })
  const everybody = { kind: 'Group', name: 'system:authenticated' }
  const own = (resource: string): string => groupPath(rbacGroup, neighbourNamespace, resource)
  const wide = (resource: string): string => `/apis/${rbacGroup}/${resource}`
  const post = (path: string, json: object, name: string): ApiAttempt => ({ as, method: 'POST', path, json, name, dry: true })
  return [
    post(own('roles'), role('Role', everything), 'Role with everything'),
    post(own('roles'), role('Role', secrets), 'Role that reads Secrets'),
    post(own('rolebindings'), binding('RoleBinding', 'cluster-admin', everybody), 'RoleBinding of everybody to cluster-admin'),
    post(
      own('rolebindings'),
      binding('RoleBinding', 'sekisho:tenant-admin', everybody),
      'RoleBinding of everybody to sekisho:tenant-admin',
    ),
    post(
      groupPath(rbacGroup, tenantNamespace, 'rolebindings'),
      binding('RoleBinding', 'sekisho:tenant-admin', { kind: 'User', name: 'github|github.localhost|1004' }),
      'RoleBinding of gary in acme',
    ),
    post(
      wide('clusterroles'),
      role('ClusterRole', secrets, { 'rbac.authorization.k8s.io/aggregate-to-edit': 'true' }),
      'ClusterRole that aggregates into edit',
    ),
    post(
      wide('clusterrolebindings'),
      binding('ClusterRoleBinding', 'cluster-admin', { kind: 'Group', name: 'system:masters' }),
      'ClusterRoleBinding of system:masters',
    ),
    {
      as,
      method: 'PATCH',
      path: wide('clusterroles/sekisho:tenant-viewer'),
      json: { rules: everything },
      contentType: mergePatch,
    },
    { as, method: 'DELETE', path: own('rolebindings'), name: 'delete the role bindings of globex', dry: true },
  ]
}

/** The cluster itself: what would change or bypass a defence. */
function cluster(as: Actor): readonly ApiAttempt[] {
  const admission = '/apis/admissionregistration.k8s.io/v1'
  const copier = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: 'attack' },
    webhooks: [],
  }
  const patch = (path: string, json: unknown): ApiAttempt => ({
    as,
    method: 'PATCH',
    path,
    json,
    contentType: mergePatch,
    dry: true,
  })
  const post = (path: string, json: object): ApiAttempt => ({ as, method: 'POST', path, json, dry: true })
  const namespace = (name: string, labels: object): object => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, labels },
  })
  return [
    post(`${admission}/mutatingwebhookconfigurations`, copier),
    patch(`${admission}/validatingwebhookconfigurations/sekisho-admission`, { webhooks: [] }),
    { as, method: 'DELETE', path: `${admission}/validatingadmissionpolicies/sekisho-reserved-secrets` },
    { as, method: 'DELETE', path: `${admission}/validatingadmissionpolicybindings/sekisho-reserved-secrets` },
    patch('/apis/apiextensions.k8s.io/v1/customresourcedefinitions/installations.github.sekisho.dev', {
      spec: { conversion: { strategy: 'None' } },
    }),
    post('/apis/apiregistration.k8s.io/v1/apiservices', {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: 'v1.attack.example' },
      spec: { group: 'attack.example', version: 'v1', groupPriorityMinimum: 1, versionPriority: 1 },
    }),
    { as, method: 'GET', path: '/api/v1/nodes/sekisho-node/proxy/pods' },
    { as, method: 'GET', path: '/api/v1/nodes/sekisho-node/proxy/logs/' },
    { as, method: 'POST', path: '/api/v1/nodes/sekisho-node/proxy/run/acme/shop/web?cmd=true', dry: true },
    patch('/api/v1/nodes/sekisho-node', { metadata: { labels: { x: 'y' } } }),
    post('/api/v1/namespaces', namespace('attack', { 'sekisho.dev/tenant': 'globex' })),
    patch(`/api/v1/namespaces/${neighbourNamespace}`, {
      metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'privileged' } },
    }),
    patch(`/api/v1/namespaces/${neighbourNamespace}`, { metadata: { labels: { 'sekisho.dev/tenant': 'acme' } } }),
    patch(`/api/v1/namespaces/${tenantNamespace}`, {
      metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Namespace', name: neighbourNamespace, uid: 'x' }] },
    }),
    patch(`/api/v1/namespaces/${neighbourNamespace}/status`, {
      metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'privileged' } },
    }),
    { as, method: 'PUT', path: `/api/v1/namespaces/${tenantNamespace}/finalize`, json: namespace(tenantNamespace, {}) },
    { as, method: 'DELETE', path: `/api/v1/namespaces/${tenantNamespace}` },
    post('/api/v1/persistentvolumes', {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: 'attack' },
      spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/' } },
    }),
    post('/apis/scheduling.k8s.io/v1/priorityclasses', {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name: 'attack' },
      value: 1,
    }),
    post(groupPath('networking.k8s.io/v1', neighbourNamespace, 'networkpolicies'), {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: 'attack' },
      spec: { podSelector: {}, egress: [{}], policyTypes: ['Egress'] },
    }),
    {
      as,
      method: 'DELETE',
      path: groupPath('networking.k8s.io/v1', neighbourNamespace, 'networkpolicies'),
      dry: true,
      name: 'delete the network policies of globex',
    },
    {
      as,
      method: 'DELETE',
      path: corePath(neighbourNamespace, 'resourcequotas'),
      dry: true,
      name: 'delete the quotas of globex',
    },
    patch(`${corePath(neighbourNamespace, 'resourcequotas')}/tenant`, { spec: { hard: { pods: '100000' } } }),
    patch(`${corePath(neighbourNamespace, 'limitranges')}/tenant`, { spec: { limits: [] } }),
    ...[
      'external-secrets.io/v1/namespaces/globex/externalsecrets',
      'external-secrets.io/v1/clustersecretstores',
      'external-secrets.io/v1alpha1/namespaces/globex/pushsecrets',
      'argoproj.io/v1alpha1/namespaces/globex/applications',
    ].map(path =>
      post(`/apis/${path}`, { apiVersion: path.split('/').slice(0, 2).join('/'), kind: 'X', metadata: { name: 'attack' } }),
    ),
  ]
}

export const rightsAttacks: readonly Attack[] = [
  {
    name: 'rights/identities',
    as: 'gary, admin of globex, and a ServiceAccount of globex',
    against: 'identities of others',
    tries: 'ServiceAccount tokens, impersonation of people, groups, nodes and the platform, certificates, token reviews.',
    expected: ['RBAC'],
    attempts: world => apiAttempts(world, [...identities('gary'), ...identities('workload')]),
  },
  {
    name: 'rights/roles',
    as: 'gary, admin of globex, and a ServiceAccount of globex',
    against: 'RBAC',
    tries: 'Roles and bindings with more rights than one has, for oneself or for all users, here and in acme, and aggregation.',
    expected: ['RBAC'],
    attempts: world => apiAttempts(world, [...rights('gary'), ...rights('workload')]),
  },
  {
    name: 'rights/cluster',
    as: 'gary, admin of globex, and noah, who belongs to no tenant',
    against: 'webhooks, policies, CRDs, nodes, namespaces, quotas and network policies',
    tries:
      'Removes a policy or a webhook, widens a quota, relabels or adopts a namespace, brings a webhook or an API of one’s own, reaches the kubelet.',
    expected: ['RBAC', 'broker'],
    peer: 'Capsule CVE-2022-46167, CVE-2024-39690; External Secrets across namespaces',
    attempts: world => apiAttempts(world, [...cluster('gary'), ...cluster('noah')]),
  },
]
