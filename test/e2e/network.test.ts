// The network between tenants, the platform and the node, tried from pods: what is needed opens, everything else does not.
// Every address that must not be reached answers this host at the same time, so that silence is the work of a policy.
import { createServer, type Server } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ClusterSettings, readClusterSettings } from '../../dev/cluster/settings.ts'
import { platformSelector } from '../../dev/up/platform-pods.ts'
import { buildpacksBuildLabel } from '../../src/api/buildpacks-build.ts'
import { labels as ourLabels } from '../../src/api/names.ts'
import { limits } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { opensConnection } from '../../src/services/network-probe/connect.ts'
import { type Neighbour, openNeighbour } from './neighbour.ts'
import { list, read } from './objects.ts'
import { openPlatform, type Platform } from './platform.ts'
import { openPodNetwork, type PodNetwork, type TestPod, withAddresses } from './pod-network.ts'
import { requestVersion } from './serving.ts'

const neighbour = 'e2e-network'
const port = 3000
/** For documentation (RFC 5737): stands for an address of the internet. */
const internet = '198.51.100.7'
const metadata = ['169.254.169.254', '168.63.129.16', '100.100.100.200', '192.0.0.192']

let settings: ClusterSettings
let platform: Platform
let network: PodNetwork
let tenant: Neighbour
let addresses: Awaited<ReturnType<typeof withAddresses>>
const servers: Server[] = []
let pods: Readonly<Record<'own' | 'peer' | 'isolated' | 'other' | 'build' | 'otherBuild' | 'stranger', TestPod>>

function listenHere(host: string, at: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer(socket => socket.destroy())
    server.once('error', reject)
    servers.push(server.listen(at, host, resolve))
  })
}

/** The pods' Service, for the cluster's own addresses. */
async function serve(namespace: string, labels: object): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/services/e2e-network`
  const manifest = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'e2e-network', namespace },
    spec: { selector: labels, ports: [{ port }] },
  }
  await platform.admin.apply(path, manifest)
  const address = await clusterAddress('e2e-network', namespace)
  // kube-proxy programs the address a moment later.
  await waitUntil(`a connection to ${address}:${port}`, async () => await opensConnection(address, port, 1000), {
    everyMilliseconds: 200,
  })
  return address
}

async function clusterAddress(name: string, namespace: string): Promise<string> {
  return String((await read(platform.admin, `service/${name}`, namespace)).spec['clusterIP'])
}

async function podAddress(namespace: string, selector: string): Promise<string> {
  const [pod] = await list(platform.admin, 'pod', `?labelSelector=${encodeURIComponent(selector)}`, namespace)
  return String(pod?.status?.['podIP'])
}

beforeAll(async () => {
  settings = readClusterSettings()
  platform = await openPlatform([])
  const { admin } = platform
  network = await openPodNetwork(admin, settings)
  tenant = await openNeighbour(platform, neighbour, 999_001)
  addresses = await withAddresses([...metadata, internet])
  await Promise.all([...metadata.map(host => listenHere(host, 80)), ...[80, 443, 8099].map(at => listenHere(internet, at))])
  const labels = { app: 'e2e-network' }
  const building = { ...labels, [buildpacksBuildLabel]: 'e2e-network' }
  const buildingByKpack = { ...labels, 'kpack.io/build': 'e2e-network' }
  const [own, peer, isolated, other, build, otherBuild, stranger] = await Promise.all([
    network.start({ namespace: 'acme', name: 'e2e-network-own' }),
    network.start({ namespace: 'acme', name: 'e2e-network-peer', labels }),
    network.start({ namespace: 'acme', name: 'e2e-network-isolated', labels: { [ourLabels.isolated]: 'true' } }),
    network.start({ namespace: neighbour, name: 'e2e-network-other', labels }),
    network.start({ namespace: 'acme-build', name: 'e2e-network-build', labels: building }),
    network.start({ namespace: 'acme-build', name: 'e2e-network-second-build', labels: buildingByKpack }),
    network.start({ namespace: 'acme-build', name: 'e2e-network-stranger' }),
  ])
  pods = { own, peer, isolated, other, build, otherBuild, stranger }
  await Promise.all(Object.values(pods).map(pod => pod.listen(port)))
  // Enforcement of a new pod begins a moment after its start (kubernetes/kubernetes#85966).
  const knownBy = `${settings.nodeAddress}|10250`
  await waitUntil(
    'no pod to reach the name',
    async () => {
      const reached = await Promise.all(Object.values(pods).map(pod => pod.reaches([knownBy])))
      expect(reached.flat()).not.toContain(true)

      return true
    },
    { timeoutMilliseconds: limits.rollout, everyMilliseconds: 500 },
  )
})

afterAll(async () => {
  await network?.end()
  for (const server of servers) server.close()
  await addresses?.remove()
  await platform?.admin.request('DELETE', '/api/v1/namespaces/acme/services/e2e-network')
  await tenant?.end()
  await platform?.admin.close()
})

type Addresses = Readonly<Record<string, string>>

/** What no pod of a tenant may reach, by what it is. */
async function closedToAll(): Promise<Addresses> {
  const [broker, controllers, admission] = await Promise.all(
    (['broker', 'controllers', 'admission'] as const).map(component => podAddress('sekisho-system', platformSelector(component))),
  )
  const node = settings.nodeAddress
  return {
    'another tenant’s pod': `${pods.other.address}|${port}`,
    'another tenant’s Service': `${await serve(neighbour, { app: 'e2e-network' })}|${port}`,
    broker: `${broker}|8443`,
    'broker at its public address': `${node}|8443`,
    admission: `${admission}|9443`,
    'metrics and health of the broker': `${broker}|8090`,
    'metrics and health of the controllers': `${controllers}|8090`,
    'metrics and health of admission': `${admission}|8090`,
    'network probe': `${await podAddress('sekisho-system', 'app.kubernetes.io/name=sekisho-network-probe')}|9001`,
    'kpack’s webhook': `${await podAddress('kpack', 'role=webhook')}|8443`,
    'CoreDNS besides DNS': `${await podAddress('kube-system', 'k8s-app=kube-dns')}|8181`,
    kubelet: `${node}|10250`,
    'API server at the node': `${node}|${settings.ports.apiServer}`,
    'API server at its Service': `${settings.serviceAddress}|443`,
    ingress: `${node}|${settings.ingressPort}`,
    'ingress with TLS': `${node}|${settings.ingressTlsPort}`,
    ...Object.fromEntries(metadata.map(address => [`metadata service at ${address}`, `${address}|80`])),
  }
}

/** Names of the addresses that opened, from the pod and from this host. */
async function opened(pod: TestPod, targets: Addresses): Promise<readonly string[]> {
  const names = Object.keys(targets)
  const reached = await pod.reaches(Object.values(targets))
  return names.filter((_name, index) => reached[index])
}

async function openHere(targets: Addresses): Promise<readonly string[]> {
  const answers = await Promise.all(
    Object.entries(targets).map(async ([name, address]) => {
      const [host = '', at = ''] = address.split('|')
      return (await opensConnection(host, Number(at), 3000)) ? [name] : []
    }),
  )
  return answers.flat()
}

async function expectClosed(pod: TestPod, targets: Addresses): Promise<void> {
  // A new Service answers when kube-proxy has programmed it.
  await waitUntil(
    'all targets to answer this host',
    async () => {
      expect(await openHere(targets), 'all of them answer this host').toEqual(Object.keys(targets))
      return true
    },
    { everyMilliseconds: 500 },
  )
  expect(await opened(pod, targets)).toEqual([])
}

async function expectOpen(pod: TestPod, targets: Addresses): Promise<void> {
  await waitUntil(
    'all targets to be open to the pod',
    async seen => seen(await opened(pod, targets)).length === Object.keys(targets).length,
  )
}

const kubernetes = 'kubernetes.default.svc.cluster.local'

async function expectResolves(pod: TestPod): Promise<void> {
  const answer = (): Promise<readonly string[]> => pod.resolve(settings.dnsAddress, kubernetes)
  await waitUntil('the name server to answer the pod', async seen => seen(await answer())[0] === settings.serviceAddress)
}

describe('a pod of an application', () => {
  test('does not reach other tenants, the platform, the node, the API server or a metadata service', async () => {
    const targets = {
      ...(await closedToAll()),
      'source store': `${await clusterAddress('sekisho-source', 'sekisho-system')}|8081`,
      registry: `${settings.nodeAddress}|${settings.registryPort}`,
      'the registry’s token server': `${await clusterAddress('sekisho-registry-tokens', 'sekisho-system')}|443`,
      'a build of its own tenant': `${pods.build.address}|${port}`,
    }
    await expectClosed(pods.own, targets)
  })

  test('reaches its own namespace, DNS, the token desk, GitHub and the internet', async () => {
    const targets = {
      'a pod of its namespace': `${pods.peer.address}|${port}`,
      'a Service of its namespace': `${await serve('acme', { app: 'e2e-network' })}|${port}`,
      'DNS over TCP': `${settings.dnsAddress}|53`,
      'token desk': `${await clusterAddress('sekisho-token-desk', 'sekisho-system')}|443`,
      'GitHub, which the operator allows': `${settings.nodeAddress}|4000`,
      internet: `${internet}|443`,
      'internet at any port': `${internet}|8099`,
    }
    await expectOpen(pods.own, targets)
    await expectResolves(pods.own)
  })

  test('does not reach other pods over IPv6, which no policy here speaks of', async () => {
    expect(await pods.other.reaches([`${pods.other.linkLocal}|${port}`]), 'it listens there').toEqual([true])
    expect(await pods.own.reaches([`${pods.other.linkLocal}|${port}`, `${pods.peer.linkLocal}|${port}`])).toEqual([false, false])
  })
})

describe('a pod of an isolated application, whose code nobody of the tenant wrote', () => {
  test('reaches nothing of its own tenant either, not even what the operator allows to the others', async () => {
    const targets = {
      ...(await closedToAll()),
      'a pod of its namespace': `${pods.peer.address}|${port}`,
      'a Service of its namespace': `${await serve('acme', { app: 'e2e-network' })}|${port}`,
      'a build of its own tenant': `${pods.build.address}|${port}`,
      'token desk': `${await clusterAddress('sekisho-token-desk', 'sekisho-system')}|443`,
      'source store': `${await clusterAddress('sekisho-source', 'sekisho-system')}|8081`,
      registry: `${settings.nodeAddress}|${settings.registryPort}`,
      'the registry’s token server': `${await clusterAddress('sekisho-registry-tokens', 'sekisho-system')}|443`,
      'GitHub, which the operator allows to the others': `${settings.nodeAddress}|4000`,
    }
    await expectClosed(pods.isolated, targets)
  })

  test('reaches DNS and the internet', async () => {
    const targets = {
      'DNS over TCP': `${settings.dnsAddress}|53`,
      internet: `${internet}|443`,
      'internet at any port': `${internet}|8099`,
    }
    await expectOpen(pods.isolated, targets)
    await expectResolves(pods.isolated)
  })

  test('is reached by no pod of its tenant', async () => {
    const isolated = { 'the isolated pod': `${pods.isolated.address}|${port}` }
    await expectClosed(pods.peer, isolated)
    await expectClosed(pods.build, isolated)
  })
})

describe('a pod of a build', () => {
  test('does not reach other tenants, the platform besides the source store, the node, the API server or a metadata service', async () => {
    const targets = {
      ...(await closedToAll()),
      'token desk': `${await clusterAddress('sekisho-token-desk', 'sekisho-system')}|443`,
      GitHub: `${settings.nodeAddress}|4000`,
      'an application of its own tenant': `${pods.peer.address}|${port}`,
      'another build': `${pods.otherBuild.address}|${port}`,
      'the internet besides http': `${internet}|8099`,
    }
    await expectClosed(pods.build, targets)
  })

  test('reaches DNS, the source store, the registry and the internet by http and https', async () => {
    const targets = {
      'DNS over TCP': `${settings.dnsAddress}|53`,
      'source store': `${await clusterAddress('sekisho-source', 'sekisho-system')}|8081`,
      registry: `${settings.nodeAddress}|${settings.registryPort}`,
      'the registry’s token server': `${await clusterAddress('sekisho-registry-tokens', 'sekisho-system')}|443`,
      'internet by http': `${internet}|80`,
      'internet by https': `${internet}|443`,
    }
    await expectOpen(pods.build, targets)
    await expectResolves(pods.build)
  })

  test('is what the label says: another pod in the build namespace reaches nothing', async () => {
    const targets = {
      ...(await closedToAll()),
      'DNS over TCP': `${settings.dnsAddress}|53`,
      'source store': `${await clusterAddress('sekisho-source', 'sekisho-system')}|8081`,
      registry: `${settings.nodeAddress}|${settings.registryPort}`,
      internet: `${internet}|443`,
    }
    await expectClosed(pods.stranger, targets)
    expect(await pods.stranger.resolve(settings.dnsAddress, kubernetes)).toEqual([])
  })
})

test('a new tenant is closed from its first pod on: it does not reach the others', async () => {
  const targets = {
    'a pod of acme': `${pods.peer.address}|${port}`,
    'a build of acme': `${pods.build.address}|${port}`,
    admission: `${await podAddress('sekisho-system', platformSelector('admission'))}|9443`,
    kubelet: `${settings.nodeAddress}|10250`,
  }
  await expectClosed(pods.other, targets)
  await expectOpen(pods.other, { internet: `${internet}|443` })
})

test('the ingress reaches applications', async () => {
  const shop = await read(platform.admin, 'application/shop')
  expect((await requestVersion(String(shop.status?.['url']))).status).toBe(200)
})

test('the platform found out that policies are enforced, and every Tenant says so', async () => {
  await waitUntil(
    'every tenant to say that policies are enforced',
    async () => {
      const tenants = await list(platform.admin, 'tenant')
      const conditions = tenants.map(({ status }) => status?.conditions?.find(({ type }) => type === 'NetworkPoliciesEnforced'))
      expect(conditions.map(condition => condition?.status)).toEqual(tenants.map(() => 'True'))

      return true
    },
    { everyMilliseconds: 500 },
  )
})
