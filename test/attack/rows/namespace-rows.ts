// Attacks on tenants' namespaces and the labels on them.
import {
  clusterAdministrator,
  controllers,
  dave,
  garbageCollector,
  impostor,
  namespaceController,
  platformAdministrator,
} from '../identities.ts'
import { firstUser, namespace, tenantLabel } from '../objects.ts'
import { allowed, expecting, ownerOf, type Row } from './row.ts'

const refused = expecting('namespace-guard')
const acme = '/api/v1/namespaces/acme'
const loosened = { metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'privileged' } } }
const opened = { metadata: { annotations: { 'sekisho.dev/runtime-class-tolerations': 'dedicated|Exists||' } } }
const unmarked = { metadata: { labels: { 'sekisho.dev/tenant': null } } }

export const namespaceRows: readonly Row[] = [
  ...[dave, impostor].flatMap(as => [
    refused.post(
      `${as.user} makes a namespace that looks like a tenant’s`,
      as,
      '/api/v1/namespaces',
      namespace('fake', tenantLabel),
    ),
    refused.patch(`${as.user} loosens Pod Security`, as, acme, loosened),
    refused.patch(`${as.user} loosens it through status`, as, `${acme}/status`, loosened),
    refused.patch(`${as.user} removes the tenant label`, as, acme, unmarked),
    refused.patch(`${as.user} opens nodes by an annotation`, as, acme, opened),
    refused.patch(`${as.user} opens them through status`, as, `${acme}/status`, opened),
    refused.patch(`${as.user} removes an annotation of the platform`, as, '/api/v1/namespaces/classed', {
      metadata: { annotations: { 'sekisho.dev/runtime-class-tolerations': null } },
    }),
    allowed.patch(`${as.user} annotates a tenant’s namespace otherwise`, as, acme, {
      metadata: { annotations: { 'example.com/cost-center': '7' } },
    }),
    refused.remove(`${as.user} deletes the namespace`, as, acme),
  ]),
  refused.patch('dave makes his namespace look like a tenant’s', dave, '/api/v1/namespaces/other', {
    metadata: { labels: tenantLabel },
  }),
  ...[acme, '/api/v1/namespaces/sekisho-system', '/api/v1/namespaces/sekisho-data'].flatMap(path => [
    refused.patch(`dave becomes the owner of ${path}`, dave, path, { metadata: { ownerReferences: [ownerOf('v1', 'Node')] } }),
    refused.patch(`dave keeps ${path} by a finalizer`, dave, path, { metadata: { finalizers: ['example.com/held'] } }),
    refused.patch(`dave writes the status of ${path}`, dave, `${path}/status`, { status: { phase: 'Active' } }),
    refused.remove(`dave deletes ${path}`, dave, path),
    allowed.patch(`a cluster administrator labels ${path}`, clusterAdministrator, path, loosened),
    allowed.patch(`the garbage collector removes an owner of ${path}`, garbageCollector, path, {
      metadata: { ownerReferences: [] },
    }),
  ]),
  ...['sekisho-system', 'sekisho-data'].map(name =>
    refused.patch(`dave loosens Pod Security of ${name}`, dave, `/api/v1/namespaces/${name}`, loosened),
  ),
  refused.patch(
    'the garbage collector loosens Pod Security of the platform',
    garbageCollector,
    '/api/v1/namespaces/sekisho-system',
    loosened,
  ),
  refused.put('dave finishes the deletion of a namespace that has contents', dave, `${acme}/finalize`, {
    ...namespace('acme', { ...tenantLabel, ...firstUser, 'sekisho.dev/purpose': 'application' }),
    spec: { finalizers: [] },
  }),
  allowed.put('the namespace controller finishes a deletion', namespaceController, `${acme}/finalize`, {
    ...namespace('acme', { ...tenantLabel, ...firstUser, 'sekisho.dev/purpose': 'application' }),
    spec: { finalizers: ['kubernetes'] },
  }),
  refused.put('dave removes the tenant label through finalize', dave, `${acme}/finalize`, {
    ...namespace('acme'),
    spec: { finalizers: ['kubernetes'] },
  }),
  allowed.patch('dave adds another label', dave, acme, { metadata: { labels: { team: 'x' } } }),
  allowed.post('dave makes a plain namespace', dave, '/api/v1/namespaces', namespace('plain')),
  allowed.remove('dave deletes a plain namespace', dave, '/api/v1/namespaces/other'),
  allowed.post('the platform makes a tenant’s namespace', controllers, '/api/v1/namespaces', namespace('new', tenantLabel)),
  allowed.patch('a platform administrator changes Pod Security', platformAdministrator, acme, loosened),
  allowed.remove('the garbage collector deletes the namespace of a deleted Tenant', garbageCollector, acme),
  allowed.remove('the namespace controller deletes a namespace', namespaceController, acme),
  refused.patch('the garbage collector loosens Pod Security', garbageCollector, acme, loosened),
]
