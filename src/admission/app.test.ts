// The webhook as its clients see it: who may call it, and how it leaves.
import { Agent, request } from 'node:https'
import { expect, onTestFinished, test } from 'vitest'
import { type ClientAuthority, clientAuthority, webhookCertificate } from '../../test/fixtures/webhook-certificate.ts'
import type { CertifiedKey } from '../identity/certified-key.ts'
import { systemClock } from '../lib/clock.ts'
import { silentLog } from '../lib/testing/silent-log.ts'
import { createCertificate } from '../web/tls.ts'
import { type AdmissionDeps, createAdmissionApp } from './app.ts'

const { authorityPem, pair } = await webhookCertificate()

async function startApp(options: { readonly clients?: ClientAuthority; readonly drain?: AdmissionDeps['drain'] } = {}) {
  const { clients, drain } = options
  const certificate = createCertificate({ ...pair, ...(clients && { clientAuthorities: clients.pem }) })
  const app = createAdmissionApp({
    clock: systemClock,
    log: silentLog,
    address: { host: '127.0.0.1', port: 0 },
    certificate,
    clientNames: ['kube-apiserver'],
    ...(drain && { drain }),
  })
  const port = await app.start()
  onTestFinished(app.stop)
  return { app, port, certificate }
}

const review = JSON.stringify({
  apiVersion: 'admission.k8s.io/v1',
  request: { uid: 'u', operation: 'CREATE', resource: { resource: 'secrets' }, userInfo: { username: 'dave' }, object: {} },
})

type Client = {
  readonly port: number
  readonly key?: CertifiedKey
  readonly agent?: Agent
  readonly version?: 'TLSv1.2' | 'TLSv1.3'
}

/** Resolves to status and the header `connection`; to `refused` when the connection ends without an answer. */
function call({ port, key, agent, version }: Client): Promise<readonly [number, string | undefined] | 'refused'> {
  return new Promise(resolve => {
    const sent = request(
      {
        host: '127.0.0.1',
        port,
        ca: authorityPem,
        path: '/validate/tenants',
        method: 'POST',
        agent: agent ?? false,
        headers: { 'content-type': 'application/json', ...(agent && { connection: 'keep-alive' }) },
        ...(version && { minVersion: version, maxVersion: version }),
        ...(key && { cert: key.certificatePem, key: key.privateKeyPem.reveal() }),
      },
      answer => {
        answer.resume()
        answer.once('end', () => resolve([answer.statusCode ?? 0, answer.headers.connection]))
      },
    )
    sent.once('error', () => resolve('refused'))
    sent.end(review)
  })
}

test.each(['TLSv1.2', 'TLSv1.3'] as const)('by %s only the API server’s certificate is accepted', async version => {
  const [clients, others] = await Promise.all([clientAuthority(), clientAuthority()])
  const { port } = await startApp({ clients })
  const yesterday = new Date(Date.now() - 2 * 86_400_000)
  const keys = {
    good: await clients.client('kube-apiserver'),
    'of another authority': await others.client('kube-apiserver'),
    'of another name': await clients.client('kubelet'),
    expired: await clients.client('kube-apiserver', { now: yesterday, lifetimeDays: 1 }),
    'for servers': { certificatePem: pair.certificate, privateKeyPem: pair.privateKey },
  }
  expect(await call({ port, version })).toBe('refused')
  const answers: Record<string, unknown> = {}
  for (const [name, key] of Object.entries(keys)) {
    const answer = await call({ port, version, key })
    answers[name] = answer === 'refused' ? answer : answer[0]
  }
  expect(answers).toEqual({
    good: 200,
    'of another authority': 'refused',
    'of another name': 'refused',
    expired: 'refused',
    'for servers': 'refused',
  })
})

test('a certificate of a replaced authority is refused from the next connection on', async () => {
  const [before, after] = await Promise.all([clientAuthority(), clientAuthority()])
  const { port, certificate } = await startApp({ clients: before })
  const key = await before.client('kube-apiserver')
  expect(await call({ port, key })).toEqual([200, 'close'])
  certificate.replace({ ...pair, clientAuthorities: after.pem })
  expect(await call({ port, key })).toBe('refused')
  expect(await call({ port, key: await after.client('kube-apiserver') })).toEqual([200, 'close'])
})

test('an authority that is not one does not start a server that believes every authority of the system', () => {
  expect(() => createCertificate({ ...pair, clientAuthorities: '\n' })).toThrow('contains no certificate')
})

test('a replica that stops is not ready at once, serves while it is still called, and asks its clients to go elsewhere', async () => {
  const { app, port } = await startApp({ drain: { atLeast: 300, quiet: 2000, atMost: 60_000 } })
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: authorityPem })
  onTestFinished(() => agent.destroy())
  expect(app.ready()).toBe(true)
  expect(await call({ port, agent })).toEqual([200, 'keep-alive'])
  let over = false
  const stopped = app.stop().then(() => {
    over = true
  })
  expect(app.ready()).toBe(false)
  const answers: unknown[] = []
  const until = performance.now() + 500
  while (performance.now() < until) answers.push(await call({ port, agent }))
  expect(over).toBe(false)
  expect(new Set(answers.map(answer => JSON.stringify(answer)))).toEqual(new Set(['[200,"close"]']))
  await stopped
  expect(await call({ port })).toBe('refused')
})

test('a replica that is called without end stops all the same', async () => {
  const { app, port } = await startApp({ drain: { atLeast: 100, quiet: 3_600_000, atMost: 400 } })
  await call({ port })
  await app.stop()
})
