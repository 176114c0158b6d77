// What holders of a tenant role try against what holds the tenant, the whole cluster, and the platform: requests that must all
// be refused, as data.
import { type Attack, container, namespaced, object } from './tenant-role-requests.ts'

/** The attacks. The subject is one namespace of a tenant. */
export function platformAttacks(tenant: string): readonly Attack[] {
  const apps = (rest: string) => `/apis/apps/v1/namespaces/${tenant}/${rest}`
  const own = (resource: string, rest = '') => namespaced(tenant, resource, rest)
  return [
    // What holds the tenant.
    ['namespace', { method: 'POST', path: '/api/v1/namespaces', body: object('v1', 'Namespace') }],
    [
      'labels of the own namespace',
      {
        method: 'PATCH',
        path: `/api/v1/namespaces/${tenant}`,
        body: { metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'privileged' } } },
      },
    ],
    [
      'finalize of the own namespace',
      { method: 'PUT', path: `/api/v1/namespaces/${tenant}/finalize`, body: object('v1', 'Namespace') },
    ],
    ['delete of the own namespace', { method: 'DELETE', path: `/api/v1/namespaces/${tenant}` }],
    ['ResourceQuota', { method: 'POST', path: own('resourcequotas'), body: object('v1', 'ResourceQuota') }],
    ['deletecollection of ResourceQuotas', { method: 'DELETE', path: own('resourcequotas') }],
    ['LimitRange', { method: 'POST', path: own('limitranges'), body: object('v1', 'LimitRange', { spec: { limits: [] } }) }],
    [
      'NetworkPolicy',
      {
        method: 'POST',
        path: `/apis/networking.k8s.io/v1/namespaces/${tenant}/networkpolicies`,
        body: object('networking.k8s.io/v1', 'NetworkPolicy', { spec: { podSelector: {} } }),
      },
    ],
    [
      'Ingress',
      {
        method: 'POST',
        path: `/apis/networking.k8s.io/v1/namespaces/${tenant}/ingresses`,
        body: object('networking.k8s.io/v1', 'Ingress', {
          spec: { defaultBackend: { service: { name: 'x', port: { number: 1 } } } },
        }),
      },
    ],
    [
      'DaemonSet',
      {
        method: 'POST',
        path: apps('daemonsets'),
        body: object('apps/v1', 'DaemonSet', {
          spec: {
            selector: { matchLabels: { a: 'b' } },
            template: { metadata: { labels: { a: 'b' } }, spec: { containers: [container] } },
          },
        }),
      },
    ],
    [
      'Lease',
      {
        method: 'POST',
        path: `/apis/coordination.k8s.io/v1/namespaces/${tenant}/leases`,
        body: object('coordination.k8s.io/v1', 'Lease'),
      },
    ],
    [
      'Event',
      {
        method: 'POST',
        path: own('events'),
        body: { apiVersion: 'v1', kind: 'Event', metadata: { name: 'x' }, involvedObject: {} },
      },
    ],
    // The whole cluster.
    ...(
      [
        ['/apis/admissionregistration.k8s.io/v1', 'validatingwebhookconfigurations', 'ValidatingWebhookConfiguration'],
        ['/apis/admissionregistration.k8s.io/v1', 'mutatingwebhookconfigurations', 'MutatingWebhookConfiguration'],
        ['/apis/admissionregistration.k8s.io/v1', 'validatingadmissionpolicies', 'ValidatingAdmissionPolicy'],
        ['/apis/admissionregistration.k8s.io/v1', 'validatingadmissionpolicybindings', 'ValidatingAdmissionPolicyBinding'],
        ['/apis/apiextensions.k8s.io/v1', 'customresourcedefinitions', 'CustomResourceDefinition'],
        ['/apis/apiregistration.k8s.io/v1', 'apiservices', 'APIService'],
        ['/apis/storage.k8s.io/v1', 'storageclasses', 'StorageClass'],
        ['/apis/scheduling.k8s.io/v1', 'priorityclasses', 'PriorityClass'],
        ['/apis/node.k8s.io/v1', 'runtimeclasses', 'RuntimeClass'],
        ['/apis/networking.k8s.io/v1', 'ingressclasses', 'IngressClass'],
        ['/apis/flowcontrol.apiserver.k8s.io/v1', 'flowschemas', 'FlowSchema'],
        ['/api/v1', 'persistentvolumes', 'PersistentVolume'],
        ['/api/v1', 'nodes', 'Node'],
        ['/apis/tenancy.sekisho.dev/v1alpha1', 'tenants', 'Tenant'],
        ['/apis/github.sekisho.dev/v1alpha1', 'clustergithubapps', 'ClusterGitHubApp'],
        ['/apis/apps.sekisho.dev/v1alpha1', 'applicationcharts', 'ApplicationChart'],
        ['/apis/github.sekisho.dev/v1alpha1', 'clustergrantpolicies', 'ClusterGrantPolicy'],
      ] as const
    ).flatMap(([base, plural, kind]) => {
      const apiVersion = base.replace(/^\/apis?\//, '')
      return [
        [`create ${plural}`, { method: 'POST', path: `${base}/${plural}`, body: object(apiVersion, kind) }] as const,
        [`patch ${plural}`, { method: 'PATCH', path: `${base}/${plural}/x`, body: {} }] as const,
        [`delete ${plural}`, { method: 'DELETE', path: `${base}/${plural}/x` }] as const,
      ]
    }),
    // Kinds that only the broker or a controller writes.
    ...['installations', 'installations/status', 'repositorygrants/status'].map(
      resource =>
        [
          `patch ${resource}`,
          {
            method: 'PATCH',
            path: `/apis/github.sekisho.dev/v1alpha1/namespaces/${tenant}/${resource.replace('/', '/x/').replace(/s$/, match => (resource.includes('/') ? match : 's/x'))}`,
            body: {},
          },
        ] as const,
    ),
    [
      'create Installation',
      { method: 'POST', path: `/apis/github.sekisho.dev/v1alpha1/namespaces/${tenant}/installations`, body: {} },
    ],
    [
      'patch a grant',
      { method: 'PATCH', path: `/apis/github.sekisho.dev/v1alpha1/namespaces/${tenant}/repositorygrants/x`, body: {} },
    ],
    [
      'status of an Application',
      { method: 'PATCH', path: `/apis/apps.sekisho.dev/v1alpha1/namespaces/${tenant}/applications/x/status`, body: {} },
    ],
    // Logs, metrics and profiles of the API server.
    ...['/logs/', '/metrics', '/debug/pprof/', '/configz', '/api/v1/componentstatuses'].map(
      path => [path, { method: 'GET', path }] as const,
    ),
  ]
}
