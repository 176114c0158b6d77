// The authorizer as API servers see it: who may call it, its answers, and what is too much.
import { X509Certificate } from 'node:crypto'
import { request } from 'node:https'
import { Registry } from 'prom-client'
import { expect, onTestFinished, test } from 'vitest'
import { type ClientAuthority, clientAuthority, webhookCertificate } from '../../test/fixtures/webhook-certificate.ts'
import type { CertifiedKey } from '../identity/certified-key.ts'
import { systemClock } from '../lib/clock.ts'
import { silentLog } from '../lib/testing/silent-log.ts'
import { createCertificate } from '../web/tls.ts'
import { createAuthorizerApp } from './app.ts'
import { createAuthorizerMetrics } from './metrics.ts'
import { accessOf } from './named-subjects.ts'

const { authorityPem, pair } = await webhookCertificate()
const clients = await clientAuthority()
const apiServer = await clients.client('kube-apiserver')

async function start() {
  const registry = new Registry()
  const app = createAuthorizerApp({
    clock: systemClock,
    log: silentLog,
    address: { host: '127.0.0.1', port: 0 },
    certificate: createCertificate({ ...pair, clientAuthorities: clients.pem }),
    clientNames: ['kube-apiserver'],
    access: () => accessOf({ readers: '', namespaces: '' }),
    answered: createAuthorizerMetrics(registry, () => pair.certificate).answered,
  })
  const port = await app.start()
  onTestFinished(app.stop)
  return { port, registry }
}

type Call = { readonly port: number; readonly body: string; readonly key?: CertifiedKey; readonly path?: string }

/** Resolves to status and body; to `refused` when the connection ends without an answer. */
function call({ port, body, key, path = '/authorize?timeout=3s' }: Call): Promise<readonly [number, unknown] | 'refused'> {
  return new Promise(resolve => {
    const identity = key && { cert: key.certificatePem, key: key.privateKeyPem.reveal() }
    const headers = { 'content-type': 'application/json' }
    const options = { host: '127.0.0.1', port, ca: authorityPem, path, method: 'POST', agent: false, headers, ...identity }
    const sent = request(options, answer => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.once('end', () => resolve([answer.statusCode ?? 0, JSON.parse(Buffer.concat(chunks).toString())]))
    })
    sent.once('error', () => resolve('refused'))
    sent.end(body)
  })
}

function review(resourceAttributes: object, more: object = {}): string {
  const spec = { resourceAttributes, user: 'dave', groups: ['system:authenticated'], ...more }
  return JSON.stringify({ apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', metadata: {}, spec })
}

const reading = { verb: 'get', version: 'v1', resource: 'secrets', namespace: 'globex', name: 'appsecret-shop' }

test('only the API server’s certificate is accepted', async () => {
  const { port } = await start()
  const others: ClientAuthority = await clientAuthority()
  const body = review(reading)
  const keys = {
    none: undefined,
    'of another authority': await others.client('kube-apiserver'),
    'of another name': await clients.client('kubelet'),
  }
  for (const [name, key] of Object.entries(keys)) expect(await call({ port, body, ...(key && { key }) }), name).toBe('refused')
  expect(await call({ port, body, key: apiServer })).toMatchObject([200, {}])
})

test('denies or has no opinion, and counts both', async () => {
  const { port, registry } = await start()
  const status = async (body: string) => await call({ port, body, key: apiServer })
  const head = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview' }
  expect(await status(review(reading))).toEqual([
    200,
    { ...head, status: { allowed: false, denied: true, reason: expect.stringContaining('appsecret-shop') } },
  ])
  const other = review({ ...reading, name: 'mine' })
  expect(await status(other)).toEqual([200, { ...head, status: { allowed: false } }])
  const values = (await registry.getSingleMetric('sekisho_authorizer_reviews_total')?.get())?.values
  expect(values?.map(({ labels, value }) => [labels['answer'], value])).toEqual([
    ['denied', 1],
    ['no_opinion', 1],
    ['overflow', 0],
  ])
})

test('a review with selectors of a megabyte is denied, not failed: a failure would be no opinion', async () => {
  const { port } = await start()
  const requirements = Array.from({ length: 30_000 }, (_, index) => ({ key: `k${index}`, operator: 'Exists' }))
  const body = review({ ...reading, verb: 'list', name: '', labelSelector: { requirements } })
  expect(body.length).toBeGreaterThan(1e6)
  expect(await call({ port, body, key: apiServer })).toMatchObject([200, { status: { allowed: false, denied: true } }])
})

test.each([
  ['no JSON', '{'],
  ['another version', JSON.stringify({ apiVersion: 'authorization.k8s.io/v1beta1', kind: 'SubjectAccessReview', spec: {} })],
  ['another kind', JSON.stringify({ apiVersion: 'authorization.k8s.io/v1', kind: 'TokenReview', spec: {} })],
  ['no spec', JSON.stringify({ apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview' })],
])('%s is no review', async (_name, body) => {
  const { port } = await start()
  expect(await call({ port, body, key: apiServer })).toMatchObject([400, { error: { code: 'invalid_request' } }])
})

test('there is one path', async () => {
  const { port } = await start()
  for (const path of ['/', '/authorize/', '/metrics'])
    expect(await call({ port, body: review(reading), key: apiServer, path })).toMatchObject([404, {}])
})

test('when the certificate that is served ends is a metric', async () => {
  const { registry } = await start()
  const [metric] = (await registry.getMetricsAsJSON()).filter(({ name }) => name.includes('certificate_expiry'))
  expect(metric?.values[0]?.value).toBe(Date.parse(new X509Certificate(pair.certificate).validTo) / 1000)
})
