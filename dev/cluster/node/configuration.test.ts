// The configuration of the node's programs: the necessary settings, and that every path lies in the cluster's folder.
// The rendered text is parsed again, so that the spelling does not matter.
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { readClusterSettings } from '../settings.ts'
import { extraRoles } from './access.ts'
import { cniConfiguration } from './cni.ts'
import { kubeletConfiguration } from './kubelet.ts'
import { nodeLayout } from './layout.ts'
import { firewallRules } from './network-policies.ts'
import { hasCondition } from './ready.ts'
import { baseSpecification, containerdConfiguration, registryHosts } from './runtime/containerd.ts'
import { gvisorConfiguration } from './runtime/gvisor.ts'
import { proxyConfiguration } from './scheduling.ts'
import { corefile, dnsObjects } from './services/coredns.ts'
import { registryConfiguration } from './services/registry.ts'
import { traefikArguments, traefikFile } from './services/traefik.ts'

const settings = readClusterSettings({ HOME: '/home/x', SEKISHO_STATE: '/srv/state' }, { root: true })
const layout = nodeLayout(settings)

test('containerd keeps root, state, socket, namespaces and runc state below the folder', () => {
  const text = containerdConfiguration(layout, 'sekisho.dev/pause:1')
  const paths = [...text.matchAll(/"(\/[^"]*)"/g)].map(match => match[1] ?? '')
  expect(paths.filter(path => !path.startsWith('/srv/state/cluster/'))).toEqual(['/usr/lib/cni'])
  expect(text).toContain('netns_mounts_under_state_dir = true')
  expect(text).toContain('restrict_oom_score_adj = true')
  expect(Buffer.byteLength(layout.containerdSocket)).toBeLessThan(108)
})

test('a container takes few of the node’s pseudo-terminals, and no resource limit of the client’s specification', () => {
  const devpts = { destination: '/dev/pts', type: 'devpts', source: 'devpts', options: ['nosuid', 'newinstance'] }
  const proc = { destination: '/proc', type: 'proc', source: 'proc', options: ['nosuid'] }
  const own = {
    ociVersion: '1.0.2',
    process: { cwd: '/', rlimits: [{ type: 'RLIMIT_NOFILE', hard: 1024 }] },
    mounts: [proc, devpts],
  }
  expect(JSON.parse(baseSpecification(own))).toEqual({
    ociVersion: '1.0.2',
    process: { cwd: '/' },
    mounts: [proc, { ...devpts, options: ['nosuid', 'newinstance', 'max=64'] }],
  })
  expect(containerdConfiguration(layout, 'x')).toContain('base_runtime_spec = "/srv/state/cluster/config/')
  expect(() => baseSpecification({})).toThrow('no runtime specification')
})

test('gVisor is a handler of containerd, whose configuration names its program', () => {
  const text = containerdConfiguration(layout, 'x')
  expect(text).toContain('runtimes.gvisor]\nruntime_type = "io.containerd.runsc.v1"')
  expect(text).toContain('ConfigPath = "/srv/state/cluster/config/runsc.toml"')
  const ofShim = gvisorConfiguration('/srv/state/cluster', '/cache/gvisor')
  expect(ofShim).toContain('binary_name = "/cache/gvisor/runsc"')
  expect(ofShim).toContain('root = "/srv/state/cluster/runsc"')
})

test('the node may pull from the registry by plain http, but not push', () => {
  const hosts = registryHosts('10.88.0.1:5000', '/srv/ca.crt')
  expect(hosts).toContain('capabilities = ["pull", "resolve"]')
  expect(hosts).toContain('ca = "/srv/ca.crt"')
})

test('the kubelet accepts cgroup v1, refuses anonymous requests and does not collect images', () => {
  const file = parse(kubeletConfiguration(settings, layout, '/ca', { certificate: '/c', key: '/k' }))
  expect(file).toMatchObject({
    failCgroupV1: false,
    cgroupDriver: 'cgroupfs',
    cgroupRoot: '/sekisho',
    readOnlyPort: 0,
    podPidsLimit: 4096,
    imageGCHighThresholdPercent: 100,
    clusterDNS: ['10.96.0.10'],
  })
  expect(file.authentication.anonymous.enabled).toBe(false)
  expect(file.authorization.mode).toBe('Webhook')
  expect(file).toMatchObject({
    imagePullCredentialsVerificationPolicy: 'NeverVerifyAllowlistedImages',
    preloadedImagesVerificationAllowlist: ['sekisho.dev/*'],
  })
})

test('pods get addresses from the pod range, remembered below the folder', () => {
  const file = JSON.parse(cniConfiguration(settings, layout.cniLeases))
  expect(file.plugins[0]).toMatchObject({ bridge: 'cni0', isGateway: true, hairpinMode: true })
  expect(file.plugins[0].ipam).toMatchObject({
    dataDir: '/srv/state/cluster/cni/leases',
    ranges: [[{ subnet: '10.244.0.0/24' }]],
  })
})

test('kube-proxy does not change the host’s connection tracking limits', () => {
  expect(parse(proxyConfiguration(settings, '/k'))).toMatchObject({ mode: 'iptables', conntrack: { maxPerCore: 0, min: 0 } })
})

test('the registry listens on the node address only and can delete', () => {
  const file = parse(registryConfiguration('10.88.0.1:5000', '/s'))
  expect(file).toMatchObject({ http: { addr: '10.88.0.1:5000' }, storage: { delete: { enabled: true } } })
  expect(file.auth).toBeUndefined()
})

test('the registry of tenants believes tokens of the platform only', () => {
  const tokens = { realm: 'https://10.96.0.11/token', authorityFile: '/pki/registry-authority.crt' }
  expect(parse(registryConfiguration('10.88.0.1:5000', '/s', tokens)).auth).toEqual({
    token: {
      realm: 'https://10.96.0.11/token',
      service: 'sekisho-registry',
      issuer: 'sekisho',
      rootcertbundle: '/pki/registry-authority.crt',
    },
  })
})

test('CoreDNS answers the cluster’s names and forwards others', () => {
  const text = corefile(settings)
  expect(text).toContain('.:53')
  expect(text).toContain('kubernetes cluster.local in-addr.arpa ip6.arpa')
  expect(text).toContain('forward . /etc/resolv.conf')
})

test('CoreDNS is a pod of kube-system that listens on port 53 without a capability', () => {
  const objects = Object.values(dnsObjects(settings, 'sekisho.dev/coredns:1'))
  expect(objects.find(({ kind }) => kind === 'Deployment')).toMatchObject({
    metadata: { namespace: 'kube-system' },
    spec: { template: { spec: { containers: [{ ports: [{ containerPort: 53 }, { containerPort: 53 }] }] } } },
  })
  expect(JSON.stringify(objects)).not.toContain('"add"')
})

test('no new connection of a pod passes unjudged: neither by a queue without a listener, nor to the node, nor over IPv6', () => {
  const { iptables, ip6tables } = firewallRules(settings)
  expect(JSON.stringify(iptables)).not.toContain('bypass')
  expect(iptables.map(({ chain }) => chain)).toEqual(['SEKISHO-POLICY', 'POSTROUTING', 'POSTROUTING', 'INPUT'])
  expect(ip6tables).toContainEqual({ chain: 'PREROUTING', match: ['-i', 'cni0', '-j', 'SEKISHO-POLICY'] })
  expect(ip6tables).toContainEqual({ chain: 'SEKISHO-POLICY', match: ['-j', 'DROP'] })
})

test('Traefik listens on the node address and on loopback, not elsewhere', () => {
  const given = traefikArguments(settings, '/srv/traefik.yaml')
  const listening = given.filter(argument => argument.includes('.address='))
  const addresses = ['10.88.0.1:8080', '10.88.0.1:8446', '127.0.0.1:8080', '127.0.0.1:8446']
  expect(listening.map(argument => argument.split('=')[1])).toEqual(addresses)
  const withTls = listening.filter(argument => given.includes(argument.replace(/[.]address=.*/, '.http.tls=true')))
  expect(withTls.map(argument => argument.split('=')[1])).toEqual(['10.88.0.1:8446', '127.0.0.1:8446'])
})

test('Traefik’s middleware takes www off the host, for good, and keeps everything else', () => {
  const { permanent, regex, replacement } = parse(traefikFile()).http.middlewares.www.redirectRegex
  // It means the same in Go and in JavaScript.
  const led = (url: string): string => url.replace(new RegExp(regex), replacement)
  expect(permanent).toBe(true)
  expect(led('http://www.shop.acme.localhost:8080/a%20b?to=www.x&c=1')).toBe('http://shop.acme.localhost:8080/a%20b?to=www.x&c=1')
  expect(led('https://www.example.com/')).toBe('https://example.com/')
  for (const other of ['https://example.com/www.x', 'https://wwwexample.com/', 'https://a.www.example.com/'])
    expect(led(other)).toBe(other)
})

test('the extra roles can write only the status of Ingresses', () => {
  const writes = Object.values(extraRoles)
    .flat()
    .filter(rule => rule.verbs.some(verb => !['get', 'list', 'watch'].includes(verb)))
  expect(writes.map(rule => rule.resources)).toEqual([['ingresses/status']])
})

test('hasCondition requires the type with status True', () => {
  const node = (status: string): unknown => ({ status: { conditions: [{ type: 'Ready', status }] } })
  expect(hasCondition(node('True'), 'Ready')).toBe(true)
  expect(hasCondition(node('Unknown'), 'Ready')).toBe(false)
  expect(hasCondition({}, 'Ready')).toBe(false)
})
