// One row for each check, in the order of the checks, and the host names of an Application.
import { describe, expect, test } from 'vitest'
import { type Application, application as applications } from '../../api/apps/application.ts'
import type { ApplicationChart } from '../../api/apps/application-chart.ts'
import { findChartSource } from '../../charts/chart-source.ts'
import { decide } from './decide.ts'
import type { Facts } from './gather.ts'
import { domainProblem, hostsOf, urlOf } from './hosts.ts'

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

function facts(changes: Partial<Facts> = {}): Facts {
  return {
    application: app(),
    ingress,
    registry: { place: { registry: 'registry.example.com/apps', aliases: ['10.88.0.1:5000'] }, pullSecret: undefined },
    chart: chartWith({ builtIn: 'web' }),
    usersOfHost: new Map(),
    children: new Map(),
    present: [],
    pods: [],
    ...changes,
  }
}

const { image: _image, ...withoutImage } = app().spec

describe('deciding on an Application', () => {
  test('renders when every check passes', () => {
    expect(decide(facts())).toMatchObject({
      kind: 'render',
      source: { kind: 'built-in', name: 'web' },
      timeoutMilliseconds: 5000,
      input: { name: 'shop', namespace: 'acme', hosts: ['shop.acme.localhost'], tls: false, env: [], attributes: {} },
    })
  })

  const unknown = chartWith({ builtIn: 'nope' })
  const fromConfigMap = chartWith({ configMap: { name: 'mine', key: 'chart.js' } })
  test.each<[string, Partial<Facts>, string, string]>([
    ['a name that is not a label', { application: app({}, { name: 'a.b' }) }, 'InvalidName', 'DNS label'],
    ['no image', { application: { ...app(), spec: withoutImage } }, 'WaitingForImage', 'spec.image'],
    ['no such chart', { chart: undefined }, 'ChartNotFound', 'spec.chart'],
    ['a chart of another version', { chart: unknown }, 'ChartNotFound', 'use one of web'],
    ['a chart without its ConfigMap', { chart: fromConfigMap }, 'ChartNotFound', 'no ConfigMap mine with the key chart.js'],
    [
      'a domain of another namespace',
      { application: app({ domains: ['shop.other.localhost'] }) },
      'DomainTaken',
      '.acme.localhost',
    ],
  ])('%s is refused with the cure', (_what, changes, reason, words) => {
    const decision = decide(facts(changes))
    expect(decision).toMatchObject({ kind: 'refused', reason })
    expect(JSON.stringify(decision)).toContain(words)
  })
})

describe('host names', () => {
  /** As `gather` finds them: each host with all that want it. */
  function usedBy(...users: readonly Application[]): ReadonlyMap<string, readonly Application[]> {
    return Map.groupBy(users, user => hostsOf(user, ingress)[0] ?? '')
  }

  test('are the name from the platform, or spec.domains', () => {
    expect(hostsOf(app(), ingress)).toEqual(['shop.acme.localhost'])
    expect(hostsOf(app({ domains: ['www.example.com'] }), ingress)).toEqual(['www.example.com'])
    expect(urlOf('shop.acme.localhost', ingress)).toBe('http://shop.acme.localhost:8080')
    expect(urlOf('a.b', { ...ingress, publicUrl: new URL('https://apps.example.com') })).toBe('https://a.b')
  })

  test('belong to the older application; the message does not name an application of another tenant', () => {
    const other = app(
      { domains: ['www.example.com'] },
      { name: 'first', namespace: 'other', uid: 'uid-0', creationTimestamp: '2026-01-01T00:00:00Z' },
    )
    const mine = app({ domains: ['www.example.com'] })
    expect(domainProblem(mine, ingress, usedBy(other, mine))).toBe(
      'spec.domains: www.example.com is used by another application: remove it here or there',
    )
    expect(domainProblem(other, ingress, usedBy(other, mine))).toBeUndefined()
  })

  test('two applications created in the same second are ordered by uid, equally for both', () => {
    const [a, b] = ['a', 'b'].map(uid => app({ domains: ['www.example.com'] }, { name: uid, uid }))
    if (!a || !b) throw new Error('two applications exist')
    const both = [a, b].map(item => domainProblem(item, ingress, usedBy(a, b)) !== undefined)
    expect(both).toEqual([false, true])
  })

  test('the platform’s own domain, and names below it that contain no namespace, can be used by nobody', () => {
    expect(domainProblem(app({ domains: ['localhost'] }), ingress, new Map())).toContain("platform's own name")
    expect(domainProblem(app({ domains: ['xacme.localhost'] }), ingress, new Map())).toContain('another namespace')
    expect(domainProblem(app({ domains: ['x.acme.localhost'] }), ingress, new Map())).toBeUndefined()
  })

  test('the name from the platform belongs to the application that had it first, too', () => {
    const named = app()
    const imposter = app(
      { domains: ['shop.acme.localhost'] },
      { name: 'other', uid: 'uid-other', creationTimestamp: '2026-01-03T00:00:00Z' },
    )
    expect(domainProblem(imposter, ingress, usedBy(named, imposter))).toBe(
      'spec.domains: shop.acme.localhost is used by Application shop: remove it here or there',
    )
    expect(domainProblem(named, ingress, usedBy(named, imposter))).toBeUndefined()
    const late = app({}, { creationTimestamp: '2026-01-04T00:00:00Z' })
    expect(domainProblem(late, ingress, usedBy(late, imposter))).toBe(
      'shop.acme.localhost is used by Application other: set spec.domains here, or remove it there',
    )
  })
})
