// Services of a tenant that would take over addresses of the platform, of the node or of others, or occupy the node's kube-proxy.
import { neighbourNamespace } from '../../demo/context.ts'
import type { Attack } from '../attack.ts'
import type { World } from '../world/world.ts'
import { type ApiAttempt, apiAttempts, applyPatch, corePath, jsonPatch, mergePatch } from './api-attempts.ts'

const services = corePath(neighbourNamespace, 'services')
const plain = 'attack-plain'

type Spec = Readonly<Record<string, unknown>>

function service(name: string, spec: Spec): object {
  const ports = [{ name: 'web', port: 7777, targetPort: 3000 }]
  return { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: { selector: { app: 'catcher' }, ports, ...spec } }
}

/** Addresses that a tenant would like to have: the node with GitHub, registry and ingress; Services; others' pods; the world. */
function wantedAddresses({ targets }: World): readonly string[] {
  const { nodeAddress, victim, services: others } = targets
  return [
    ...new Set([nodeAddress, '169.254.169.254', '140.82.112.6', '8.8.8.8', victim.pod.address]),
    ...others.slice(0, 3).map(({ address }) => address),
  ]
}

const create = (name: string, spec: Spec, dry: boolean): ApiAttempt => ({
  as: 'gary',
  method: 'POST',
  path: services,
  json: service(name, spec),
  name: `create ${JSON.stringify(spec)}`,
  ...(dry ? { dry: true as const } : {}),
})

function manyPorts(count: number): Spec {
  return { ports: Array.from({ length: count }, (_, index) => ({ name: `p${index}`, port: 7000 + index, targetPort: 3000 })) }
}

/** The ways to change a Service that exists. */
function changes(spec: Spec, what: string): readonly ApiAttempt[] {
  const path = `${services}/${plain}`
  const whole = service(plain, spec)
  const operations = Object.entries(spec).map(([field, value]) => ({ op: 'add', path: `/spec/${field}`, value }))
  return [
    { as: 'gary', method: 'PATCH', path, json: { spec }, contentType: mergePatch, name: `merge patch to ${what}`, dry: true },
    { as: 'gary', method: 'PATCH', path, json: operations, contentType: jsonPatch, name: `JSON patch to ${what}`, dry: true },
    {
      as: 'gary',
      method: 'PATCH',
      path: `${path}?fieldManager=sekisho-broker&force=true`,
      json: whole,
      contentType: applyPatch,
      name: `server-side apply of ${what} under a forged field manager`,
      dry: true,
    },
    { as: 'gary', method: 'PUT', path, json: whole, name: `update to ${what}`, dry: true },
  ]
}

/** Makes the harmless Service that the others change. */
async function withPlainService(world: World): Promise<void> {
  await world.journal.note({ kind: 'object', path: `${services}/${plain}` })
  const answer = await world.api('gary', 'POST', services, { json: service(plain, {}) })
  if (answer.status !== 201 && answer.status !== 409)
    throw new Error(`a plain Service is refused: ${answer.status} ${answer.text}`)
}

export const serviceAttacks: readonly Attack[] = [
  {
    name: 'services/external-ips',
    as: 'gary, admin of globex',
    against: 'every address of the platform, of the node and of the world',
    tries:
      'A Service with externalIPs diverts all connections of the cluster to an address, such as GitHub’s, into a pod of the tenant.',
    // Kubernetes itself refuses link-local addresses.
    expected: ['admission', 'schema'],
    peer: 'Kubernetes CVE-2020-8554',
    attempts: world =>
      apiAttempts(world, [
        // Port 7777 of the node, where nothing listens: this one is meant.
        create('attack-external', { externalIPs: [world.targets.nodeAddress] }, false),
        ...wantedAddresses(world).flatMap(address =>
          [443, 4000, 5000, 6443, 8443].map(port =>
            create('attack-external-dry', { externalIPs: [address], ports: [{ name: 'web', port, targetPort: 3000 }] }, true),
          ),
        ),
      ]),
  },
  {
    name: 'services/external-ips-later',
    as: 'gary, admin of globex',
    against: 'every address of the platform',
    tries:
      'A plain Service gets externalIPs later: by each kind of patch, by update, by server-side apply and through its status.',
    expected: ['admission', 'RBAC'],
    attempts: async world => {
      await withPlainService(world)
      const status = {
        status: { loadBalancer: { ingress: [{ ip: world.targets.nodeAddress }] } },
        spec: { externalIPs: [world.targets.nodeAddress] },
      }
      return apiAttempts(world, [
        ...changes({ externalIPs: [world.targets.nodeAddress] }, 'externalIPs'),
        {
          as: 'gary',
          method: 'PATCH',
          path: `${services}/${plain}/status`,
          json: status,
          contentType: mergePatch,
          name: 'status with the ingress address of the node',
          dry: true,
        },
        {
          as: 'gary',
          method: 'PUT',
          path: `${services}/${plain}/status`,
          json: service(plain, {}),
          name: 'update of the status',
          dry: true,
        },
      ])
    },
  },
  {
    name: 'services/other-types',
    as: 'gary, admin of globex',
    against: 'node ports, load balancers and names outside of the namespace',
    tries: 'A Service of type ExternalName, NodePort or LoadBalancer, made so or changed into it later.',
    expected: ['admission', 'quota'],
    attempts: async world => {
      await withPlainService(world)
      const types: readonly (readonly [string, Spec])[] = [
        ['ExternalName acme', { type: 'ExternalName', externalName: 'shop.acme.svc.cluster.local' }],
        ['ExternalName platform', { type: 'ExternalName', externalName: 'sekisho-admission.sekisho-system.svc.cluster.local' }],
        ['ExternalName metadata', { type: 'ExternalName', externalName: 'metadata.google.internal' }],
        ['NodePort', { type: 'NodePort' }],
        ['NodePort 30080', { type: 'NodePort', ports: [{ name: 'node', port: 80, nodePort: 30_080 }] }],
        ['LoadBalancer', { type: 'LoadBalancer' }],
        ['LoadBalancer with a source address', { type: 'LoadBalancer', loadBalancerIP: world.targets.nodeAddress }],
      ]
      return apiAttempts(
        world,
        types.flatMap(([what, spec]) => [create('attack-type', spec, true), ...changes(spec, what)]),
      )
    },
  },
  {
    name: 'services/ports',
    as: 'gary, admin of globex',
    against: 'the time until new Services of others work',
    tries:
      'Services with many ports, each of which every node programs for each endpoint: made so, headless, and changed into it later.',
    expected: ['admission'],
    attempts: async world => {
      await withPlainService(world)
      return apiAttempts(world, [
        ...[5, 100, 1000].map(count => ({
          ...create('attack-ports', manyPorts(count), true),
          name: `create with ${count} ports`,
        })),
        { ...create('attack-ports', { ...manyPorts(5), clusterIP: 'None' }, true), name: 'create headless with 5 ports' },
        ...changes(manyPorts(5), '5 ports'),
      ])
    },
  },
  {
    name: 'services/endpoints',
    as: 'gary, admin of globex, and a ServiceAccount of globex',
    against: 'pods of acme and of the platform',
    tries: 'Endpoints or EndpointSlices that lead a Service of the tenant, and so the ingress, to a pod of another tenant.',
    expected: ['RBAC', 'admission'],
    attempts: world => {
      const { address } = world.targets.victim.pod
      const slice = {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: { name: 'attack-slice', labels: { 'kubernetes.io/service-name': plain } },
        addressType: 'IPv4',
        endpoints: [{ addresses: [address], conditions: { ready: true } }],
        ports: [{ port: 3000 }],
      }
      const endpoints = {
        apiVersion: 'v1',
        kind: 'Endpoints',
        metadata: { name: 'attack-endpoints' },
        subsets: [{ addresses: [{ ip: address }], ports: [{ port: 3000 }] }],
      }
      const slices = `/apis/discovery.k8s.io/v1/namespaces/${neighbourNamespace}/endpointslices`
      return apiAttempts(
        world,
        (['gary', 'workload'] as const).flatMap(as => [
          { as, method: 'POST', path: slices, json: slice, name: 'create an EndpointSlice' },
          {
            as,
            method: 'PATCH',
            path: `${slices}/attack-slice?fieldManager=x`,
            json: slice,
            contentType: applyPatch,
            name: 'apply an EndpointSlice',
          },
          { as, method: 'POST', path: corePath(neighbourNamespace, 'endpoints'), json: endpoints, name: 'create Endpoints' },
        ]),
      )
    },
  },
  {
    name: 'services/others',
    as: 'gary, admin of globex',
    against: 'the Services of acme and of the platform',
    tries: 'Changes the selector or the ports of a Service of another tenant or of the platform.',
    expected: ['RBAC'],
    attempts: ({ targets, ...world }) =>
      apiAttempts({ targets, ...world }, [
        ...[targets.victim.service, ...targets.services].map(({ namespace, name }) => ({
          as: 'gary' as const,
          method: 'PATCH',
          path: `${corePath(namespace, 'services')}/${name}`,
          json: { spec: { selector: { app: 'catcher' } } },
          contentType: mergePatch,
        })),
      ]),
  },
]
