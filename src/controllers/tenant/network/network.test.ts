// What the policies of a tenant's namespaces allow, judged as a cluster judges them: by the addresses of connections, after
// translation.
import { describe, expect, test } from 'vitest'
import { addressRange, containsRange } from '../../../lib/address-range.ts'
import { readSettings } from '../../../lib/config.ts'
import { applicationNetworkPolicies } from './application-network.ts'
import { buildNetworkPolicies } from './build-network.ts'
import { networkSettings, registryPort, registryRange } from './network-settings.ts'
import type { NamedPolicy } from './rules.ts'

function settingsOf(variables: Readonly<Record<string, string>> = {}) {
  return {
    ...readSettings(networkSettings, { SEKISHO_INGRESS_FROM: 'traefik,192.0.2.7/32', ...variables }),
    buildPorts: [80, 443],
    tokenDeskPort: 8444,
    gitProxyPort: 8448,
    sourceStorePort: 8081,
  }
}

type Block = { readonly cidr: string; readonly except?: readonly string[] }

/** Whether an address block of the policies' egress allows the address at the port; peers that are pods do not count. */
function allows(policies: readonly NamedPolicy[], address: string, port: number): boolean {
  const one = addressRange(`${address}/${address.includes(':') ? 128 : 32}`)
  const isIn = (cidr: string): boolean => containsRange(addressRange(cidr), one)
  return policies
    .flatMap(({ spec }) => spec.egress ?? [])
    .filter(({ ports }) => ports === undefined || ports.some(item => item.port === port && item.protocol === 'TCP'))
    .flatMap(({ to }) => to.flatMap(peer => ('ipBlock' in peer ? [peer.ipBlock as Block] : [])))
    .some(({ cidr, except = [] }) => isIn(cidr) && !except.some(isIn))
}

const trusted = { matchExpressions: [{ key: 'sekisho.dev/isolated', operator: 'DoesNotExist' }] }
const cutOff = { matchExpressions: [{ key: 'sekisho.dev/isolated', operator: 'Exists' }] }
const application = applicationNetworkPolicies(settingsOf())
const build = buildNetworkPolicies(settingsOf(), true)

describe('the addresses that pods of a tenant reach', () => {
  const metadata = ['169.254.169.254', '169.254.170.2', '168.63.129.16', '100.100.100.200', '192.0.0.192', 'fd00:ec2::254']
  test.each(metadata)('never contain %s, which hands out credentials of the cloud', address => {
    expect([allows(application, address, 80), allows(build, address, 80)]).toEqual([false, false])
    const everything = settingsOf({
      SEKISHO_PRIVATE_CIDRS: '192.0.2.0/24',
      SEKISHO_APPLICATION_EGRESS: '0.0.0.0/0,::/0,100.64.0.0/10',
      SEKISHO_BUILD_EGRESS: '0.0.0.0/0,::/0',
    })
    expect(allows(applicationNetworkPolicies(everything), address, 80)).toBe(false)
    expect(allows(buildNetworkPolicies(everything, true), address, 80)).toBe(false)
  })

  test.each(['10.244.0.7', '10.96.0.1', '10.88.0.1', '172.20.1.1', '192.168.1.1', '100.64.0.1', 'fd12::1', 'fe80::1'])(
    'do not contain %s: pods, Services, nodes and the API server are private addresses',
    address => {
      for (const port of [80, 443, 6443, 10250]) {
        expect([allows(application, address, port), allows(build, address, port)]).toEqual([false, false])
      }
    },
  )

  test('contain the internet: for applications whole, for builds by http and https', () => {
    for (const address of ['140.82.121.4', '2606:50c0:8000::154']) {
      expect([allows(application, address, 443), allows(application, address, 5432)]).toEqual([true, true])
      expect([allows(build, address, 443), allows(build, address, 80), allows(build, address, 22)]).toEqual([true, true, false])
    }
  })

  test('do not contain ranges of the cluster that are not private, and contain what the operator allows', () => {
    const settings = settingsOf({
      SEKISHO_CLUSTER_CIDRS: '198.51.100.0/24',
      SEKISHO_APPLICATION_EGRESS: '10.20.0.5/32:5432, 10.30.0.0/16',
    })
    const policies = applicationNetworkPolicies(settings)
    expect(allows(policies, '198.51.100.9', 443)).toBe(false)
    expect([allows(policies, '10.20.0.5', 5432), allows(policies, '10.20.0.5', 22), allows(policies, '10.30.9.9', 1)]).toEqual([
      true,
      false,
      true,
    ])
    expect(allows(buildNetworkPolicies(settings, true), '10.30.9.9', 443)).toBe(false)
  })
})

test('an exception is part of its range, and none lies in another one', () => {
  const settings = settingsOf({
    SEKISHO_CLUSTER_CIDRS: '10.244.0.0/16,10.244.0.0/16,198.51.100.0/24',
    SEKISHO_BUILD_EGRESS: '100.64.0.0/10',
  })
  const blocks = [...applicationNetworkPolicies(settings), ...buildNetworkPolicies(settings, true)]
    .flatMap(({ spec }) => spec.egress ?? [])
    .flatMap(({ to }) => to.flatMap(peer => ('ipBlock' in peer ? [peer.ipBlock as Block] : [])))
  expect(blocks.length).toBeGreaterThan(3)
  for (const { cidr, except = [] } of blocks) {
    for (const part of except) {
      expect(part).not.toBe(cidr)
      expect(containsRange(addressRange(cidr), addressRange(part)), `${part} in ${cidr}`).toBe(true)
      const others = except.filter(other => other !== part)
      expect(others.length).toBe(except.length - 1)
      expect(
        others.some(other => containsRange(addressRange(other), addressRange(part))),
        part,
      ).toBe(false)
    }
  }
})

test('applications are reached by pods of their own namespace and by the ingress controller; builds by nobody', () => {
  const ingress = application.flatMap(({ spec }) => spec.ingress ?? [])
  const outside = [
    { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'traefik' } } },
    { ipBlock: { cidr: '192.0.2.7/32' } },
  ]
  expect(ingress).toEqual([{ from: [{ podSelector: trusted }, ...outside] }, { from: outside }])
  expect(build.flatMap(({ spec }) => spec.ingress ?? [])).toEqual([])
  for (const policies of [application, build])
    expect(policies[0]?.spec).toEqual({ podSelector: {}, policyTypes: ['Egress', 'Ingress'] })
})

test('only the pods of builds reach anything in the build namespace, and of the platform only the source store', () => {
  const selectors = build.slice(1).map(({ spec }) => spec.podSelector)
  expect(selectors).toEqual(
    ['kpack.io/build', 'sekisho.dev/buildpacks-build', 'sekisho.dev/dockerfile-build'].map(key => ({
      matchExpressions: [{ key, operator: 'Exists' }],
    })),
  )
  for (const policy of build.slice(2)) expect(policy.spec.egress).toEqual(build[1]?.spec.egress)
  const platform = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'sekisho-system' } } }
  const toPlatform = (policies: readonly NamedPolicy[]) =>
    policies.flatMap(({ spec }) => spec.egress ?? []).filter(({ to }) => JSON.stringify(to) === JSON.stringify([platform]))
  const sources = { to: [platform], ports: [{ protocol: 'TCP', port: 8081 }] }
  expect(toPlatform(build)).toEqual([sources, sources, sources])
  const ports = [8444, 8448].map(port => ({ protocol: 'TCP', port }))
  expect(toPlatform(application)).toEqual([{ to: [platform], ports }])
})

describe('the pods of isolated Applications', () => {
  const platform = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'sekisho-system' } } }
  const settings = settingsOf({ SEKISHO_APPLICATION_EGRESS: '10.20.0.5/32:5432' })
  const policies = applicationNetworkPolicies(settings)
  const isolated = policies.filter(({ spec }) => JSON.stringify(spec.podSelector) === JSON.stringify(cutOff))
  const others = policies.filter(policy => !isolated.includes(policy))

  test('reach neither pods of the namespace, nor the platform, nor what the operator opened, but DNS and the internet', () => {
    const peers = isolated.flatMap(({ spec }) => spec.egress ?? []).flatMap(({ to }) => to)
    expect(peers.filter(peer => 'podSelector' in peer)).toEqual([])
    expect(peers).not.toContainEqual(platform)
    expect([allows(isolated, '10.20.0.5', 5432), allows(others, '10.20.0.5', 5432)]).toEqual([false, true])
    expect([allows(isolated, '169.254.169.254', 80), allows(isolated, '10.96.0.1', 443)]).toEqual([false, false])
    expect(allows(isolated, '140.82.121.4', 443)).toBe(true)
    expect(peers).toContainEqual({ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } } })
  })

  test('are reached by the ingress controller only, and by nobody when nobody is named', () => {
    expect(isolated.flatMap(({ spec }) => spec.ingress ?? []).flatMap(({ from }) => from)).not.toContainEqual({
      podSelector: trusted,
    })
    const nobody = applicationNetworkPolicies({ ...settings, ingressFrom: { namespaces: [], ranges: [] } })
    expect(nobody.find(({ name }) => name === 'sekisho-ingress-isolated')?.spec.ingress).toEqual([])
  })

  test('are selected by no policy of the others but the one that denies, and are nobody’s peers', () => {
    expect(others.filter(({ name }) => name !== 'sekisho-deny-all').map(({ spec }) => spec.podSelector)).toEqual([
      trusted,
      trusted,
    ])
    const own = others.flatMap(({ spec }) => [
      ...(spec.ingress ?? []).flatMap(({ from }) => from),
      ...(spec.egress ?? []).flatMap(({ to }) => to),
    ])
    expect(own.filter(peer => 'podSelector' in peer)).toEqual([{ podSelector: trusted }, { podSelector: trusted }])
  })
})

describe('the settings', () => {
  const wrong: readonly (readonly [Record<string, string>, RegExp])[] = [
    [{ SEKISHO_INGRESS_FROM: 'Traefik' }, /SEKISHO_INGRESS_FROM must consist of namespaces and ranges/],
    [{ SEKISHO_INGRESS_FROM: '10.0.0.1/8' }, /SEKISHO_INGRESS_FROM must name the first address/],
    [{ SEKISHO_APPLICATION_EGRESS: '169.254.169.254/32:80' }, /metadata services of clouds \(169\.254\.0\.0\/16\)/],
    [{ SEKISHO_BUILD_EGRESS: '10.0.0.1/32:99999' }, /must name ports from 1 to 65535/],
    [{ SEKISHO_CLUSTER_CIDRS: 'the cluster' }, /must consist of ranges such as/],
  ]
  test.each(wrong)('%j is refused by its name', (variables, message) => {
    expect(() => settingsOf(variables)).toThrow(message)
  })

  test('who reaches applications must be said', () => {
    expect(() => readSettings(networkSettings, {})).toThrow(/SEKISHO_INGRESS_FROM is not set/)
  })

  test('a registry that is named by address is open to builds, at its port', () => {
    expect(registryRange('10.88.0.1:5000')).toMatchObject({ range: { cidr: '10.88.0.1/32' }, port: 5000 })
    expect(registryRange('[fd00::5]:5000/apps')).toMatchObject({ range: { cidr: 'fd00::5/128' }, port: 5000 })
    expect(registryRange('10.88.0.1/apps')).toMatchObject({ port: 443 })
    expect([registryRange('registry.example.com/apps'), registryPort('registry.example.com:8443/apps')]).toEqual([
      undefined,
      8443,
    ])
  })
})
