// One row for each check, in the order of the checks, and the host names of an Application.
import { describe, expect, test } from 'vitest'
import { type Application, application as applications } from '../../api/apps/application.ts'
import type { ApplicationChart } from '../../api/apps/application-chart.ts'
import { domainClaim } from '../../api/tenancy/domain-claim.ts'
import { type Tenant, tenant } from '../../api/tenancy/tenant.ts'
import { findChartSource } from '../../services/charts/chart-source.ts'
import { decide } from './decide.ts'
import {
  domainProblem,
  type HostFacts,
  hostsOf,
  isLost,
  missingProof,
  type UsersOfHost,
  urlOf,
  wantedHosts,
} from './domains/hosts.ts'
import type { Facts } from './facts.ts'

const ingress = { publicUrl: new URL('http://localhost:8080'), className: 'traefik' }
const { apiVersion, kind } = applications

function app(spec: Partial<Application['spec']> = {}, metadata: Partial<Application['metadata']> = {}): Application {
  return {
    apiVersion,
    kind,
    metadata: { name: 'shop', namespace: 'acme', uid: 'uid-shop', creationTimestamp: '2026-01-02T00:00:00Z', ...metadata },
    spec: {
      chart: 'web',
      image: 'i@sha256:1',
      processes: [{ name: 'web', port: 3000, replicas: 1, cpu: '50m', memory: '64Mi' }],
      ...spec,
    },
  }
}

/** The fact about an ApplicationChart when the platform namespace has no ConfigMap. */
function chartWith(spec: Omit<ApplicationChart['spec'], 'timeoutSeconds'>): Facts['chart'] {
  const { apiVersion } = applications
  const chart = { apiVersion, kind: 'ApplicationChart', metadata: { name: 'web' }, spec: { ...spec, timeoutSeconds: 5 } }
  return { timeoutSeconds: 5, lookup: findChartSource(chart, () => undefined) }
}

const acme: Tenant = {
  apiVersion: tenant.apiVersion,
  kind: tenant.kind,
  metadata: { name: 'acme', uid: 'uid-acme' },
  spec: { account: { host: 'github.com', id: 42, login: 'acme', type: 'Organization' }, namespace: 'acme', roles: [] },
}

const hostFacts: HostFacts = {
  application: app(),
  ingress,
  tenant: acme,
  usersOfHost: new Map(),
  claims: new Map(),
  reservedHosts: [],
  foreignHosts: new Set(),
  redirectAnnotations: [],
}

function facts(changes: Partial<Facts> = {}): Facts {
  return {
    ...hostFacts,
    registry: { place: { registry: 'registry.example.com/apps', aliases: ['10.88.0.1:5000'] }, pullSecret: undefined },
    contents: { kind: 'unread' },
    certificateIssuers: ['letsencrypt'],
    chart: chartWith({ builtIn: 'web' }),
    secrets: new Map(),
    services: [],
    bindings: [],
    reach: [],
    children: new Map(),
    volumeClaims: new Set<string>(),
    present: [],
    pods: [],
    releases: { headers: [], jobs: [], podsOfJobs: new Map(), syncs: [], secretVersions: {} },
    ...changes,
  }
}

const redirects = [{ from: 'www.shop.acme.localhost', to: 'shop.acme.localhost' }]
const redirecting = (from = 'www.shop.acme.localhost'): Application =>
  app({ domains: ['shop.acme.localhost'], redirects: [{ from, to: 'shop.acme.localhost' }] })
const toTarget = [['haproxy.org/request-redirect', '{to}']] as const

const { image: _image, ...withoutImage } = app().spec
const { processes: _processes, ...withoutProcesses } = app().spec
const empty: Facts['contents'] = { kind: 'known', contents: { image: 'i@sha256:1', processes: [] } }

test('waits for a followed tag only while nothing is known of it, and never for that of another tenant', () => {
  const problem = { reason: 'TagUnreadable', message: 'the registry ghcr.io answered 503' }
  const followed = { tag: 'ghcr.io/acme/shop:v1', digest: undefined, problem, requeueAfterMilliseconds: undefined }
  expect(decide(facts({ followed }))).toEqual({ kind: 'refused', ...problem })
  expect(decide(facts({ followed: { ...followed, digest: `sha256:${'a'.repeat(64)}` } }))).toMatchObject({ kind: 'render' })
  const foreign = app({ image: 'registry.example.com/apps/globex/shop:v1', followTag: true })
  expect(decide(facts({ application: foreign, followed }))).toMatchObject({ reason: 'ForeignImage' })
})

describe('deciding on an Application', () => {
  test('renders when every check passes', () => {
    expect(decide(facts())).toMatchObject({
      kind: 'render',
      source: { kind: 'built-in', name: 'web' },
      timeoutMilliseconds: 5000,
      input: { name: 'shop', namespace: 'acme', hosts: ['shop.acme.localhost'], tls: false, env: [], attributes: {} },
    })
  })

  test('renders an image without a process for an Application that names a command, or has a schedule only', () => {
    const process = { name: 'web', command: ['node', 'x.js'], port: 3000, replicas: 1, cpu: '50m', memory: '64Mi' }
    expect(decide(facts({ application: app({ processes: [process] }), contents: empty }))).toMatchObject({ kind: 'render' })
    expect(decide(facts({ application: app({ processes: [] }), contents: empty }))).toMatchObject({ kind: 'render' })
    const inFolder: Facts['contents'] = { kind: 'known', contents: { image: 'i@sha256:1', folder: 'apps/api', processes: [] } }
    const told = [{ name: 'CNB_APP_DIR', value: '/workspace/apps/api' }]
    expect(decide(facts({ application: app({ processes: [] }), contents: inFolder }))).toMatchObject({ input: { env: told } })
  })

  test('renders own images and those of other registries, with the Secret to pull them', () => {
    const { place } = facts().registry
    const images = ['registry.example.com/apps/acme/shop:1', 'ghcr.io/globex/site:1', 'nginx']
    for (const image of images) expect(decide(facts({ application: app({ image }) }))).toMatchObject({ kind: 'render' })
    const withSecret = facts({ registry: { place, pullSecret: 'sekisho-registry-pull' } })
    expect(decide(withSecret)).toMatchObject({ input: { imagePullSecrets: ['sekisho-registry-pull'] } })
    const { application } = withSecret
    const named = { ...application, spec: { ...application.spec, imagePullSecrets: ['ghcr'] } }
    const both = ['sekisho-registry-pull', 'ghcr']
    expect(decide({ ...withSecret, application: named })).toMatchObject({ input: { imagePullSecrets: both } })
    expect(decide(facts({ application: named }))).toMatchObject({ input: { imagePullSecrets: ['ghcr'] } })
  })

  test('renders with the redirects that the platform is configured for; the chart does not see them', () => {
    const application = redirecting()
    expect(decide(facts({ application }))).toMatchObject({ kind: 'render', redirects: [] })
    const configured = decide(facts({ application, redirectAnnotations: toTarget }))
    expect(configured).toMatchObject({
      kind: 'render',
      redirects: [
        { to: redirects[0]?.to, from: [redirects[0]?.from], annotations: { 'haproxy.org/request-redirect': redirects[0]?.to } },
      ],
      input: { hosts: ['shop.acme.localhost'] },
    })
  })

  const unknown = chartWith({ builtIn: 'nope' })
  const fromConfigMap = chartWith({ configMap: { name: 'mine', key: 'chart.js' } })
  test.each<[string, Partial<Facts>, string, string]>([
    ['a name that is not a label', { application: app({}, { name: 'a.b' }) }, 'InvalidName', 'DNS label'],
    ['no image', { application: { ...app(), spec: withoutImage } }, 'WaitingForImage', 'spec.image'],
    [
      'an image of another tenant',
      { application: app({ image: '10.88.0.1:5000/apps/globex/site:1' }) },
      'ForeignImage',
      'below registry.example.com/apps/acme/',
    ],
    [
      'an image of another tenant whose name begins like the own',
      { application: app({ image: 'REGISTRY.example.com:443/apps/acme-inc/site' }) },
      'ForeignImage',
      'spec.image',
    ],
    ['no such chart', { chart: undefined }, 'ChartNotFound', 'spec.chart'],
    ['a chart of another version', { chart: unknown }, 'ChartNotFound', 'use one of web'],
    ['a chart without its ConfigMap', { chart: fromConfigMap }, 'ChartNotFound', 'no ConfigMap mine with the key chart.js'],
    [
      'an image without a process, of which none has a command',
      { application: { ...app(), spec: withoutProcesses }, contents: empty },
      'InvalidProcesses',
      'name one with its command in spec.processes',
    ],
    [
      'a domain of another namespace',
      { application: app({ domains: ['shop.other.localhost'] }) },
      'DomainTaken',
      '.acme.localhost',
    ],
    ['a domain without a proof', { application: app({ domains: ['www.example.com'] }) }, 'DomainNotProven', '_sekisho-challenge'],
    ['a domain of the platform', { application: app({ domains: ['localhost'] }) }, 'DomainReserved', 'localhost'],
    [
      'a redirect from another namespace',
      { application: redirecting('www.shop.other.localhost'), redirectAnnotations: toTarget },
      'DomainTaken',
      'spec.redirects: www.shop.other.localhost belongs to another namespace',
    ],
    [
      'a redirect from a host of the platform',
      {
        application: redirecting('a.sekisho.example.com'),
        redirectAnnotations: toTarget,
        reservedHosts: ['sekisho.example.com'],
      },
      'DomainReserved',
      'spec.redirects: a.sekisho.example.com is reserved',
    ],
    [
      'a redirect from a host that another Ingress serves',
      { application: redirecting('old.example.com'), redirectAnnotations: toTarget, foreignHosts: new Set(['old.example.com']) },
      'DomainReserved',
      'spec.redirects: an Ingress of the cluster that no Application made serves old.example.com',
    ],
    [
      'a redirect from a host without a proof',
      { application: redirecting('old.example.com'), redirectAnnotations: toTarget },
      'DomainNotProven',
      'spec.redirects: prove that old.example.com',
    ],
  ])('%s is refused with the cure', (_what, changes, reason, words) => {
    const decision = decide(facts(changes))
    expect(decision).toMatchObject({ kind: 'refused', reason })
    expect(JSON.stringify(decision)).toContain(words)
  })
})

describe('host names', () => {
  const host = 'www.example.com'
  const mine = app({ domains: [host] })

  /** As `gather` finds them: each host with all that want it. */
  function usedBy(...users: readonly Application[]): UsersOfHost {
    return Map.groupBy(users, user => hostsOf(user, ingress)[0] ?? '')
  }
  function problem(application: Application, changes: Partial<HostFacts> = {}): string | undefined {
    return domainProblem({ ...hostFacts, application, ...changes })?.message
  }
  function claimedBy(uid: string): HostFacts['claims'] {
    const spec = { host, tenant: { name: 'a', uid }, proof: 'DNS' as const }
    return new Map([[host, { apiVersion: domainClaim.apiVersion, kind: domainClaim.kind, metadata: { name: host }, spec }]])
  }

  test('are the name from the platform, or spec.domains', () => {
    expect(hostsOf(app(), ingress)).toEqual(['shop.acme.localhost'])
    expect(hostsOf(mine, ingress)).toEqual([host])
    expect(urlOf('shop.acme.localhost', ingress)).toBe('http://shop.acme.localhost:8080')
    expect(urlOf('a.b', { ...ingress, publicUrl: new URL('https://apps.example.com') })).toBe('https://a.b')
    expect(urlOf('a.b', ingress, true)).toBe('https://a.b')
    expect(urlOf('a.b', { ...ingress, tlsPort: 8446 }, true)).toBe('https://a.b:8446')
    expect(urlOf('a.b', { publicUrl: new URL('https://apps.example.com:8447'), tlsPort: 8446 }, true)).toBe('https://a.b:8447')
  })

  test('belong to the tenant of the claim, however old another tenant’s Application is; the message does not name the other', () => {
    const older = app(
      { domains: [host] },
      { name: 'first', namespace: 'other', uid: 'uid-0', creationTimestamp: '2026-01-01T00:00:00Z' },
    )
    const usersOfHost = usedBy(older, mine)
    expect(problem(mine, { usersOfHost, claims: claimedBy('uid-acme') })).toBeUndefined()
    expect(
      problem(older, {
        usersOfHost,
        claims: claimedBy('uid-acme'),
        tenant: { ...acme, metadata: { name: 'other', uid: 'uid-other' } },
      }),
    ).toBe('spec.domains: www.example.com belongs to another tenant: choose another host name, or ask a platform admin')
  })

  test('are not inherited by a later Tenant of the same name', () => {
    expect(problem(mine, { claims: claimedBy('uid-former') })).toContain('belongs to another tenant')
  })

  test('have to be proved by a record that names the account, unless they are below the platform’s domain', () => {
    const refusal = missingProof({ ...hostFacts, application: mine })
    expect(refusal?.reason).toBe('DomainNotProven')
    expect(refusal?.message).toContain('_sekisho-challenge.www.example.com TXT "sekisho-tenant=github.com/42"')
    expect(missingProof({ ...hostFacts, application: mine, claims: claimedBy('uid-acme') })).toBeUndefined()
    expect(missingProof({ ...hostFacts, application: app() })).toBeUndefined()
    expect(missingProof({ ...hostFacts, application: mine, tenant: undefined })?.message).toContain('Tenant of this namespace')
  })

  test('of the platform, above and below them, belong to nobody', () => {
    const reservedHosts = ['sekisho.example.com']
    for (const reserved of ['sekisho.example.com', 'a.sekisho.example.com', 'example.com'])
      expect(problem(app({ domains: [reserved] }), { reservedHosts, claims: claimedBy('uid-acme') })).toContain(
        'reserved for the platform',
      )
    expect(problem(app({ domains: ['shop.example.com'] }), { reservedHosts })).toBeUndefined()
    expect(problem(app({ domains: ['localhost'] }))).toContain('reserved for the platform')
  })

  test('that another Ingress of the cluster serves belong to nobody', () => {
    expect(problem(mine, { foreignHosts: new Set([host]), claims: claimedBy('uid-acme') })).toContain('no Application made')
  })

  test('belong to the older of two applications of a tenant', () => {
    const older = app({ domains: [host] }, { name: 'first', uid: 'uid-0', creationTimestamp: '2026-01-01T00:00:00Z' })
    const usersOfHost = usedBy(older, mine)
    expect(problem(mine, { usersOfHost })).toBe(
      'spec.domains: www.example.com is used by Application first: remove it here or there',
    )
    expect(problem(older, { usersOfHost })).toBeUndefined()
  })

  test('belong to the older one also where one of them only redirects the host', () => {
    const domains = ['example.com']
    const older = app({ domains }, { name: 'first', uid: 'uid-0', creationTimestamp: '2026-01-01T00:00:00Z' })
    const leads = app({ domains: ['a.acme.localhost'], redirects: [{ from: 'example.com', to: 'a.acme.localhost' }] })
    const usersOfHost = new Map([['example.com', [older, leads]]])
    expect(problem(leads, { usersOfHost, redirectAnnotations: toTarget })).toBe(
      'spec.redirects: example.com is used by Application first: remove it here or there',
    )
    expect(problem(leads, { usersOfHost })).toBeUndefined()
    expect(wantedHosts(leads, ingress)).toEqual(['a.acme.localhost', 'example.com'])
  })

  test('two applications created in the same second are ordered by uid, equally for both', () => {
    const [a, b] = ['a', 'b'].map(uid => app({ domains: [host] }, { name: uid, uid }))
    if (!a || !b) throw new Error('two applications exist')
    expect([a, b].map(item => problem(item, { usersOfHost: usedBy(a, b) }) !== undefined)).toEqual([false, true])
  })

  test('below the platform’s domain contain the namespace', () => {
    expect(problem(app({ domains: ['xacme.localhost'] }))).toContain('another namespace')
    expect(problem(app({ domains: ['x.acme.localhost'] }))).toBeUndefined()
  })

  test('the name from the platform belongs to the application that had it first, too', () => {
    const named = app()
    const imposter = app(
      { domains: ['shop.acme.localhost'] },
      { name: 'other', uid: 'uid-other', creationTimestamp: '2026-01-03T00:00:00Z' },
    )
    expect(problem(imposter, { usersOfHost: usedBy(named, imposter) })).toBe(
      'spec.domains: shop.acme.localhost is used by Application shop: remove it here or there',
    )
    expect(problem(named, { usersOfHost: usedBy(named, imposter) })).toBeUndefined()
    const late = app({}, { creationTimestamp: '2026-01-04T00:00:00Z' })
    expect(problem(late, { usersOfHost: usedBy(late, imposter) })).toBe(
      'shop.acme.localhost is used by Application other: set spec.domains here, or remove it there',
    )
  })

  test('are lost when another tenant or the platform has them, and not while only the proof is missing', () => {
    const lost = (changes: Partial<HostFacts>): boolean => isLost({ ...hostFacts, application: mine, ...changes }, host)
    expect(lost({})).toBe(false)
    expect(lost({ claims: claimedBy('uid-acme') })).toBe(false)
    expect(lost({ claims: claimedBy('uid-other') })).toBe(true)
    expect(lost({ reservedHosts: [host] })).toBe(true)
  })
})
