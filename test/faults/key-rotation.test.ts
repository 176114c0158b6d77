// Fault 14 of the list in fault-page.ts: certificates and signing keys change while clients use them. Every handshake is a new
// connection that trusts what a client would trust at that time; the clocks start in the past, so that what is served is valid
// for the client's real clock.
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLocalJWKSet, createRemoteJWKSet, generateKeyPair, jwtVerify, SignJWT } from 'jose'
import { expect, onTestFinished, test } from 'vitest'
import { issueCertificate, makeCertificateAuthority } from '../../src/identity/certificate-authority.ts'
import { loadIssuerKeys } from '../../src/identity/oidc/issuer-keys.ts'
import { createIdTokenVerifier } from '../../src/identity/verify-id-token.ts'
import { type Clock, systemClock } from '../../src/lib/clock.ts'
import type { LogFields } from '../../src/lib/log.ts'
import type { SecretString } from '../../src/lib/secret-string.ts'
import { silentLog } from '../../src/lib/testing/silent-log.ts'
import { limits } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { openTokenDeskCertificate } from '../../src/services/token-desk/server/certificate.ts'
import { createWebServer, listen } from '../../src/web/server.ts'
import { certificateFromFiles } from '../../src/web/tls.ts'
import { isLong } from '../fixtures/form.ts'
import { post, startAdmissionFixture, type TlsTarget } from './fixtures/admission-fixture.ts'
import { expectAllFulfilled } from './fixtures/concurrent-cases.ts'
import { recordOutcome } from './outcome.ts'

const fault = 14
const day = 24 * 3_600_000
const rounds = isLong('faults') ? 10 : 1

function clockFrom(days: number): { readonly clock: Clock; readonly set: (days: number) => void } {
  let offset = days * day
  const set = (next: number): void => {
    offset = next * day
  }
  return { clock: { now: () => new Date(Date.now() + offset), sleep: systemClock.sleep }, set }
}

/** Handshakes, `atOnce` concurrently, until `stop`; counts failures and records when each certificate was first observed. */
function load(target: () => Promise<TlsTarget>, path: string, body: string, atOnce = 4) {
  const counts = { handshakes: 0, failed: 0, problems: new Set<string>() }
  const firstSeen = new Map<string, number>()
  let stopped = false
  const one = async (): Promise<void> => {
    while (!stopped) {
      try {
        const { fingerprint } = await post(await target(), path, body)
        if (!firstSeen.has(fingerprint)) firstSeen.set(fingerprint, performance.now())
      } catch (error) {
        counts.failed += 1
        counts.problems.add(String(error))
      }
      counts.handshakes += 1
    }
  }
  const running = Promise.all(Array.from({ length: atOnce }, one))
  return {
    counts,
    /** Milliseconds from `since` until a certificate beyond the first `known` was served. */
    async newCertificate(known: number, since: number): Promise<number> {
      await waitUntil('the new certificate to be seen', seen => seen(firstSeen.size) > known)
      return ([...firstSeen.values()][known] ?? Number.NaN) - since
    },
    async stop() {
      stopped = true
      await running
    },
  }
}

async function admissionChanges(): Promise<void> {
  const slowest: number[] = []
  const fixture = await startAdmissionFixture()
  try {
    const running = load(fixture.target, '/validate/kinds', '{}')
    await running.newCertificate(0, performance.now())
    for (let round = 1; round <= rounds; round += 1) {
      const since = performance.now()
      await fixture.renew()
      slowest.push(await running.newCertificate(round, since))
    }
    // Enough to have met what a change may break, however long a machine takes for them.
    await waitUntil('100 handshakes', seen => seen(running.counts.handshakes) > 100, { timeoutMilliseconds: limits.build })
    await running.stop()
    expect.soft([...running.counts.problems]).toEqual([])
    const named = `a Secret mount brings the admission webhook a new certificate of a new authority, ${rounds} times, under load`
    await recordChange(named, running.counts.failed, Math.max(...slowest) / 1000)
  } finally {
    await fixture.stop()
  }
}

async function recordChange(named: string, failed: number, seconds: number): Promise<void> {
  await recordOutcome({ fault, case: named, measure: 'failed handshakes', value: failed, unit: 'handshakes', atMost: 0 })
  const measure = 'until the new certificate is served'
  await recordOutcome({ fault, case: named, measure, value: seconds, unit: 's', atMost: 10 })
}

/** Swaps the files as the kubelet does for a Secret mount: a new folder, and a link that is replaced atomically. */
async function secretMountChanges(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'rotation-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const validity = { now: new Date(), lifetimeDays: 365 }
  const authority = await makeCertificateAuthority({ commonName: 'authority', ...validity })
  const mount = async (name: string): Promise<void> => {
    const leaf = { commonName: name, usage: 'server', dnsNames: ['broker'], authority, ...validity } as const
    const { certificatePem, privateKeyPem } = await issueCertificate(leaf)
    await mkdir(join(folder, name))
    await writeFile(join(folder, name, 'tls.crt'), certificatePem)
    await writeFile(join(folder, name, 'tls.key'), privateKeyPem.reveal(), { mode: 0o600 })
    await symlink(name, join(folder, 'next'))
    await rename(join(folder, 'next'), join(folder, 'data'))
  }
  await mount('round-0')
  const files = { certificatePath: join(folder, 'data', 'tls.crt'), privateKeyPath: join(folder, 'data', 'tls.key') }
  const certificate = certificateFromFiles(files, { log: silentLog })
  const server = await createWebServer({ log: silentLog, certificate, requestsPerMinute: 1_000_000 })
  onTestFinished(async () => {
    certificate.stop()
    await server.close()
  })
  server.post('/', async () => ({}))
  const port = await listen(server, { host: '127.0.0.1', port: 0 })
  const running = load(async () => ({ port, ca: authority.certificatePem, servername: 'broker' }), '/', '{}')
  await running.newCertificate(0, performance.now())
  const slowest: number[] = []
  for (let round = 1; round <= rounds; round += 1) {
    const since = performance.now()
    await mount(`round-${round}`)
    slowest.push(await running.newCertificate(round, since))
  }
  await running.stop()
  expect.soft([...running.counts.problems]).toEqual([])
  const named = `a Secret mount brings the broker a new certificate, ${rounds} times, under load`
  await recordChange(named, running.counts.failed, Math.max(...slowest) / 1000)
}

// Concurrent: each waits until the certificate is checked again, at the interval of a deployment.
test('the admission webhook and the broker change their certificates under load without a failed handshake', async () => {
  await expectAllFulfilled([admissionChanges(), secretMountChanges()])
})

const desk = { audit: { appendOnce: async () => {} }, generation: 1, overlapHours: 720 }

/** Keeps created secrets, as the store does. */
function keeper() {
  const kept = new Map<string, SecretString>()
  return {
    find: async (name: string): Promise<SecretString | undefined> => kept.get(name),
    async getOrCreate(name: string, make: () => Promise<SecretString>): Promise<SecretString> {
      const known = kept.get(name) ?? (await make())
      kept.set(name, known)
      return known
    },
  }
}

test('the token desk changes its certificate under load without a failed handshake', async () => {
  const host = 'sekisho-token-desk.sekisho-system.svc'
  const often = { lookMilliseconds: 700, leafMilliseconds: 0 }
  const failures: LogFields[] = []
  const log = { ...silentLog, error: (fields: LogFields) => void failures.push(fields) }
  const certificate = await openTokenDeskCertificate({
    ...desk,
    keys: keeper(),
    hosts: [host],
    clock: systemClock,
    log,
    ...often,
  })
  certificate.start()
  const server = await createWebServer({ log: silentLog, certificate, requestsPerMinute: 1_000_000 })
  onTestFinished(async () => {
    await certificate.stop()
    await server.close()
  })
  server.post('/v1/token', async () => ({}))
  const port = await listen(server, { host: '127.0.0.1', port: 0 })
  const running = load(async () => ({ port, ca: certificate.authorities(), servername: host }), '/v1/token', '{}')
  const changed: number[] = []
  for (let change = 0; change < rounds + 1; change += 1) {
    let since = performance.now()
    const stop = certificate.onChange(() => {
      since = performance.now()
      stop()
    })
    await running.newCertificate(change + 1, 0)
    changed.push(Math.max(0, await running.newCertificate(change + 1, since)))
  }
  await running.stop()
  expect.soft([...running.counts.problems]).toEqual([])
  expect(failures).toEqual([])
  const named = `the token desk renews its certificate, ${rounds + 1} times, under load`
  await recordChange(named, running.counts.failed, Math.max(...changed) / 1000)
})

test('a certificate that is not renewed is logged as an error days before it expires', async () => {
  const { clock, set } = clockFrom(0)
  const certificate = await openTokenDeskCertificate({
    ...desk,
    keys: keeper(),
    hosts: ['desk'],
    clock: systemClock,
    log: silentLog,
  })
  const alarms: LogFields[] = []
  const log = { ...silentLog, error: (fields: LogFields) => void alarms.push(fields) }
  const errorsAfter = async (days: number): Promise<number> => {
    set(days)
    alarms.length = 0
    const server = await createWebServer({ log, certificate, clock })
    await server.close()
    return alarms.length
  }
  const firstDay = await (async () => {
    for (let days = 0; days < 40; days += 1) if ((await errorsAfter(days)) > 0) return days
    return Number.NaN
  })()
  expect(alarms[0]).toMatchObject({ hours: expect.any(Number) })
  const value = 30 - firstDay
  await recordOutcome({
    fault,
    case: 'a certificate of 30 days is not renewed',
    measure: 'days between the first alarm and its end',
    value,
    unit: 'days',
    atLeast: 3,
  })
})

test('the issuer changes its signing key, and tokens of both keys are accepted', async () => {
  const { clock, set } = clockFrom(0)
  const issuer = 'https://sekisho.test'
  const keys = await loadIssuerKeys(keeper(), clock, error => {
    throw error
  })
  const kids = keys.publicKeys.keys.map(({ kid }) => kid)
  const idToken = (): Promise<string> => {
    const exp = Math.floor(clock.now().getTime() / 1000) + 600
    return keys.sign({ iss: issuer, aud: 'kubernetes', sub: 'github|github.com|42', exp, groups: [] }, 'JWT')
  }
  const keySet = () => ({ keys: [...keys.publicKeys.keys] })
  const accepts = (token: string) =>
    createIdTokenVerifier({ issuer, audience: 'kubernetes', keySet, clock })(token).then(
      () => 1,
      () => 0,
    )

  // The last tokens of the period: the signing key changes while they are valid.
  const period = 90
  const toBoundary = period - ((Date.now() / day) % period)
  set(toBoundary - 1 / (24 * 60 * 60))
  const old = await Promise.all(Array.from({ length: 50 }, idToken))
  let fetches = 0
  const server = createServer((_request, response) => {
    fetches += 1
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(keySet()))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => new Promise<void>(resolve => server.close(() => resolve())))
  const remote = createRemoteJWKSet(new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`))
  const remoteVerify = (token: string) =>
    jwtVerify(token, remote, { issuer, currentDate: clock.now() }).then(
      () => 1,
      () => 0,
    )
  expect(await remoteVerify(old[0] ?? '')).toBe(1)
  expect(fetches).toBe(1)

  set(toBoundary + 9.9 / (24 * 60))
  const fresh = await Promise.all(Array.from({ length: 50 }, idToken))
  expect(keys.publicKeys.keys[0]?.kid).toBe(kids[1])
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
  const oldAccepted = sum(await Promise.all(old.map(accepts)))
  const freshAccepted = sum(await Promise.all(fresh.map(remoteVerify)))
  const named = 'the issuer begins to sign with its next key'
  await recordOutcome({
    fault,
    case: named,
    measure: 'tokens of the old key accepted to the end of their ten minutes',
    value: (100 * oldAccepted) / old.length,
    unit: '%',
    atLeast: 100,
  })
  await recordOutcome({
    fault,
    case: named,
    measure: 'tokens of the new key accepted by who fetched the keys before',
    value: (100 * freshAccepted) / fresh.length,
    unit: '%',
    atLeast: 100,
  })
  await recordOutcome({
    fault,
    case: named,
    measure: 'fetches of the keys because of it',
    value: fetches - 1,
    unit: 'fetches',
    atMost: 1,
  })

  const foreignKeys = await generateKeyPair('ES256')
  const forged = (index: number) =>
    new SignJWT({})
      .setProtectedHeader({ alg: 'ES256', kid: `unknown-${index}` })
      .setIssuer(issuer)
      .setExpirationTime('10m')
      .sign(foreignKeys.privateKey)
  const before = fetches
  const longAgo = createRemoteJWKSet(new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`), {
    cooldownDuration: 30_000,
  })
  await jwtVerify(fresh[0] ?? '', longAgo, { issuer, currentDate: clock.now() })
  const accepted: number[] = []
  for (let index = 0; index < 200; index += 1) {
    const token = await forged(index)
    accepted.push(
      await jwtVerify(token, longAgo, { issuer }).then(
        () => 1,
        () => 0,
      ),
    )
    accepted.push(
      await jwtVerify(token, createLocalJWKSet({ keys: keySet().keys }), { issuer }).then(
        () => 1,
        () => 0,
      ),
    )
  }
  expect(sum(accepted)).toBe(0)
  await recordOutcome({
    fault,
    case: '200 tokens with key ids that nobody published',
    measure: 'fetches of the keys',
    value: fetches - before,
    unit: 'fetches',
    atMost: 2,
  })
})
