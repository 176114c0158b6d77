// Attacks by the addresses and the number of ports of Services, and by hand-written endpoints that lead a Service to any address.
import {
  clusterAdministrator,
  controllers,
  dave,
  endpointSliceController,
  garbageCollector,
  type Identity,
  namespaceController,
} from '../identities.ts'
import { type Existing, service } from '../objects.ts'
import { allowed, expecting, type Row } from './row.ts'

const refused = expecting('service-addresses')
const refusedAsEndpoint = expecting('endpoint-writers')
const services = '/api/v1/namespaces/acme/services'
const address = '192.0.2.1'

/** Every field by which a Service takes an address or a name outside of the cluster. */
const shapes: readonly (readonly [string, object, object?])[] = [
  ['externalIPs', { externalIPs: [address] }],
  ['type NodePort', { type: 'NodePort' }],
  ['a chosen node port', { type: 'NodePort', ports: [{ port: 80, nodePort: 30_080 }] }],
  ['type LoadBalancer', { type: 'LoadBalancer' }],
  ['loadBalancerIP', { type: 'LoadBalancer', loadBalancerIP: address }],
  ['loadBalancerIP without its type', { loadBalancerIP: address }],
  ['loadBalancerClass', { type: 'LoadBalancer', loadBalancerClass: 'example.com/any' }],
  ['type ExternalName', { type: 'ExternalName', externalName: 'sekisho-source.sekisho-system.svc', ports: [] }],
  ['externalName without its type', { externalName: 'example.com' }],
  ['a name for external-dns', {}, { 'external-dns.alpha.kubernetes.io/hostname': 'shop.example.com' }],
  ['an address from a load balancer', {}, { 'service.beta.kubernetes.io/aws-load-balancer-eip-allocations': 'x' }],
  ['settings of an ingress controller', {}, { 'traefik.ingress.kubernetes.io/service.serverstransport': 'a-b@kubernetescrd' }],
]

const annotated = (name: string, spec: object, annotations: object = {}) => service({ name, annotations }, spec)

const shapeRows: readonly Row[] = shapes.flatMap(([shape, spec, annotations]) => [
  refused.post(`dave makes a Service with ${shape}`, dave, services, annotated('x', spec, annotations)),
  refused.apply(`dave applies ${shape}`, dave, `${services}/new?fieldManager=x`, annotated('new', spec, annotations)),
  refused.patch(`dave gives ${shape} to a Service that exists`, dave, `${services}/plain`, { spec, metadata: { annotations } }),
  allowed.post(`a Service with ${shape} elsewhere`, dave, '/api/v1/namespaces/other/services', annotated('x', spec, annotations)),
])

const assigned = { status: { loadBalancer: { ingress: [{ ip: address }] } } }
const one = `${services}/exposed`

const serviceRows: readonly Row[] = [
  ...shapeRows,
  ...[clusterAdministrator, controllers].map(as =>
    refused.post(`${as.user} makes a Service with externalIPs`, as, services, service({ name: 'x' }, { externalIPs: [address] })),
  ),
  refused.post(
    'a headless Service with externalIPs',
    dave,
    services,
    service({ name: 'x' }, { clusterIP: 'None', externalIPs: [address] }),
  ),
  refused.patch('dave writes the address of a load balancer into the status', dave, `${services}/balanced/status`, assigned),
  allowed.patch('dave removes externalIPs from an old Service', dave, one, { spec: { externalIPs: null } }),
  refused.patch('dave labels an old Service that keeps its externalIPs', dave, one, { metadata: { labels: { a: 'b' } } }),
  refused.patch('dave changes the selector of an old Service', dave, one, { spec: { selector: { app: 'mine' } } }),
  allowed.patch('the garbage collector removes the owner of an old Service', garbageCollector, one, {
    metadata: { ownerReferences: [] },
  }),
  refused.patch('the garbage collector changes its ports', garbageCollector, one, { spec: { ports: [{ port: 81 }] } }),
  allowed.patch('dave removes the finalizer of an old Service that is being deleted', dave, `${services}/leaving`, {
    metadata: { finalizers: [] },
  }),
  refused.patch('dave changes the addresses of one that is being deleted', dave, `${services}/leaving`, {
    spec: { externalIPs: [address] },
  }),
  allowed.remove('dave deletes an old Service', dave, one),
  allowed.post('dave makes a Service', dave, services, service({ name: 'x' })),
  allowed.post('dave makes a headless Service', dave, services, service({ name: 'x' }, { clusterIP: 'None' })),
  allowed.post(
    'dave annotates a Service',
    dave,
    services,
    service({ name: 'x', annotations: { 'prometheus.io/scrape': 'true' } }),
  ),
  allowed.patch('dave changes the ports of a Service', dave, `${services}/plain`, { spec: { ports: [{ port: 81 }] } }),
]

const refusedPorts = expecting('service-ports')
const crowded = `${services}/crowded`
const ports = (count: number, first = 1000) => ({
  ports: Array.from({ length: count }, (_, index) => ({ name: `p${first + index}`, port: first + index })),
})
const manyPorts = service({ name: 'crowded' }, ports(7))

const portRows: readonly Row[] = [
  ...[dave, clusterAdministrator, controllers].map(as =>
    refusedPorts.post(`${as.user} makes a Service with five ports`, as, services, service({ name: 'x' }, ports(5))),
  ),
  refusedPorts.post(
    'dave makes a headless Service with five ports',
    dave,
    services,
    service({ name: 'x' }, { clusterIP: 'None', ...ports(5) }),
  ),
  refusedPorts.apply('dave applies five ports', dave, `${services}/new?fieldManager=x`, service({ name: 'new' }, ports(5))),
  refusedPorts.patch('dave gives a Service a fifth port', dave, `${services}/plain`, { spec: ports(5) }),
  refusedPorts.patch('dave adds a port to an old Service with seven', dave, crowded, { spec: ports(8) }),
  refusedPorts.patch('dave exchanges the ports of an old Service', dave, crowded, { spec: ports(7, 2000) }),
  refusedPorts.patch('dave leads an old Service with seven ports to other pods', dave, crowded, {
    spec: { selector: { app: 'mine' } },
  }),
  allowed.patch('dave labels an old Service with seven ports', dave, crowded, { metadata: { labels: { a: 'b' } } }),
  allowed.patch('dave removes a port of an old Service with seven', dave, crowded, { spec: ports(6) }),
  allowed.patch('the garbage collector removes the owner of an old Service with seven ports', garbageCollector, crowded, {
    metadata: { ownerReferences: [] },
  }),
  allowed.remove('dave deletes an old Service with seven ports', dave, crowded),
  allowed.post('dave makes a Service with four ports', dave, services, service({ name: 'x' }, ports(4))),
  allowed.patch('dave gives a Service four ports', dave, `${services}/plain`, { spec: ports(4) }),
  allowed.post(
    'a Service with five ports elsewhere',
    dave,
    '/api/v1/namespaces/other/services',
    service({ name: 'x' }, ports(5)),
  ),
]

const proxied = (value: string) => ({ metadata: { labels: { 'service.kubernetes.io/service-proxy-name': value } } })
const ours = 'sekisho.dev-too-many-endpoints'

const endpoints = {
  path: '/api/v1/namespaces/acme/endpoints',
  object: {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name: 'held' },
    subsets: [{ addresses: [{ ip: address }], ports: [{ port: 80 }] }],
  },
}
const endpointSlices = {
  path: '/apis/discovery.k8s.io/v1/namespaces/acme/endpointslices',
  object: {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'held', labels: { 'kubernetes.io/service-name': 'plain' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: [address] }],
    ports: [{ port: 80 }],
  },
}

const endpointRows: readonly Row[] = [endpoints, endpointSlices].flatMap(({ path, object }) => {
  const named = { ...object, metadata: { ...object.metadata, name: 'x' } }
  const labelled = { metadata: { labels: { a: 'b' } } }
  const writers: readonly Identity[] = [dave, clusterAdministrator, controllers]
  return [
    ...writers.map(as => refusedAsEndpoint.post(`${as.user} writes ${object.kind}`, as, path, named)),
    refusedAsEndpoint.patch(`dave changes ${object.kind}`, dave, `${path}/held`, labelled),
    refusedAsEndpoint.patch(`dave sets the proxy name of ${object.kind}`, dave, `${path}/held`, proxied('other')),
    allowed.patch(`Kubernetes copies the proxy name to ${object.kind}`, endpointSliceController, `${path}/held`, proxied(ours)),
    allowed.post(`Kubernetes writes ${object.kind}`, endpointSliceController, path, named),
    allowed.patch(`Kubernetes changes ${object.kind}`, endpointSliceController, `${path}/held`, labelled),
    allowed.patch(`the garbage collector removes an owner of ${object.kind}`, garbageCollector, `${path}/held`, {
      metadata: { ownerReferences: [] },
    }),
    allowed.remove(`the namespace controller deletes ${object.kind}`, namespaceController, `${path}/held`),
    allowed.post(`${object.kind} elsewhere`, dave, path.replace('/acme/', '/other/'), named),
  ]
})

/** What exists before any rule: addresses that a rule would refuse, and endpoints. */
export const serviceFixtures: readonly Existing[] = [
  { path: services, object: service({ name: 'plain' }) },
  { path: services, object: service({ name: 'exposed' }, { externalIPs: [address] }) },
  {
    path: services,
    object: service({ name: 'leaving', finalizers: ['example.com/held'] }, { externalIPs: ['192.0.2.2'] }),
    leaving: true,
  },
  { path: services, object: service({ name: 'balanced' }, { type: 'LoadBalancer' }) },
  { path: services, object: manyPorts },
  endpoints,
  endpointSlices,
]

export const networkRows: readonly Row[] = [...serviceRows, ...portRows, ...endpointRows]
