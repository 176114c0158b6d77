// What holders of a tenant role try, beyond reading: requests that must all be refused, as data. The subject is one namespace
// of a tenant.
import { tenantRoles } from '../../src/api/names.ts'
import { platformAttacks } from './tenant-role-platform-attacks.ts'
import { type Attack, namespaced, object } from './tenant-role-requests.ts'

/** The attacks, and the parts of requests that their test uses too. */
export function tenantRoleAttacks(tenant: string) {
  const rbac = '/apis/rbac.authorization.k8s.io/v1'
  const apps = (rest: string) => `/apis/apps/v1/namespaces/${tenant}/${rest}`
  const own = (resource: string, rest = '') => namespaced(tenant, resource, rest)
  const secret = own('secrets', '/canary')
  const dryRun = '?dryRun=All'
  const role = (kind: string, rules: readonly object[]) => object('rbac.authorization.k8s.io/v1', kind, { rules })
  const binding = (kind: string, name: string, subject: object) =>
    object('rbac.authorization.k8s.io/v1', kind, {
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [subject],
    })
  const everybody = { kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'system:authenticated' }
  const tokenRequest = object('authentication.k8s.io/v1', 'TokenRequest', { spec: {} })

  const attacks: readonly Attack[] = [
    // Verbs on Secrets that answer with the data, or with an error that quotes it.
    ['patch of nothing', { method: 'PATCH', path: secret, body: {} }],
    ['dry-run patch', { method: 'PATCH', path: `${secret}${dryRun}`, body: { metadata: { labels: { a: 'b' } } } }],
    [
      'server-side apply',
      {
        method: 'PATCH',
        path: `${secret}?fieldManager=x&force=true`,
        body: object('v1', 'Secret'),
        type: 'application/apply-patch+yaml',
      },
    ],
    [
      'JSON patch that tests a value',
      {
        method: 'PATCH',
        path: secret,
        body: [{ op: 'test', path: '/data/canary', value: 'x' }],
        type: 'application/json-patch+json',
      },
    ],
    ['update', { method: 'PUT', path: secret, body: object('v1', 'Secret') }],
    ['dry-run update', { method: 'PUT', path: `${secret}${dryRun}`, body: object('v1', 'Secret') }],
    ['strategic patch', { method: 'PATCH', path: secret, body: {}, type: 'application/strategic-merge-patch+json' }],
    ['delete', { method: 'DELETE', path: secret }],
    ['dry-run delete', { method: 'DELETE', path: `${secret}${dryRun}` }],
    ['deletecollection', { method: 'DELETE', path: own('secrets') }],
    ['dry-run deletecollection', { method: 'DELETE', path: `${own('secrets')}${dryRun}` }],
    [
      'deletecollection by field',
      { method: 'DELETE', path: `${own('secrets')}?fieldSelector=metadata.name%3Dcanary&dryRun=All` },
    ],
    ['watch by the old path', { method: 'GET', path: `/api/v1/watch/namespaces/${tenant}/secrets` }],
    ['watch of one by the old path', { method: 'GET', path: `/api/v1/watch/namespaces/${tenant}/secrets/canary` }],
    ['watch of all by the old path', { method: 'GET', path: '/api/v1/watch/secrets' }],
    // Other collections.
    ['deletecollection of ConfigMaps', { method: 'DELETE', path: own('configmaps') }],
    ['deletecollection of pods', { method: 'DELETE', path: own('pods') }],
    ['deletecollection of Deployments', { method: 'DELETE', path: apps('deployments') }],
    // Into pods.
    ...['portforward', 'proxy', 'proxy/env'].flatMap(rest => [
      [`pods/${rest} (get)`, { method: 'GET', path: own('pods', `/x/${rest}`) }] as const,
      [`pods/${rest} (post)`, { method: 'POST', path: own('pods', `/x/${rest}`) }] as const,
    ]),
    ['ephemeral containers', { method: 'PATCH', path: own('pods', '/x/ephemeralcontainers'), body: {} }],
    ['resize', { method: 'PATCH', path: own('pods', '/x/resize'), body: {} }],
    ['eviction', { method: 'POST', path: own('pods', '/x/eviction'), body: object('policy/v1', 'Eviction') }],
    [
      'binding to a node',
      { method: 'POST', path: own('pods', '/x/binding'), body: object('v1', 'Binding', { target: { kind: 'Node', name: 'n' } }) },
    ],
    [
      'bindings',
      { method: 'POST', path: own('bindings'), body: object('v1', 'Binding', { target: { kind: 'Node', name: 'n' } }) },
    ],
    // By it the platform knows which claims it keeps for an Application.
    [
      'status of a claim',
      { method: 'PATCH', path: own('persistentvolumeclaims', '/x/status'), body: { status: { conditions: [] } } },
    ],
    ['status of a pod', { method: 'PATCH', path: own('pods', '/x/status'), body: { status: {} } }],
    ['services/proxy', { method: 'GET', path: own('services', '/x/proxy/') }],
    [
      'status of a Service',
      {
        method: 'PATCH',
        path: own('services', '/x/status'),
        body: { status: { loadBalancer: { ingress: [{ ip: '203.0.113.1' }] } } },
      },
    ],
    ['nodes/proxy', { method: 'GET', path: '/api/v1/nodes/x/proxy/configz' }],
    ['nodes/proxy exec', { method: 'POST', path: '/api/v1/nodes/x/proxy/exec/a/b/c' }],
    ['endpoints (write)', { method: 'POST', path: own('endpoints'), body: object('v1', 'Endpoints') }],
    [
      'EndpointSlices (write)',
      {
        method: 'POST',
        path: `/apis/discovery.k8s.io/v1/namespaces/${tenant}/endpointslices`,
        body: object('discovery.k8s.io/v1', 'EndpointSlice', { addressType: 'IPv4', endpoints: [] }),
      },
    ],
    // Other identities.
    ['token of another ServiceAccount', { method: 'POST', path: own('serviceaccounts', '/workload/token'), body: tokenRequest }],
    [
      'token of the platform',
      { method: 'POST', path: namespaced('sekisho-system', 'serviceaccounts', '/sekisho/token'), body: tokenRequest },
    ],
    [
      'update of a ServiceAccount',
      { method: 'PATCH', path: own('serviceaccounts', '/workload'), body: { metadata: { annotations: { a: 'b' } } } },
    ],
    [
      'certificate',
      {
        method: 'POST',
        path: '/apis/certificates.k8s.io/v1/certificatesigningrequests',
        body: object('certificates.k8s.io/v1', 'CertificateSigningRequest', {
          spec: { request: 'eA==', signerName: 'kubernetes.io/kube-apiserver-client', usages: ['client auth'] },
        }),
      },
    ],
    [
      'approval of a certificate',
      { method: 'PATCH', path: '/apis/certificates.k8s.io/v1/certificatesigningrequests/x/approval', body: {} },
    ],
    [
      'TokenReview',
      {
        method: 'POST',
        path: '/apis/authentication.k8s.io/v1/tokenreviews',
        body: object('authentication.k8s.io/v1', 'TokenReview', { spec: { token: 'x' } }),
      },
    ],
    [
      'SubjectAccessReview',
      {
        method: 'POST',
        path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
        body: object('authorization.k8s.io/v1', 'SubjectAccessReview', { spec: { user: 'x' } }),
      },
    ],
    [
      'LocalSubjectAccessReview',
      {
        method: 'POST',
        path: `/apis/authorization.k8s.io/v1/namespaces/${tenant}/localsubjectaccessreviews`,
        body: object('authorization.k8s.io/v1', 'LocalSubjectAccessReview', { spec: { user: 'x' } }),
      },
    ],
    // More rights.
    [
      'Role with everything',
      {
        method: 'POST',
        path: `${rbac}/namespaces/${tenant}/roles`,
        body: role('Role', [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]),
      },
    ],
    [
      'Role with bind and escalate',
      {
        method: 'POST',
        path: `${rbac}/namespaces/${tenant}/roles`,
        body: role('Role', [
          { apiGroups: ['rbac.authorization.k8s.io'], resources: ['clusterroles'], verbs: ['bind', 'escalate'] },
        ]),
      },
    ],
    ['Role with nothing', { method: 'POST', path: `${rbac}/namespaces/${tenant}/roles`, body: role('Role', []) }],
    [
      'RoleBinding to cluster-admin',
      {
        method: 'POST',
        path: `${rbac}/namespaces/${tenant}/rolebindings`,
        body: binding('RoleBinding', 'cluster-admin', everybody),
      },
    ],
    [
      'RoleBinding to cluster-admin of the group of cluster administrators',
      {
        method: 'POST',
        path: `${rbac}/namespaces/${tenant}/rolebindings`,
        body: binding('RoleBinding', 'cluster-admin', { ...everybody, name: 'system:masters' }),
      },
    ],
    [
      'RoleBinding to the own role',
      {
        method: 'POST',
        path: `${rbac}/namespaces/${tenant}/rolebindings`,
        body: binding('RoleBinding', tenantRoles.viewer, everybody),
      },
    ],
    [
      'change of the own RoleBinding',
      {
        method: 'PATCH',
        path: `${rbac}/namespaces/${tenant}/rolebindings/${tenantRoles.viewer}`,
        body: { subjects: [everybody] },
      },
    ],
    [
      'ClusterRole with an aggregation label',
      {
        method: 'POST',
        path: `${rbac}/clusterroles`,
        body: {
          ...role('ClusterRole', []),
          metadata: { name: 'x', labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' } },
        },
      },
    ],
    [
      'change of the own ClusterRole',
      { method: 'PATCH', path: `${rbac}/clusterroles/${tenantRoles.developer}`, body: { rules: [] } },
    ],
    [
      'ClusterRoleBinding',
      { method: 'POST', path: `${rbac}/clusterrolebindings`, body: binding('ClusterRoleBinding', 'cluster-admin', everybody) },
    ],
    ...platformAttacks(tenant),
  ]
  return { own, dryRun, secret, rbac, attacks }
}
