// Fault 10 of the list in fault-page.ts: bodies that are too large, too deep or malformed, at every endpoint that accepts one.
// The sender is a separate process; memory and event loop are measured in this one, where the endpoints run. Only repeatable
// stalls count, not those of the GC.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { AppError } from '../../src/lib/errors.ts'
import { silentLog } from '../../src/lib/testing/silent-log.ts'
import { openTokenDeskCertificate } from '../../src/services/token-desk/server/certificate.ts'
import { tokenRoutes } from '../../src/services/token-desk/server/routes.ts'
import { workloadIdentifier } from '../../src/services/token-desk/server/workload.ts'
import { createWebServer, listen, type WebServer } from '../../src/web/server.ts'
import { type BrokerEnvironment, startBrokerEnvironment } from '../fixtures/broker-fixture.ts'
import { type AdmissionFixture, startAdmissionFixture } from './fixtures/admission-fixture.ts'
import type { AttackRequest, Result, Shape } from './fixtures/body-attacker-process.ts'
import { type Attacker, type ResourceUse, startAttacker, withResourceUse } from './fixtures/body-endpoints.ts'
import { recordOutcome } from './outcome.ts'

const fault = 10
const megabyte = 1024 * 1024
const rounds = 3

type Endpoint = Omit<AttackRequest, 'shape' | 'webhookSecret'>

let fixture: BrokerEnvironment
let admission: AdmissionFixture
let desk: WebServer
let attacker: Attacker
const endpoints = new Map<string, Endpoint>()
let webhookSecret = ''

beforeAll(async () => {
  fixture = await startBrokerEnvironment()
  admission = await startAdmissionFixture()
  const certificate = await openTokenDeskCertificate({
    keys: { find: async () => undefined, getOrCreate: (_name, make) => make() },
    audit: { appendOnce: async () => {} },
    generation: 1,
    overlapHours: 720,
    hosts: ['desk'],
    clock: systemClock,
    log: silentLog,
  })
  desk = await createWebServer({ log: silentLog, certificate, requestsPerMinute: 6000 })
  const client = { create: () => Promise.reject(new AppError('unauthenticated', 'no token')), get: async () => undefined }
  await desk.register(
    tokenRoutes({
      desk: { grantUid: async () => 'uid', request: () => Promise.reject(new AppError('forbidden', 'no')) },
      identify: workloadIdentifier({ client, clock: systemClock }),
    }),
  )
  const deskPort = await listen(desk, { host: '127.0.0.1', port: 0 })
  attacker = startAttacker()
  webhookSecret = fixture.github.app.webhookSecret
  const json = { 'content-type': 'application/json' }
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const broker = { port: Number(new URL(fixture.url).port), servername: 'localhost', ca: fixture.certificateAuthority }
  const push = {
    ref: 'refs/heads/main',
    before: '0',
    after: '1',
    repository: { id: 1, full_name: 'acme/shop' },
    sender: { id: 1001 },
  }
  const github = { ...json, 'x-github-event': 'push', 'x-github-delivery': 'guid-of-a-test' }
  endpoints.set('webhook inbox', { ...broker, path: '/webhooks/github', headers: github, seed: JSON.stringify(push) })
  endpoints.set('token desk', {
    port: deskPort,
    servername: 'desk',
    ca: certificate.authorities(),
    path: '/v1/token',
    headers: { ...json, authorization: 'Bearer x' },
    seed: '{"grant":"read-shop"}',
  })
  endpoints.set('issuer', { ...broker, path: '/oidc/token', headers: form, seed: '{}' })
  endpoints.set('onboarding form', { ...broker, path: '/onboard/installed', headers: form, seed: '{}' })
  endpoints.set('admission', {
    ...(await admission.target()),
    path: '/validate/kinds',
    headers: json,
    seed: '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}',
  })
})
afterAll(async () => {
  attacker?.stop()
  await desk?.close()
  await admission?.stop()
  await fixture?.stop()
})

function endpoint(name: string): Endpoint {
  const found = endpoints.get(name)
  if (found === undefined) throw new Error(`no endpoint ${name}`)
  return found
}

/** Repeats `work` and takes the smallest stall and the largest growth; all results are returned. */
async function least(work: () => Promise<Result>): Promise<{ readonly results: readonly Result[]; readonly use: ResourceUse }> {
  const results: Result[] = []
  let use: ResourceUse = { growthMegabytes: 0, stallMilliseconds: Number.POSITIVE_INFINITY }
  for (let round = 0; round < rounds && (round === 0 || use.stallMilliseconds >= 50); round += 1) {
    const one = await withResourceUse(work)
    results.push(one.result)
    use = {
      growthMegabytes: Math.max(use.growthMegabytes, one.use.growthMegabytes),
      stallMilliseconds: Math.min(use.stallMilliseconds, one.use.stallMilliseconds),
    }
  }
  return { results, use }
}

function recordGrowth(named: string, { growthMegabytes: value }: ResourceUse): Promise<void> {
  return recordOutcome({ fault, case: named, measure: 'most memory more', value, unit: 'MB', atMost: 100 })
}

function recordStall(named: string, { stallMilliseconds: value }: ResourceUse): Promise<void> {
  const measure = 'longest stall of the event loop, in processor time'
  return recordOutcome({ fault, case: named, measure, value, unit: 'ms', atMost: 50 })
}

/** A sender whose connection is closed while it still sends may not receive the answer. */
const wasCut = ({ status, problem }: Pick<Result, 'status' | 'problem'>): boolean =>
  status === 0 && /ECONNRESET|EPIPE|socket hang up/.test(problem)

type Case = { readonly name: string; readonly shape: Shape; readonly headers?: Readonly<Record<string, string>> }

/** Results that are not a refusal. */
function unrefused({ name }: Case, results: readonly Result[]): readonly string[] {
  return results
    .filter(({ status, problem }) => !(status >= 400 && status < 500) && !wasCut({ status, problem }))
    .map(({ status, problem }) => `${name}: ${status} ${problem}`)
}

const cases: readonly Case[] = [
  { name: '26 MB with a length', shape: { kind: 'padded', bytes: 26 * megabyte } },
  { name: '1 GB in chunks, from nobody', shape: { kind: 'chunked', bytes: 1024 * megabyte } },
  { name: '100,000 levels', shape: { kind: 'deep', levels: 100_000 } },
  { name: '__proto__ and constructor', shape: { kind: 'prototype' } },
  { name: 'every key twice', shape: { kind: 'duplicate keys' } },
  { name: 'invalid UTF-8', shape: { kind: 'invalid UTF-8' } },
  { name: 'a gzip bomb', shape: { kind: 'gzip bomb' } },
  { name: 'another content type', shape: { kind: 'prototype' }, headers: { 'content-type': 'text/xml' } },
  { name: 'no content type', shape: { kind: 'prototype' }, headers: { 'content-type': '' } },
]

describe.each(['webhook inbox', 'token desk', 'issuer', 'onboarding form', 'admission'])('the %s', name => {
  test('refuses invalid bodies within its bounds of memory and processor time', async () => {
    const target = endpoint(name)
    const worst = { growthMegabytes: 0, stallMilliseconds: 0 }
    const wrong: string[] = []
    let maxRead = 0
    for (const one of cases) {
      const headers = { ...target.headers, ...one.headers }
      const { results, use } = await least(() => attacker.send({ ...target, headers, shape: one.shape }))
      worst.growthMegabytes = Math.max(worst.growthMegabytes, use.growthMegabytes)
      worst.stallMilliseconds = Math.max(worst.stallMilliseconds, use.stallMilliseconds)
      wrong.push(...unrefused(one, results))
      if (one.shape.kind === 'chunked') maxRead = Math.max(maxRead, ...results.map(({ sent }) => sent))
      if (process.env['SEKISHO_TELL'] === '1') console.log(name, one.name, results, use)
    }
    expect.soft(wrong).toEqual([])
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
    const named = `${name}: ${cases.length} bodies that are none of its`
    await recordOutcome({
      fault,
      case: named,
      measure: 'answers other than a refusal',
      value: wrong.length,
      unit: 'answers',
      atMost: 0,
    })
    await recordGrowth(named, worst)
    await recordStall(named, worst)
    await recordOutcome({
      fault,
      case: `${name}: 1 GB in chunks, from nobody`,
      measure: 'sent before it was cut off',
      value: maxRead / megabyte,
      unit: 'MB',
      atMost: 64,
    })
  })
})

describe('signed deliveries', () => {
  const shapes: readonly (readonly [string, Shape, number])[] = [
    ['25 MB', { kind: 'padded', bytes: 25 * megabyte }, 202],
    ['26 MB', { kind: 'padded', bytes: 26 * megabyte }, 413],
    ['100,000 levels', { kind: 'deep', levels: 100_000 }, 202],
    ['__proto__', { kind: 'prototype' }, 202],
    ['every key twice', { kind: 'duplicate keys' }, 202],
    ['invalid UTF-8', { kind: 'invalid UTF-8' }, 400],
    ['gzip', { kind: 'gzip bomb' }, 400],
  ]
  test.each(shapes)('%s is answered as expected within the bounds', async (name, shape, expected) => {
    const target = endpoint('webhook inbox')
    let guid = 0
    const { results, use } = await least(() => {
      guid += 1
      const headers = { ...target.headers, 'x-github-delivery': `signed-${name.replaceAll(/[^a-z0-9]/gi, '')}-${guid}` }
      return attacker.send({ ...target, headers, shape, webhookSecret })
    })
    if (process.env['SEKISHO_TELL'] === '1') console.log(name, results, use)
    const named = `a signed delivery: ${name}`
    for (const { status, problem } of results)
      expect.soft(expected === 413 && wasCut({ status, problem }) ? 413 : status || problem).toBe(expected)
    await recordGrowth(named, use)
    await recordStall(named, use)
  })

  test('many unsigned bodies of 25 MB at once are refused within the bound of memory', async () => {
    const target = endpoint('webhook inbox')
    const attacks = Array.from({ length: 6 }, () => attacker.send({ ...target, shape: { kind: 'padded', bytes: 25 * megabyte } }))
    const { result, use } = await withResourceUse(() => Promise.all(attacks))
    if (process.env['SEKISHO_TELL'] === '1') console.log(result, use)
    expect.soft(result.filter(({ status }) => status !== 0 && (status < 400 || status === 500))).toEqual([])
    await recordGrowth('6 unsigned bodies of 25 MB at once', use)
  })
})
