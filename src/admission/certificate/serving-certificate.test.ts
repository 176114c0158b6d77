// When certificates are renewed, what is trusted meanwhile, and that what is stored can be read back.
import { describe, expect, test } from 'vitest'
import { issueCertificate, makeCertificateAuthority } from '../../identity/certificate-authority.ts'
import { certificatesIn, planCertificates, type StoredCertificates, secretData, trustBundle } from './serving-certificate.ts'

const now = new Date('2026-01-01T00:00:00Z')
const day = 86_400_000
const later = (days: number): Date => new Date(now.getTime() + days * day)
const name = 'sekisho-admission.sekisho-system.svc'
const authority = await makeCertificateAuthority({ commonName: 'one', now, lifetimeDays: 365 })
const leaf = await issueCertificate({ authority, commonName: 'x', dnsNames: [name], usage: 'server', now, lifetimeDays: 30 })
const stored: StoredCertificates = { authority, previousAuthorityPem: undefined, leaf }

describe('the certificates of the webhook', () => {
  test.each([
    { are: 'kept while they are young', held: stored, days: 10, plan: 'keep' },
    { are: 'created when there are none', held: undefined, days: 0, plan: 'new-authority' },
    { are: 'renewed by a new leaf after two thirds of its life', held: stored, days: 21, plan: 'new-leaf' },
    {
      are: 'renewed by a new leaf when a name is missing',
      held: stored,
      more: ['IP Address:10.0.0.1'],
      days: 1,
      plan: 'new-leaf',
    },
    { are: 'renewed by a new authority after two thirds of its life', held: stored, days: 250, plan: 'new-authority' },
  ])('are $are', ({ held, more = [], days, plan }) => {
    expect(planCertificates(held, [`DNS:${name}`, ...more], later(days))).toBe(plan)
  })

  test('trust the former authority until it expires, after the current one', async () => {
    const next = await makeCertificateAuthority({ commonName: 'two', now: later(250), lifetimeDays: 365 })
    const rotated = { ...stored, authority: next, previousAuthorityPem: authority.certificatePem }
    const both = trustBundle(rotated, later(251))
    expect(both.indexOf(next.certificatePem.trim())).toBe(0)
    expect(both).toContain(authority.certificatePem.trim())
    expect(trustBundle(rotated, later(366))).not.toContain(authority.certificatePem.trim())
  })

  test('are read back from the Secret as they were written', () => {
    const data = secretData({ ...stored, previousAuthorityPem: leaf.certificatePem })
    const texts = Object.fromEntries(Object.entries(data).map(([field, value]) => [field, value ?? '']))
    const read = certificatesIn(texts)
    expect(read?.leaf.certificatePem).toBe(leaf.certificatePem)
    expect(read?.authority.privateKeyPem.equals(authority.privateKeyPem)).toBe(true)
    expect(read?.previousAuthorityPem).toBe(leaf.certificatePem)
  })

  test.each(['tls.crt', 'ca.key'])('are created again when %s is damaged or missing', field => {
    const data = Object.fromEntries(Object.entries(secretData(stored)).map(([key, value]) => [key, value ?? '']))
    expect(certificatesIn({ ...data, [field]: '' })).toBeUndefined()
    expect(certificatesIn({ ...data, 'tls.crt': Buffer.from('x').toString('base64') })).toBeUndefined()
  })
})
