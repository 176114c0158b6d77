// The server's bounds: a client that sends slowly occupies places, and never the thread that answers reviews.
import { Readable } from 'node:stream'
import { expect, onTestFinished, test, vi } from 'vitest'
import { issueCertificate, makeCertificateAuthority } from '../identity/certificate-authority.ts'
import { silentLog } from '../lib/testing/silent-log.ts'
import { createCertificate } from '../web/tls.ts'
import { createReviewServer } from './review-server.ts'

async function startServer() {
  const now = new Date()
  const authority = await makeCertificateAuthority({ commonName: 'test', now, lifetimeDays: 1 })
  const leaf = await issueCertificate({ authority, commonName: 'x', dnsNames: ['x'], usage: 'server', now, lifetimeDays: 1 })
  const certificate = createCertificate({ certificate: leaf.certificatePem, privateKey: leaf.privateKeyPem })
  const identities = {
    brokers: [],
    controllers: [],
    accounts: [],
    reapers: [],
    endpointControllers: [],
    certificateManagers: [],
    kubernetesPrefixes: [],
  }
  const server = await createReviewServer({ log: silentLog, certificate, identities })
  onTestFinished(() => server.close())
  return server
}

test('reviews beyond what may be in progress are refused before their bodies are read', async () => {
  const server = await startServer()
  const headers = { 'content-type': 'application/json' }
  /** A body that begins and does not end. */
  const slow = () => new Readable({ read() {} })
  const bodies = Array.from({ length: 200 }, slow)
  const statuses: number[] = []
  for (const payload of bodies)
    void server
      .inject({ method: 'POST', url: '/mutate', headers: { ...headers, 'content-length': '100' }, payload })
      .then(answer => statuses.push(answer.statusCode))
  await vi.waitFor(() => expect(statuses.length).toBeGreaterThan(100))
  expect(new Set(statuses)).toEqual(new Set([503]))
  const large = await server.inject({ method: 'POST', url: '/mutate', headers, payload: JSON.stringify({ a: 'x'.repeat(9e6) }) })
  expect([413, 503]).toContain(large.statusCode)
  for (const body of bodies) body.destroy()
})
