// Attacks on tenants' namespaces and the labels on them.
import {
  clusterAdministrator,
  dave,
  garbageCollector,
  impostor,
  namespaceController,
  platform,
  platformAdministrator,
} from '../identities.ts'
import { namespace, tenantLabel } from '../objects.ts'
import { allowed, expecting, type Row } from './row.ts'

const refused = expecting('namespace-guard')
const acme = '/api/v1/namespaces/acme'
const loosened = { metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'privileged' } } }
const unmarked = { metadata: { labels: { 'sekisho.dev/tenant': null } } }

export const namespaceRows: readonly Row[] = [
  ...[dave, clusterAdministrator, impostor].flatMap(as => [
    refused.post(
      `${as.user} makes a namespace that looks like a tenant’s`,
      as,
      '/api/v1/namespaces',
      namespace('fake', tenantLabel),
    ),
    refused.patch(`${as.user} loosens Pod Security`, as, acme, loosened),
    refused.patch(`${as.user} loosens it through status`, as, `${acme}/status`, loosened),
    refused.patch(`${as.user} removes the tenant label`, as, acme, unmarked),
    refused.remove(`${as.user} deletes the namespace`, as, acme),
  ]),
  refused.patch('dave makes his namespace look like a tenant’s', dave, '/api/v1/namespaces/other', {
    metadata: { labels: tenantLabel },
  }),
  refused.put('dave removes the tenant label through finalize', dave, `${acme}/finalize`, {
    ...namespace('acme'),
    spec: { finalizers: ['kubernetes'] },
  }),
  allowed.patch('dave adds another label', dave, acme, { metadata: { labels: { team: 'x' } } }),
  allowed.post('dave makes a plain namespace', dave, '/api/v1/namespaces', namespace('plain')),
  allowed.remove('dave deletes a plain namespace', dave, '/api/v1/namespaces/other'),
  allowed.post('the platform makes a tenant’s namespace', platform, '/api/v1/namespaces', namespace('new', tenantLabel)),
  allowed.patch('a platform administrator changes Pod Security', platformAdministrator, acme, loosened),
  allowed.remove('the garbage collector deletes the namespace of a deleted Tenant', garbageCollector, acme),
  allowed.remove('the namespace controller deletes a namespace', namespaceController, acme),
  refused.patch('the garbage collector loosens Pod Security', garbageCollector, acme, loosened),
]
