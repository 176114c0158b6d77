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

test('reviews beyond what may be in progress are refused before their bodies are read', async () => {
  const { port, certificate } = await startServer()
  const answers: (number | undefined)[] = []
  const agent = new Agent({ ca: certificate, servername: 'x' })
  onTestFinished(() => agent.destroy())
  /** A body that begins and does not end. */
  const begin = (length: number): void => {
    const headers = { 'content-type': 'application/json', 'content-length': length }
    const sent = request({ host: '127.0.0.1', port, agent, path: '/mutate', method: 'POST', headers })
    sent.once('response', answer => answers.push(answer.statusCode))
    sent.on('error', () => {})
    sent.write('{')
    onTestFinished(() => void sent.destroy())
  }
  for (let number = 0; number < 100; number += 1) begin(100)
  await waitUntil('refusals above the bound', seen => seen(answers).length === 100 - 64)
  expect(new Set(answers)).toEqual(new Set([503]))
  begin(9_000_000)
  await waitUntil('the refusal of a large body', seen => seen(answers.at(-1)) === 413)
})
