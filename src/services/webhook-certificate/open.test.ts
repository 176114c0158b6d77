// The renewal of the admission webhook's certificate: over years by a clock of the test, and under live TLS connections to two
// replicas. The API server is an object with a Secret and two registrations; certificates and TLS are real.
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { ResourceType } from '../../api/resource.ts'
import { issueCertificate, makeCertificateAuthority } from '../../identity/certificate-authority.ts'
import { type CertifiedKey, certificateFacts } from '../../identity/certified-key.ts'
import { KubeError } from '../../kube/client/errors.ts'
import { createRecordingLog } from '../../kube/testing/recording-log.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import { waitUntil } from '../../lib/waiting/wait-until.ts'
import { createWebServer, listen } from '../../web/server.ts'
import { certificateFromFiles } from '../../web/tls.ts'
import { webhookHosts } from './decide.ts'
import { openWebhookCertificate } from './open.ts'

const day = 86_400_000
const start = new Date('2026-01-01T00:00:00Z')
const base64 = (text: string): string => Buffer.from(text).toString('base64')

function authorityAt(now: Date, lifetimeDays = 3650): Promise<CertifiedKey> {
  return makeCertificateAuthority({ commonName: 'sekisho-admission authority', now, lifetimeDays })
}

function leafOf(authority: CertifiedKey, now: Date, hosts = webhookHosts): Promise<CertifiedKey> {
  const names = { commonName: 'sekisho-admission', dnsNames: hosts }
  return issueCertificate({ authority, ...names, usage: 'server', now, lifetimeDays: 30 })
}

type Stored = { readonly crt: string; readonly key: string }
type Options = {
  readonly authority: CertifiedKey
  readonly served?: CertifiedKey
  /** The bundles of the registrations; that of `authority` by default. */
  readonly bundles?: readonly (readonly CertifiedKey[])[]
  readonly now?: Date
}

/** A leader whose rounds begin when the test says so. */
function platform(options: Options) {
  let { authority } = options
  let now = (options.now ?? start).getTime()
  let bundles = options.bundles ?? [[authority], [authority]]
  let version = 1
  let leads = true
  let conflict = false
  let stored: Stored | undefined = options.served && {
    crt: options.served.certificatePem,
    key: options.served.privateKeyPem.reveal(),
  }
  const requests: string[] = []
  const log = createRecordingLog()
  const client = {
    async get({ kind }: ResourceType) {
      requests.push(`get ${kind}`)
      if (kind === 'Secret')
        return (
          stored && { metadata: { resourceVersion: String(version) }, data: { 'tls.crt': base64(stored.crt), 'tls.key': 'x' } }
        )
      const [validating = [], ...mutating] = bundles
      const own = kind === 'ValidatingWebhookConfiguration' ? [validating] : mutating
      if (own.length === 0) return undefined
      const pem = (some: readonly CertifiedKey[]): string => some.map(({ certificatePem }) => certificatePem).join('\n')
      return { webhooks: own.map(some => ({ name: 'x', clientConfig: { caBundle: base64(pem(some)) } })) }
    },
    async apply({ kind }: ResourceType, object: { metadata: { resourceVersion?: string }; data: Record<string, string> }) {
      requests.push(`apply ${kind}`)
      if (conflict || object.metadata.resourceVersion !== String(version))
        throw new KubeError('apply Secret: 409 Conflict', { status: 409, reason: 'Conflict' })
      const text = (name: string): string => Buffer.from(object.data[name] ?? '', 'base64').toString()
      stored = { crt: text('tls.crt'), key: text('tls.key') }
      version += 1
    },
  }
  let ended = Promise.withResolvers<void>()
  const clock = {
    now: () => new Date(now),
    monotonic: () => now,
    // A round has ended when the loop waits for the next one.
    sleep() {
      ended.resolve()
      return new Promise<never>(() => {})
    },
  }
  let metrics = new Registry()
  function open() {
    const settings = { admissionAuthorityCertificate: authority.certificatePem, admissionAuthorityKey: authority.privateKeyPem }
    return openWebhookCertificate({ settings, manager: { client, isLeader: () => leads }, metrics, clock, log } as never)
  }
  let loop: ReturnType<typeof open>
  onTestFinished(() => loop?.stop())
  return {
    log,
    requests,
    served: () => stored,
    expiry: async () => (await metrics.getMetricsAsJSON())[0]?.values[0]?.value,
    /** One round at this time. */
    async round(at = now) {
      now = at
      ended = Promise.withResolvers()
      if (loop === undefined) {
        loop = open()
        loop?.start()
      } else loop.wake()
      await ended.promise
      return stored?.crt
    },
    /** Ends the process: the next round is one of another, with this authority. */
    async restart(next: CertifiedKey) {
      await loop?.stop()
      loop = undefined
      metrics = new Registry()
      authority = next
    },
    trust(next: readonly (readonly CertifiedKey[])[]) {
      bundles = next
    },
    follow() {
      leads = false
    },
    race() {
      conflict = true
    },
  }
}

function issuedBy(leafPem: string | undefined, { certificatePem }: CertifiedKey): boolean {
  const [leaf, authority] = [new X509Certificate(leafPem ?? ''), new X509Certificate(certificatePem)]
  return leaf.checkIssued(authority) && leaf.verify(authority.publicKey)
}

test('for three years there is a certificate with ten days left, renewed after two thirds of its life and not before', async () => {
  const authority = await authorityAt(start)
  const on = platform({ authority, served: await leafOf(authority, start) })
  const renewals: number[] = []
  let before = on.served()?.crt
  for (let now = start.getTime(); now < start.getTime() + 3 * 365 * day; now += day / 2) {
    const pem = (await on.round(now)) ?? ''
    const { notAfter, notBefore, names } = certificateFacts(pem)
    if (notAfter.getTime() - now < 9.4 * day || notBefore.getTime() > now)
      throw new Error(`not valid at ${new Date(now).toISOString()}`)
    if (pem !== before) {
      expect([issuedBy(pem, authority), names, new X509Certificate(pem).ca]).toEqual([
        true,
        webhookHosts.map(host => `DNS:${host}`),
        false,
      ])
      renewals.push(now)
    }
    before = pem
  }
  const gaps = renewals.slice(1).map((at, index) => (at - (renewals[index] ?? 0)) / day)
  expect([renewals.length, Math.min(...gaps), Math.max(...gaps)]).toEqual([54, 20, 20])
  expect(on.log.lines.filter(({ level }) => level === 'error')).toEqual([])
  expect(await on.expiry()).toBe(certificateFacts(before ?? '').notAfter.getTime() / 1000)
  // What was written, and nothing of it in the log.
  expect(on.requests.filter(one => one.startsWith('apply')).length).toBe(renewals.length)
  expect(JSON.stringify(on.log.lines)).not.toMatch(/PRIVATE KEY|BEGIN/)
})

describe('what is served stays as it is, and the log says why,', async () => {
  const [authority, other] = await Promise.all([authorityAt(start), authorityAt(start)])
  const due = new Date(start.getTime() + 21 * day)
  const served = await leafOf(authority, start)
  test.each([
    ['while a webhook of one registration does not trust the authority', [[authority], [authority], [other]], /caBundle/],
    ['while the other registration does not', [[other], [authority]], /caBundle/],
    ['while there is no registration of one sort', [[authority]], /caBundle/],
    ['without any authority in them', [[], []], /caBundle/],
  ] as const)('%s', async (_, bundles, said) => {
    const on = platform({ authority, served, bundles, now: due })
    expect(await on.round()).toBe(served.certificatePem)
    expect(on.log.lines.map(({ error }) => error)).toEqual([expect.stringMatching(said)])
    on.trust([
      [other, authority],
      [authority, other],
    ])
    expect(issuedBy(await on.round(), authority)).toBe(true)
    expect(on.served()?.crt).not.toBe(served.certificatePem)
  })

  test('when the authority has ended', async () => {
    const short = await authorityAt(start, 15)
    const old = await leafOf(short, start)
    const on = platform({ authority: short, served: old, now: due })
    expect(await on.round()).toBe(old.certificatePem)
    expect(on.log.lines.map(({ message, error }) => error ?? message)).toEqual([
      'the authority of the admission webhook ends soon: replace it (docs/guide/admission.md)',
      'the authority in SEKISHO_ADMISSION_AUTHORITY_CERTIFICATE has ended: replace it',
    ])
  })

  test('when somebody else writes the Secret at the same time', async () => {
    const on = platform({ authority, served, now: due })
    on.race()
    expect(await on.round()).toBe(served.certificatePem)
    expect(on.log.lines.map(({ error }) => error)).toEqual(['apply Secret: 409 Conflict'])
  })

  test('on a replica that does not lead, which asks nothing', async () => {
    const on = platform({ authority, served, now: due })
    on.follow()
    await on.round()
    expect([on.requests, on.served()?.crt]).toEqual([[], served.certificatePem])
  })
})

test('without a Secret none is made: the platform has no right to', async () => {
  const on = platform({ authority: await authorityAt(start) })
  await on.round()
  expect(on.requests.filter(one => one.startsWith('apply'))).toEqual([])
  expect(on.log.lines.map(({ error }) => error)).toEqual([expect.stringContaining('sekisho-admission-tls has no certificate')])
})

test('a certificate of another authority, not for all names, or that is not readable is replaced at once', async () => {
  const [authority, other] = await Promise.all([authorityAt(start), authorityAt(start)])
  const broken = { ...(await leafOf(authority, start)), certificatePem: 'x' }
  for (const served of [await leafOf(other, start), await leafOf(authority, start, webhookHosts.slice(0, 1)), broken]) {
    const on = platform({ authority, served })
    expect(issuedBy(await on.round(), authority)).toBe(true)
    const once = on.served()
    expect(await on.round()).toBe(once?.crt)
  }
})

test('no certificate outlives its authority, whose end is reported in the last fifth of its life', async () => {
  const authority = await authorityAt(start, 100)
  const on = platform({ authority, served: await leafOf(authority, start) })
  const end = certificateFacts(authority.certificatePem).notAfter.getTime()
  for (let now = start.getTime(); now < end; now += day) {
    const { notAfter } = certificateFacts((await on.round(now)) ?? '')
    expect(notAfter.getTime()).toBeLessThanOrEqual(end)
    expect(notAfter.getTime()).toBeGreaterThan(now)
    expect(on.log.lines.some(({ level }) => level === 'error')).toBe(end - now < (end - start.getTime() + 300_000) / 5)
  }
})

test('settings that are no authority are refused at the start', async () => {
  const [authority, other] = await Promise.all([authorityAt(start), authorityAt(start)])
  const leaf = await leafOf(authority, start)
  const open = (certificate?: string, key?: CertifiedKey) => {
    const settings = { admissionAuthorityCertificate: certificate, admissionAuthorityKey: key?.privateKeyPem }
    return openWebhookCertificate({ settings, manager: {}, log: silentLog } as never)
  }
  expect(open()).toBeUndefined()
  expect(() => open(authority.certificatePem)).toThrow('set both')
  expect(() => open(undefined, authority)).toThrow('set both')
  for (const [certificate, key] of [
    [authority.certificatePem, other],
    [leaf.certificatePem, leaf],
    ['x', authority],
  ] as const)
    expect(() => open(certificate, key)).toThrow('the certificate of an authority (CA:TRUE)')
})

/** A replica that serves the files that its node shows. */
async function replica(first: Stored) {
  const folder = mkdtempSync(join(tmpdir(), 'webhook-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const files = { certificatePath: join(folder, 'tls.crt'), privateKeyPath: join(folder, 'tls.key') }
  const mount = ({ crt, key }: Stored): void => {
    writeFileSync(files.certificatePath, crt)
    writeFileSync(files.privateKeyPath, key)
  }
  mount(first)
  const certificate = certificateFromFiles(files, { log: silentLog, intervalMilliseconds: 20 })
  const server = await createWebServer({ log: silentLog, certificate, requestsPerMinute: 'unlimited' } as never)
  server.get('/', (_request, reply) => void reply.send('reviewed'))
  const port = await listen(server, { host: '127.0.0.1', port: 0 })
  onTestFinished(async () => {
    certificate.stop()
    server.server.closeAllConnections()
    await server.close()
  })
  return { mount, port }
}

type Call = { readonly port: number; readonly trusted: string; readonly agent: Agent | false; readonly sockets?: Set<unknown> }

/** As an API server calls: resolves to the serial number of the certificate. */
function call({ port, trusted, agent, sockets }: Call): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, servername: webhookHosts[0], ca: trusted, agent, path: '/' }
    const sent = request(options, answer => {
      const socket = answer.socket as import('node:tls').TLSSocket
      sockets?.add(socket)
      const { serialNumber } = socket.getPeerCertificate()
      answer.resume().once('end', () => (answer.statusCode === 200 ? resolve(serialNumber) : reject(new Error('no 200'))))
    })
    sent.once('error', reject)
    sent.end()
  })
}

test('under live connections two replicas change certificate and authority, one after the other, without one failed call', async () => {
  const now = new Date()
  const past = new Date(now.getTime() - 21 * day)
  const [former, next] = await Promise.all([authorityAt(past), authorityAt(past)])
  const first = await leafOf(former, past)
  const on = platform({ authority: former, served: first, now })
  const stored = (): Stored => on.served() ?? { crt: '', key: '' }
  const replicas = [await replica(stored()), await replica(stored())] as const
  let trusted = former.certificatePem
  const failures: unknown[] = []
  const calls = { fresh: 0, kept: 0 }
  const kept = replicas.map(() => new Set<unknown>())
  const calling = new AbortController()
  const callers = replicas.flatMap(({ port }, index) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    onTestFinished(() => agent.destroy())
    const sockets = kept[index] ?? new Set()
    const caller = async (which: keyof typeof calls, options: Pick<Call, 'agent' | 'sockets'>): Promise<void> => {
      // The connection that stays is made with the first authority.
      const first = trusted
      while (!calling.signal.aborted) {
        await call({ port, trusted: which === 'kept' ? first : trusted, ...options }).catch(error => failures.push(error))
        calls[which] += 1
      }
    }
    return [caller('fresh', { agent: false }), caller('kept', { agent, sockets })]
  })
  const shows = async ({ port }: (typeof replicas)[number], pem: string): Promise<void> => {
    const { serialNumber } = new X509Certificate(pem)
    const shown = () => call({ port, trusted, agent: false })
    await waitUntil('the mount to show the certificate', async seen => seen(await shown()) === serialNumber)
  }
  /** The kubelets of two nodes show a changed Secret at different times. */
  const changeOver = async (): Promise<void> => {
    const before = stored().crt
    await on.round()
    expect(stored().crt).not.toBe(before)
    replicas[0].mount(stored())
    await shows(replicas[0], stored().crt)
    await shows(replicas[1], before)
    replicas[1].mount(stored())
    await shows(replicas[1], stored().crt)
  }

  await changeOver()
  // The authority, as docs/guide/admission.md replaces it: both are trusted, the platform gets the other one, then only that
  // one is trusted.
  trusted = [former, next].map(({ certificatePem }) => certificatePem).join('\n')
  on.trust([
    [former, next],
    [former, next],
  ])
  await on.restart(next)
  await changeOver()
  trusted = next.certificatePem
  on.trust([[next], [next]])
  await Promise.all(replicas.map(one => shows(one, stored().crt)))
  await waitUntil('enough calls', seen => Math.min(seen(calls.fresh), seen(calls.kept)) > 20)
  calling.abort()
  await Promise.all(callers)
  expect(failures).toEqual([])
  expect(kept.map(({ size }) => size)).toEqual([1, 1])
  expect(issuedBy(stored().crt, next)).toBe(true)
  await expect(call({ port: replicas[0].port, trusted: former.certificatePem, agent: false })).rejects.toThrow()
})
