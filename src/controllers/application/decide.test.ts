// One row for each check, in its order, and the host names of an Application.
import { describe, expect, test } from 'vitest'
import { type Application, application as applications } from '../../api/apps/application.ts'
import type { ApplicationChart } from '../../api/apps/application-chart.ts'
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

const chart: ApplicationChart = {
  apiVersion: 'apps.sekisho.dev/v1alpha1',
  kind: 'ApplicationChart',
  metadata: { name: 'web' },
  spec: { builtIn: 'web', timeoutSeconds: 5 },
}

function facts(changes: Partial<Facts> = {}): Facts {
  return {
    application: app(),
    chart,
    configMap: () => undefined,
    usersOfDomain: () => [],
    cached: () => undefined,
    present: [],
    deployment: () => undefined,
    pods: [],
    ...changes,
  }
}

const { image: _image, ...withoutImage } = app().spec

describe('deciding on an Application', () => {
  test('renders when nothing stands against it', () => {
    expect(decide(facts(), ingress)).toMatchObject({
      kind: 'render',
      source: { kind: 'built-in', name: 'web' },
      timeoutMilliseconds: 5000,
      input: { name: 'shop', namespace: 'acme', hosts: ['shop.acme.localhost'], tls: false, env: [], attributes: {} },
    })
  })

  const unknown = { ...chart, spec: { ...chart.spec, builtIn: 'nope' } }
  const fromConfigMap = { ...chart, spec: { configMap: { name: 'mine', key: 'chart.js' }, timeoutSeconds: 5 } }
  test.each<[string, Partial<Facts>, string, string]>([
    ['a name that is no label', { application: app({}, { name: 'a.b' }) }, 'InvalidName', 'DNS label'],
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
    const decision = decide(facts(changes), ingress)
    expect(decision).toMatchObject({ kind: 'refused', reason })
    expect(JSON.stringify(decision)).toContain(words)
  })
})

describe('host names', () => {
  test('are the platform’s own, or those asked for', () => {
    expect(hostsOf(app(), ingress)).toEqual(['shop.acme.localhost'])
    expect(hostsOf(app({ domains: ['www.example.com'] }), ingress)).toEqual(['www.example.com'])
    expect(urlOf('shop.acme.localhost', ingress)).toBe('http://shop.acme.localhost:8080')
    expect(urlOf('a.b', { ...ingress, publicUrl: new URL('https://apps.example.com') })).toBe('https://a.b')
  })

  test('belong to the older application, and another tenant’s name is not told', () => {
    const other = app(
      { domains: ['www.example.com'] },
      { name: 'first', namespace: 'other', uid: 'uid-0', creationTimestamp: '2026-01-01T00:00:00Z' },
    )
    const mine = app({ domains: ['www.example.com'] })
    expect(domainProblem(mine, ingress, () => [other, mine])).toBe(
      'spec.domains: www.example.com is used by another application: remove it here or there',
    )
    expect(domainProblem(other, ingress, () => [other, mine])).toBeUndefined()
  })

  test('two of the same second are told apart by uid, the same way round for both', () => {
    const [a, b] = ['a', 'b'].map(uid => app({ domains: ['www.example.com'] }, { name: uid, uid }))
    if (!a || !b) throw new Error('two are made')
    const both = [a, b].map(item => domainProblem(item, ingress, () => [a, b]) !== undefined)
    expect(both).toEqual([false, true])
  })

  test('the platform’s own domain, and names of nobody’s namespace, are nobody’s', () => {
    expect(domainProblem(app({ domains: ['localhost'] }), ingress, () => [])).toContain("platform's own name")
    expect(domainProblem(app({ domains: ['xacme.localhost'] }), ingress, () => [])).toContain('another namespace')
    expect(domainProblem(app({ domains: ['x.acme.localhost'] }), ingress, () => [])).toBeUndefined()
  })

  test('the name that the platform gives belongs to whoever had it first, too', () => {
    const named = app()
    const imposter = app(
      { domains: ['shop.acme.localhost'] },
      { name: 'other', uid: 'uid-other', creationTimestamp: '2026-01-03T00:00:00Z' },
    )
    expect(domainProblem(imposter, ingress, () => [named, imposter])).toBe(
      'spec.domains: shop.acme.localhost is used by Application shop: remove it here or there',
    )
    expect(domainProblem(named, ingress, () => [named, imposter])).toBeUndefined()
    const late = app({}, { creationTimestamp: '2026-01-04T00:00:00Z' })
    expect(domainProblem(late, ingress, () => [late, imposter])).toBe(
      'shop.acme.localhost is used by Application other: set spec.domains here, or remove it there',
    )
  })
})
