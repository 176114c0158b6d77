// Attacks by the label that takes a Service away from kube-proxy: by removing it, by choosing its value, and by a change of
// what is served that keeps it away.
import { clusterAdministrator, controllers, dave, endpointSliceController, garbageCollector, impostor } from '../identities.ts'
import { type Existing, service } from '../objects.ts'
import { allowed, expecting, type Row } from './row.ts'

const refusedProxy = expecting('service-proxy')
const proxyLabel = 'service.kubernetes.io/service-proxy-name'
const proxied = (value: string | null) => ({ metadata: { labels: { [proxyLabel]: value } } })
const services = '/api/v1/namespaces/acme/services'
const unproxied = `${services}/unproxied`
const ours = 'sekisho.dev-too-many-endpoints'

/** Of a Service whose label is removed by leaving it out. */
const withoutLabel = service({ name: 'unproxied' })

const otherSelector = { spec: { selector: { app: 'mine' } } }

export const proxyRows: readonly Row[] = [
  ...['other', '', ours, 'sekisho.dev-uncounted-again', 'sekisho.dev-uncounted-1'].flatMap(value => [
    ...[dave, impostor, controllers, endpointSliceController].map(as =>
      refusedProxy.post(
        `${as.user} makes a Service with the proxy name '${value}'`,
        as,
        services,
        service({ name: 'x', labels: { [proxyLabel]: value } }),
      ),
    ),
    refusedProxy.patch(`dave takes a Service away from kube-proxy by '${value}'`, dave, `${services}/plain`, proxied(value)),
    refusedProxy.strategicPatch(`dave merges the proxy name '${value}'`, dave, `${services}/plain`, proxied(value)),
    refusedProxy.patch(`dave does so through the status, by '${value}'`, dave, `${services}/plain/status`, proxied(value)),
  ]),
  refusedProxy.apply(
    'dave applies the label',
    dave,
    `${services}/new?fieldManager=x`,
    service({ name: 'new', labels: { [proxyLabel]: 'other' } }),
  ),
  ...['other', '', 'sekisho.dev-uncounted'].map(value =>
    refusedProxy.patch(`dave changes the label of the platform to ${JSON.stringify(value)}`, dave, unproxied, proxied(value)),
  ),
  refusedProxy.patch('dave changes it together with the selector', dave, unproxied, { ...proxied('other'), ...otherSelector }),
  ...[dave, impostor, garbageCollector, endpointSliceController].map(as =>
    refusedProxy.patch(`${as.user} removes it through the status`, as, `${unproxied}/status`, proxied(null)),
  ),
  refusedProxy.patch('dave removes all labels through the status', dave, `${unproxied}/status`, { metadata: { labels: null } }),
  ...[dave, controllers].map(as =>
    allowed.post(
      `${as.user} makes a Service that is not counted`,
      as,
      services,
      service({ name: 'x', labels: { [proxyLabel]: 'sekisho.dev-uncounted' } }),
    ),
  ),
  allowed.patch('dave changes the ports of a Service with the label', dave, unproxied, { spec: { ports: [{ port: 81 }] } }),
  allowed.patch('dave changes another label of it', dave, unproxied, { metadata: { labels: { a: 'b' } } }),
  allowed.remove('dave deletes it', dave, unproxied),
  allowed.patch('the garbage collector removes its owner', garbageCollector, unproxied, { metadata: { ownerReferences: [] } }),
  allowed.patch('the controllers set the label', controllers, `${services}/plain`, proxied(ours)),
  allowed.patch('the controllers remove the label', controllers, unproxied, proxied(null)),
  allowed.patch('a cluster administrator removes the label', clusterAdministrator, unproxied, proxied(null)),
  allowed.post(
    'a Service with the label elsewhere',
    dave,
    '/api/v1/namespaces/other/services',
    service({ name: 'x', labels: { [proxyLabel]: 'other' } }),
  ),
]

/** Allowed where the mutation is in force, which puts the label back; the rule alone refuses them. */
export const restoredProxyRows: readonly Row[] = [
  allowed.patch('dave removes the label', dave, unproxied, proxied(null)),
  allowed.patch('dave removes all labels', dave, unproxied, { metadata: { labels: null } }),
  allowed.strategicPatch('dave replaces all labels', dave, unproxied, { metadata: { labels: { $patch: 'replace', a: 'b' } } }),
  allowed.jsonPatch('dave removes the label by a JSON patch', dave, unproxied, [
    { op: 'remove', path: `/metadata/labels/${proxyLabel.replace('/', '~1')}` },
  ]),
  allowed.put('dave replaces the Service by one without the label', dave, unproxied, withoutLabel),
  ...[impostor, garbageCollector, endpointSliceController].map(as =>
    allowed.patch(`${as.user} removes the label`, as, unproxied, proxied(null)),
  ),
]

/** The same, and what is served is another: not counted from then on. */
export const recountedProxyRows: readonly Row[] = [
  ...[dave, controllers, clusterAdministrator].map(as =>
    allowed.patch(`${as.user} changes the selector`, as, unproxied, otherSelector),
  ),
  allowed.patch('dave changes the ports', dave, unproxied, { spec: { ports: [{ port: 81 }] } }),
  allowed.patch('dave changes the affinity', dave, unproxied, { spec: { sessionAffinity: 'ClientIP' } }),
  ...[dave, controllers, clusterAdministrator].map(as =>
    allowed.patch(`${as.user} removes the label and changes the selector`, as, unproxied, { ...proxied(null), ...otherSelector }),
  ),
  allowed.put('dave replaces the Service by another', dave, unproxied, service({ name: 'unproxied' }, otherSelector.spec)),
]

export const proxyFixtures: readonly Existing[] = [
  { path: services, object: service({ name: 'elsewhere', labels: { [proxyLabel]: 'other' } }) },
  { path: services, object: service({ name: 'unproxied', labels: { [proxyLabel]: ours } }) },
]
