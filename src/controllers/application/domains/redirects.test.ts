// Which redirects the platform can make, by which annotations, and what an Application says about those that it cannot.
import { describe, expect, test } from 'vitest'
import { type Application, application as applications } from '../../../api/apps/application.ts'
import {
  type RedirectAnnotations,
  redirectedHosts,
  redirectGroups,
  redirectIngressName,
  redirectingCondition,
} from './redirects.ts'

const middleware: RedirectAnnotations = [['traefik.ingress.kubernetes.io/router.middlewares', 'www@file']]
const toTarget: RedirectAnnotations = [
  ['haproxy.org/request-redirect', '{to}'],
  ['haproxy.org/request-redirect-code', '301'],
]
const www = { from: 'www.example.com', to: 'example.com' }
const old = { from: 'old.example.com', to: 'example.com' }
const other = { from: 'www.example.org', to: 'shop.example.org' }

function app(redirects?: Application['spec']['redirects'], name = 'shop'): Application {
  const { apiVersion, kind } = applications
  const domains = ['example.com', 'shop.example.org']
  return { apiVersion, kind, metadata: { name }, spec: { chart: 'web', domains, ...(redirects ? { redirects } : {}) } }
}

test.each<[string, RedirectAnnotations, readonly string[]]>([
  ['nothing without annotations', [], []],
  ['www of the target where the annotations are the same for all', middleware, [www.from]],
  ['every host where they name the target', toTarget, [www.from, old.from, other.from]],
])('the platform redirects %s', (_what, annotations, hosts) => {
  expect(redirectedHosts(app([www, old, other]), annotations)).toEqual(hosts)
  expect(redirectGroups(app([www, old, other]), annotations).flatMap(({ from }) => from)).toEqual(hosts)
})

test('hosts with one target share its annotations, and no target shares those of another', () => {
  const code = ['haproxy.org/request-redirect-code', '301']
  expect(redirectGroups(app([www, other, old]), toTarget)).toEqual([
    {
      to: 'example.com',
      from: [www.from, old.from],
      annotations: Object.fromEntries([['haproxy.org/request-redirect', 'example.com'], code]),
    },
    {
      to: 'shop.example.org',
      from: [other.from],
      annotations: Object.fromEntries([['haproxy.org/request-redirect', 'shop.example.org'], code]),
    },
  ])
  expect(redirectGroups(app(), toTarget)).toEqual([])
})

test('the name of an Ingress fits beside a certificate, and differs by target', () => {
  const longest = `${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}`
  const name = redirectIngressName('s'.repeat(63), longest)
  expect(`${name}-tls`.length).toBeLessThan(100)
  expect(name).toMatch(/^s+-redirect-[0-9a-f]{10}$/)
  expect(redirectIngressName('shop', 'a.test')).not.toBe(redirectIngressName('shop', 'b.test'))
})

describe('the condition', () => {
  const both = [redirectIngressName('shop', 'example.com'), redirectIngressName('shop', 'shop.example.org')]
  const seen = (
    redirects: Application['spec']['redirects'],
    annotations: RedirectAnnotations,
    state = { applied: true, present: both },
  ) => redirectingCondition(app(redirects), annotations, state)

  test('is absent without redirects', () => {
    expect(seen(undefined, middleware)).toBeUndefined()
    expect(seen([], middleware)).toBeUndefined()
  })

  test('is True when every target has its Ingress, also while a later version waits', () => {
    const expected = { status: 'True', reason: 'Redirecting' }
    expect(seen([www, other], toTarget)).toMatchObject(expected)
    expect(seen([www, other], toTarget, { applied: false, present: both })).toMatchObject(expected)
  })

  test('names the setting and who sets it', () => {
    expect(seen([www], [])).toEqual({
      type: 'Redirecting',
      status: 'False',
      reason: 'RedirectNotSupported',
      message:
        'spec.redirects: www.example.com is not redirected: this platform is not configured for redirects: a platform admin sets SEKISHO_REDIRECT_ANNOTATIONS (docs/guide/install.md, section 6); everything else of the Application runs',
    })
  })

  test('says which names an ingress without targets redirects', () => {
    const condition = seen([www, old], middleware)
    expect(condition).toMatchObject({ status: 'False', reason: 'RedirectNotSupported' })
    expect(condition?.message).toContain('old.example.com is not www.example.com: name such a host')
    expect(condition?.message).toContain('SEKISHO_REDIRECT_ANNOTATIONS with {to}')
  })

  test('tells what is missing: Ready first, or a process web', () => {
    const present = both.slice(0, 1)
    expect(seen([www, other], toTarget, { applied: false, present })).toMatchObject({
      status: 'Unknown',
      reason: 'RedirectPending',
      message: expect.stringContaining('www.example.org'),
    })
    expect(seen([www, other], toTarget, { applied: true, present })).toMatchObject({
      status: 'False',
      reason: 'RedirectWithoutTarget',
      message: expect.stringContaining('no Ingress leads to shop.example.org'),
    })
  })
})
