// The server's bounds: a client that sends slowly occupies places, and never the thread that answers reviews.
import { Agent, request } from 'node:https'
import { expect, onTestFinished, test } from 'vitest'
import { issueCertificate, makeCertificateAuthority } from '../identity/certificate-authority.ts'
import { silentLog } from '../lib/testing/silent-log.ts'
import { waitUntil } from '../lib/waiting/wait-until.ts'
import { createCertificate } from '../web/tls.ts'
import { createReviewServer } from './review-server.ts'

async function startServer() {
  const now = new Date()
  const authority = await makeCertificateAuthority({ commonName: 'test', now, lifetimeDays: 1 })
  const leaf = await issueCertificate({ authority, commonName: 'x', dnsNames: ['x'], usage: 'server', now, lifetimeDays: 1 })
  const certificate = createCertificate({ certificate: leaf.certificatePem, privateKey: leaf.privateKeyPem })
  const server = createReviewServer({ log: silentLog, certificate })
  const port = await server.listen({ host: '127.0.0.1', port: 0 })
  onTestFinished(async () => {
    const closed = server.close()
    server.closeAllConnections()
    await closed
  })
  return { port, certificate: authority.certificatePem }
}

test('a review for every connection of an API server may be in progress; more bytes are refused before they are read', async () => {
  const { port, certificate } = await startServer()
  const answers: (number | undefined)[] = []
  let heads = 0
  const agent = new Agent({ ca: certificate, servername: 'x' })
  onTestFinished(() => agent.destroy())
  /** The head, which the server confirms; the body comes with `end`. */
  const begin = (length: number): { readonly end: () => void } => {
    const headers = { 'content-type': 'application/json', 'content-length': length, expect: '100-continue' }
    const sent = request({ host: '127.0.0.1', port, agent, path: '/mutate', method: 'POST', headers })
    sent.once('response', answer => answers.push(answer.resume().statusCode))
    sent.once('continue', () => heads++)
    sent.on('error', () => {})
    sent.flushHeaders()
    onTestFinished(() => void sent.destroy())
    return { end: () => void sent.end('{}') }
  }
  for (let number = 0; number < 5; number += 1) begin(8_000_000)
  await waitUntil('the refusal of what would be too much', seen => seen(answers).length === 1)
  const small = Array.from({ length: 400 }, () => begin(2))
  await waitUntil('all to be in progress', seen => seen(heads) === 5 + small.length)
  for (const { end } of small) end()
  await waitUntil('all reviews to be answered', seen => seen(answers).length === 1 + small.length)
  // Their bodies were read, and are not reviews.
  expect(answers).toEqual([503, ...small.map(() => 400)])
  begin(9_000_000)
  await waitUntil('the refusal of a large body', seen => seen(answers.at(-1)) === 413)
})
