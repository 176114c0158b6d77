// A certificate is correct when a TLS client that trusts the authority accepts it for its names only, so these tests make real
// handshakes.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect, createServer } from 'node:tls'
import { describe, expect, test } from 'vitest'
import { issueCertificate, makeCertificateAuthority } from './certificate-authority.ts'
import { type CertifiedKey, certificateFacts, isDueForRenewal, isExpired } from './certified-key.ts'

const now = new Date()
const authority = await makeCertificateAuthority({ commonName: 'test authority', now, lifetimeDays: 30 })
const leaf = (options: Partial<Parameters<typeof issueCertificate>[0]> = {}) =>
  issueCertificate({
    authority,
    commonName: 'admission',
    dnsNames: ['sekisho-admission.sekisho-system.svc'],
    ipAddresses: ['127.0.0.1'],
    usage: 'server',
    now,
    lifetimeDays: 7,
    ...options,
  })

async function handshake(served: CertifiedKey, trusted: CertifiedKey, name: string): Promise<string> {
  const server = createServer({ cert: served.certificatePem, key: served.privateKeyPem.reveal() })
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const socket = connect({ host: '127.0.0.1', port, servername: name, ca: trusted.certificatePem })
  try {
    await once(socket, 'secureConnect')
    return 'accepted'
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code)
  } finally {
    socket.destroy()
    server.close()
  }
}

describe('an issued certificate', () => {
  test('is accepted for its name by a client that trusts the authority', async () => {
    await expect(handshake(await leaf(), authority, 'sekisho-admission.sekisho-system.svc')).resolves.toBe('accepted')
  })

  test('is refused for another name', async () => {
    await expect(handshake(await leaf(), authority, 'other.svc')).resolves.toBe('ERR_TLS_CERT_ALTNAME_INVALID')
  })

  test('is refused by a client that trusts another authority of the same name', async () => {
    const other = await makeCertificateAuthority({ commonName: 'test authority', now, lifetimeDays: 30 })
    await expect(handshake(await leaf(), other, 'sekisho-admission.sekisho-system.svc')).resolves.not.toBe('accepted')
  })

  test('is refused when it has expired', async () => {
    const past = new Date(now.getTime() - 10 * 86_400_000)
    const expired = await leaf({ now: past, lifetimeDays: 1 })
    await expect(handshake(expired, authority, 'sekisho-admission.sekisho-system.svc')).resolves.toBe('CERT_HAS_EXPIRED')
  })

  test('for a server must have a name', async () => {
    await expect(leaf({ dnsNames: [], ipAddresses: [] })).rejects.toThrow('at least one name')
  })

  test('has names and a lifetime, and is due for renewal after two thirds of it', async () => {
    const facts = certificateFacts((await leaf()).certificatePem)
    expect(facts.names).toEqual(['DNS:sekisho-admission.sekisho-system.svc', 'IP Address:127.0.0.1'])
    const day = 86_400_000
    expect(isDueForRenewal(facts, new Date(now.getTime() + 4 * day))).toBe(false)
    expect(isDueForRenewal(facts, new Date(now.getTime() + 5 * day))).toBe(true)
    expect(isExpired(facts, new Date(now.getTime() + 7 * day + 1000))).toBe(true)
  })

  test('does not show its key', async () => {
    expect(JSON.stringify(await leaf())).not.toContain('PRIVATE KEY')
  })
})
