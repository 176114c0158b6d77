// A cluster of the user's: what is found, what is asked for, and that nothing is planned while anything is missing.
import { describe, expect, test } from 'vitest'
import type { Environment } from '../../../../src/lib/config.ts'
import type { Mode } from '../../mode.ts'
import { givenPodSettings } from '../pod-settings.ts'
import { readGivenClusterSettings } from '../settings.ts'
import { checksText, missingText, planText } from '../text.ts'
import { decide } from './decide.ts'
import type { Facts } from './facts.ts'

const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64'

/** A cluster that lacks nothing, with nothing of ours in it. */
const ready: Facts = {
  version: 'v1.35.4',
  mutations: 'v1beta1',
  nodes: [{ name: 'a', ready: true, architecture }],
  podPids: { unlimited: [], unknown: [] },
  ingressClasses: [{ name: 'nginx', isDefault: false }],
  storageClasses: [
    { name: 'slow', isDefault: false },
    { name: 'fast', isDefault: true },
  ],
  apiServer: { url: 'https://kubernetes.example.com:6443', addresses: ['10.0.0.5'], port: 6443 },
  kpack: true,
  clusterBuilder: 'foreign',
  namespace: 'absent',
  form: undefined,
  installedBy: 'nobody',
  githubApps: undefined,
  secrets: [],
  registry: { state: 'open' },
  platformRegistry: undefined,
  refused: [],
  unreadable: [],
  registryAuthorityFile: '/state/registry-authority.crt',
}

const enough: Environment = {
  SEKISHO_UP_REGISTRY: 'registry.example.com/team',
  SEKISHO_UP_REGISTRY_AUTHENTICATION: 'secret',
  SEKISHO_UP_PUBLIC_URL: 'https://sekisho.example.com:8443',
  SEKISHO_UP_EXPOSE: 'LoadBalancer',
  SEKISHO_UP_INGRESS_FROM: 'ingress-nginx',
  SEKISHO_UP_APPLICATION_URL: 'https://apps.example.net',
  SEKISHO_UP_GITHUB_ADDRESS: '10.0.0.9',
  SEKISHO_UP_DATABASE_OWNER_URL: 'postgresql://owner:s3cret@db.example.com:6432/sekisho?sslmode=verify-full',
}

type Change = { readonly facts?: Partial<Facts>; readonly environment?: Environment; readonly mode?: Mode }

function decided({ facts, environment, mode = 'production' }: Change = {}) {
  return decide({ ...ready, ...facts }, readGivenClusterSettings({ ...enough, ...environment }), mode)
}

/** What is missing, and nothing else: a plan would be made without it. */
function lacks(change: Change): string {
  const { missing, plan } = decided(change)
  expect(plan).toBeUndefined()
  expect(missing).toHaveLength(1)
  return missingText(missing)
}

test('a cluster that lacks nothing gets a plan in both forms, with the storage class or the database of the form', () => {
  expect(decided().missing).toEqual([])
  expect(decided().plan).toMatchObject({
    mode: 'production',
    ingress: { className: 'nginx' },
    storageClass: null,
    database: { authority: null },
    apiServer: { from: ['10.0.0.5/32'] },
    accounts: 'any',
    builder: { name: 'sekisho', make: false },
  })
  expect(decided({ mode: 'standalone', environment: { SEKISHO_UP_DATABASE_OWNER_URL: '' } }).plan).toMatchObject({
    mode: 'standalone',
    storageClass: 'fast',
    database: null,
  })
})

test('on a bare cluster without settings everything is named at once', () => {
  const bare: Facts = {
    ...ready,
    nodes: [],
    ingressClasses: [],
    storageClasses: [],
    kpack: false,
    clusterBuilder: 'absent',
    registry: { state: 'unknown' },
  }
  for (const [mode, own] of [
    ['standalone', 'storage class'],
    ['production', 'PostgreSQL'],
  ] as const) {
    const { missing, plan } = decide(bare, readGivenClusterSettings({}), mode)
    expect(plan).toBeUndefined()
    const text = missingText(missing)
    for (const word of [
      'node',
      'kpack',
      'credentials',
      'registry',
      'ClusterBuilder',
      'public URL',
      'ingress class',
      'connections',
      'URL of the ingress',
      'GitHub',
      own,
    ])
      expect(text).toContain(word)
    expect(missing.every(({ cure }) => cure !== '')).toBe(true)
  }
})

describe('one thing is missing', () => {
  test.each<[string, Change, string]>([
    ['an old cluster', { facts: { version: 'v1.33.2' } }, 'upgrade'],
    ['policies that change objects', { facts: { mutations: undefined } }, 'feature-gates=MutatingAdmissionPolicy=true'],
    ['no node of this architecture', { facts: { nodes: [{ name: 'a', ready: true, architecture: 's390x' }] } }, 'describe nodes'],
    ['a right', { facts: { refused: [{ verb: 'create', group: '', resource: 'namespaces' }] } }, 'create namespaces'],
    ['something unreadable', { facts: { unreadable: ['nodes is forbidden'] } }, 'nodes is forbidden'],
    ['kpack', { facts: { kpack: false } }, 'kubectl apply -f https://github.com/buildpacks-community/kpack'],
    [
      'a builder, which only the token server lets us make',
      { facts: { clusterBuilder: 'absent' } },
      'SEKISHO_UP_CLUSTER_BUILDER',
    ],
    [
      'one of two ingress classes',
      {
        facts: {
          ingressClasses: [
            { name: 'a', isDefault: false },
            { name: 'b', isDefault: false },
          ],
        },
      },
      'a, b\n    SEKISHO_UP_INGRESS_CLASS',
    ],
    [
      'the class that was named',
      { environment: { SEKISHO_UP_INGRESS_CLASS: 'other' } },
      'ingress class other: the cluster has nginx',
    ],
    ['a storage class', { mode: 'standalone', facts: { storageClasses: [] } }, 'MODE=production'],
    ['the registry', { facts: { registry: { state: 'unreachable', why: 'no route' } } }, 'no route'],
    ['a registry without a scheme', { environment: { SEKISHO_UP_REGISTRY: 'https://r.example.com' } }, 'without a scheme'],
    [
      'an account to push',
      { facts: { registry: { state: 'closed', accepted: false } }, environment: { SEKISHO_UP_PULL_SECRET: 'none' } },
      'SEKISHO_UP_REGISTRY_CREDENTIALS_FILE',
    ],
    [
      'trust in our authority',
      {
        facts: { registry: { state: 'closed', accepted: false } },
        environment: { SEKISHO_UP_PULL_SECRET: 'none', SEKISHO_UP_REGISTRY_AUTHENTICATION: 'token-server' },
      },
      '/state/registry-authority.crt',
    ],
    ['a pull credential', { facts: { registry: { state: 'closed', accepted: true } } }, 'SEKISHO_UP_PULL_SECRET='],
    [
      'the pull Secret',
      { facts: { registry: { state: 'closed', accepted: true } }, environment: { SEKISHO_UP_PULL_SECRET: 'p' } },
      'the Secret p',
    ],
    [
      'another registry for the platform, which issues the tokens of this one',
      {
        facts: { registry: { state: 'closed', accepted: true }, secrets: ['p'] },
        environment: { SEKISHO_UP_PULL_SECRET: 'p', SEKISHO_UP_REGISTRY_AUTHENTICATION: 'token-server' },
      },
      'SEKISHO_UP_PLATFORM_REGISTRY',
    ],
    [
      'the registry of the platform',
      {
        facts: { platformRegistry: { state: 'unreachable', why: 'no route' } },
        environment: { SEKISHO_UP_PLATFORM_REGISTRY: 'other.example.com/team' },
      },
      'correct SEKISHO_UP_PLATFORM_REGISTRY',
    ],
    ['TLS', { environment: { SEKISHO_UP_PUBLIC_URL: 'http://sekisho.example.com' } }, 'https in SEKISHO_UP_PUBLIC_URL'],
    ['half of a certificate', { environment: { SEKISHO_UP_TLS_KEY: 'x' } }, 'SEKISHO_UP_TLS_CERTIFICATE_FILE'],
    [
      'a separate domain',
      { environment: { SEKISHO_UP_APPLICATION_URL: 'https://apps.sekisho.example.com' } },
      'registrable domain',
    ],
    [
      'an API server that others reach',
      { facts: { apiServer: { ...ready.apiServer, url: 'https://127.0.0.1:6443' } } },
      'SEKISHO_UP_API_SERVER_URL',
    ],
    ['callers of webhooks', { facts: { apiServer: { ...ready.apiServer, addresses: [] } } }, 'SEKISHO_UP_API_SERVER_FROM'],
    ['an emulator that pods reach', { environment: { SEKISHO_UP_GITHUB_ADDRESS: '127.0.0.1' } }, 'loopback'],
    [
      'one GitHub',
      { environment: { SEKISHO_UP_GITHUB_APP: 'default', SEKISHO_UP_TLS_CERTIFICATE: 'c', SEKISHO_UP_TLS_KEY: 'k' } },
      'one only',
    ],
    ['the database', { environment: { SEKISHO_UP_DATABASE_OWNER_URL: '' } }, 'CREATE ROLE'],
    [
      'a verified database',
      { environment: { SEKISHO_UP_DATABASE_OWNER_URL: 'postgresql://o:p@db/sekisho?sslmode=require' } },
      'verify-full',
    ],
    ['a database URL', { environment: { SEKISHO_UP_DATABASE_OWNER_URL: 'db.example.com' } }, 'usable'],
    ['a namespace of ours', { facts: { namespace: 'foreign' } }, 'part-of=sekisho'],
    [
      'a platform of ours',
      { facts: { namespace: 'labelled', form: 'production', installedBy: 'others' } },
      'with other authorities',
    ],
    ['the same form', { facts: { namespace: 'labelled', form: 'standalone', installedBy: 'us' } }, 'MODE=standalone keeps it'],
  ])('%s', (_name, change, expected) => {
    expect(lacks(change)).toContain(expected)
  })
})

test('real GitHub needs its App in the cluster, its secrets and a certificate that GitHub trusts', () => {
  const real: Environment = { SEKISHO_UP_GITHUB_ADDRESS: '', SEKISHO_UP_GITHUB_APP: 'default' }
  const text = missingText(decided({ environment: real }).missing)
  for (const word of ['SEKISHO_UP_TLS_CERTIFICATE_FILE', 'SEKISHO_UP_GITHUB_WEBHOOK_SECRET_FILE', 'ClusterGitHubApp default'])
    expect(text).toContain(word)
  const secrets = {
    SEKISHO_UP_TLS_CERTIFICATE: 'c',
    SEKISHO_UP_TLS_KEY: 'k',
    SEKISHO_UP_GITHUB_CLIENT_SECRET: 'a',
    SEKISHO_UP_GITHUB_WEBHOOK_SECRET: 'b',
  }
  const { plan } = decided({ environment: { ...real, ...secrets }, facts: { githubApps: ['default'] } })
  expect(plan).toMatchObject({ github: { kind: 'app', name: 'default' }, accounts: null, broker: { certificate: { key: 'k' } } })
})

test('with another registry for its own image the platform issues the tokens of the first, under the address that the registry names', () => {
  const environment = {
    SEKISHO_UP_REGISTRY_AUTHENTICATION: 'token-server',
    SEKISHO_UP_PLATFORM_REGISTRY: 'other.example.com/team',
    SEKISHO_UP_PULL_SECRET: 'p',
  }
  const registry = { state: 'closed', accepted: true, realm: 'https://tokens.example.com:8444/token' } as const
  const { plan } = decided({
    environment,
    facts: { registry, platformRegistry: { state: 'closed', accepted: true }, secrets: ['p'] },
  })
  expect(plan?.registry).toMatchObject({ platform: 'other.example.com/team', pullSecret: 'p' })
  expect(plan?.registry.realm?.host).toBe('tokens.example.com:8444')
  if (plan === undefined) throw new Error('no plan')
  expect(checksText(plan, ready, '/state/ca.crt')).toContain('https://tokens.example.com:8444')
})

test('without MODE the form that runs stays', () => {
  const facts: Partial<Facts> = { form: 'production', installedBy: 'us', namespace: 'labelled' }
  expect(decide({ ...ready, ...facts }, readGivenClusterSettings(enough), undefined).plan?.mode).toBe('production')
})

test('the builder is made with the token server, and one that somebody else made is left as it is', () => {
  const environment = { SEKISHO_UP_REGISTRY_AUTHENTICATION: 'token-server' }
  expect(decided({ environment, facts: { clusterBuilder: 'absent' } }).plan?.builder.make).toBe(true)
  expect(decided({ environment, facts: { clusterBuilder: 'ours' } }).plan?.builder.make).toBe(true)
  expect(decided({ environment, facts: { clusterBuilder: 'foreign' } }).plan?.builder.make).toBe(false)
  expect(decided({ facts: { clusterBuilder: 'ours' } }).plan?.builder.make).toBe(false)
})

test('the plan and the checks show no secret, and say what cannot be read from here', () => {
  const { plan } = decided()
  if (plan === undefined) throw new Error('no plan')
  const text = planText(plan, ready) + checksText(plan, ready, '/state/ca.crt')
  expect(text).not.toContain('s3cret')
  for (const word of ['db.example.com:6432', 'trust the issuer', 'NetworkPolicies', '/state/ca.crt', 'sign in as anybody'])
    expect(text).toContain(word)
})

test('nodes whose processes one pod may use up are to be changed, and those that do not say are to be looked at', () => {
  const { plan } = decided()
  if (plan === undefined) throw new Error('no plan')
  const nodes = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
  const text = checksText(plan, { podPids: { unlimited: nodes, unknown: ['x'] } }, '/state/ca.crt')
  expect(text).toContain('processes of nodes a, b, c, d, e and 2 more: set podPidsLimit: 4096')
  expect(text).toContain('kubectl get --raw /api/v1/nodes/x/proxy/configz')
  expect(checksText(plan, ready, '/state/ca.crt')).not.toContain('podPidsLimit')
})

test('a misspelled setting is refused by its name, and wrong ones all at once', () => {
  expect(() => readGivenClusterSettings({ SEKISHO_UP_REGISTY: 'x' })).toThrow('SEKISHO_UP_REGISTY: no such setting')
  const wrong = { SEKISHO_UP_EXPOSE: 'x', SEKISHO_UP_API_SERVER_FROM: 'here' }
  for (const name of Object.keys(wrong)) expect(() => readGivenClusterSettings(wrong)).toThrow(name)
})

describe('further settings of the platform', () => {
  const withLines = (...lines: readonly string[]): Change => ({
    environment: { SEKISHO_UP_PLATFORM_SETTINGS: lines.join('\n') },
  })

  test('reach the pods, and the plan names them', () => {
    const { plan } = decided(withLines('# redirects', '', 'SEKISHO_REDIRECT_ANNOTATIONS=a/b=c', 'SEKISHO_LOG_LEVEL=debug '))
    if (plan === undefined) throw new Error('no plan')
    expect(givenPodSettings(plan)).toMatchObject({ SEKISHO_REDIRECT_ANNOTATIONS: 'a/b=c', SEKISHO_LOG_LEVEL: 'debug' })
    expect(planText(plan, ready)).toMatch(/further settings +SEKISHO_REDIRECT_ANNOTATIONS, SEKISHO_LOG_LEVEL/)
    expect(decided().plan?.platformSettings).toEqual({})
  })

  test.each([
    ['SEKISHO_SWEEP_SECOND=60', 'SEKISHO_SWEEP_SECOND, which no process'],
    ['SEKISHO_SWEEP_SECONDS=often', 'SEKISHO_SWEEP_SECONDS, which must be'],
    ['SEKISHO_GITHUB_CLIENT_SECRET=x', 'SEKISHO_GITHUB_CLIENT_SECRET, a secret'],
    ['SEKISHO_TLS_KEY_PATH=/etc/x', 'SEKISHO_TLS_KEY_PATH, which the manifests'],
    ['SEKISHO_BROKER_PORT=1', 'SEKISHO_BROKER_PORT, which the manifests'],
    ['sweep every minute', 'must have lines such as'],
  ])('%s is refused', (line, message) => {
    expect(() => decided(withLines(line))).toThrow(message)
  })

  test('are not those that make up decides', () => {
    expect(lacks(withLines('SEKISHO_INGRESS_CLASS=other'))).toContain('one value for SEKISHO_INGRESS_CLASS')
  })
})
