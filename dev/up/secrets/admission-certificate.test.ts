// What stays of the webhook's certificate and its authority when `make up` runs again: everything that serves.
import { X509Certificate } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { issueCertificate, makeCertificateAuthority } from '../../../src/identity/certificate-authority.ts'
import type { CertifiedKey } from '../../../src/identity/certified-key.ts'
import { decideRenewal } from '../../../src/services/webhook-certificate/decide.ts'
import { type AdmissionFacts, admissionCertificate, decideAdmission } from './admission-certificate.ts'
import type { KeyPair } from './platform-secrets.ts'

const day = 86_400_000
const made = new Date('2026-01-01T00:00:00Z')
const after = (days: number): Date => new Date(made.getTime() + days * day)
const nothing: KeyPair = { certificate: '', key: '' }
const pair = ({ certificatePem, privateKeyPem }: CertifiedKey): KeyPair => ({
  certificate: certificatePem,
  key: privateKeyPem.reveal(),
})
const webhookHosts: readonly string[] = ['sekisho-admission.sekisho-system.svc', 'sekisho-access-records.sekisho-system.svc']
const issue = async (authority: CertifiedKey, now: Date, hosts = webhookHosts): Promise<KeyPair> =>
  pair(
    await issueCertificate({
      authority,
      ...{ commonName: 'sekisho-admission', dnsNames: hosts, usage: 'server', now, lifetimeDays: 30 },
    }),
  )

let authority: CertifiedKey
let former: CertifiedKey
let facts: AdmissionFacts
beforeAll(async () => {
  authority = await makeCertificateAuthority({ commonName: 'webhook', now: made, lifetimeDays: 3650 })
  former = await makeCertificateAuthority({ commonName: 'of the state folder', now: made, lifetimeDays: 3650 })
  facts = {
    authority: pair(authority),
    serving: await issue(authority, made),
    trusted: authority.certificatePem,
    now: after(1),
  }
})

test('all of it is kept while it serves', () => {
  expect(decideAdmission(facts)).toEqual({ keepsAuthority: true, keepsServing: true, former: [] })
  expect(decideAdmission({ ...facts, now: after(29) })).toMatchObject({ keepsAuthority: true, keepsServing: true })
})

test('an ended certificate is made again by the same authority', () => {
  expect(decideAdmission({ ...facts, now: after(31) })).toEqual({ keepsAuthority: true, keepsServing: false, former: [] })
})

test('an authority is replaced when it ended, is none, or its key is another', async () => {
  const other = pair(former)
  const leaf = await issue(former, made)
  for (const present of [nothing, leaf, { certificate: facts.authority.certificate, key: other.key }])
    expect(decideAdmission({ ...facts, authority: present }).keepsAuthority).toBe(false)
  expect(decideAdmission({ ...facts, now: after(3651) })).toEqual({ keepsAuthority: false, keepsServing: false, former: [] })
})

test('a certificate of another authority stays until the controllers replace it, and that authority stays trusted until all replicas have noticed', async () => {
  const before = { ...facts, authority: nothing, serving: await issue(former, made), trusted: former.certificatePem }
  const trusted = former.certificatePem.trim()
  expect(decideAdmission(before)).toEqual({ keepsAuthority: false, keepsServing: true, former: [trusted] })
  const both = `${authority.certificatePem}\n${former.certificatePem}`
  const renewed = { ...facts, serving: await issue(authority, after(1)), trusted: both }
  expect(decideAdmission({ ...renewed, now: new Date(after(1).getTime() + 60_000) }).former).toEqual([trusted])
  expect(decideAdmission({ ...renewed, now: after(2) }).former).toEqual([])
})

test('a certificate that API servers refuse is not kept', async () => {
  const another = await issue(authority, made, ['other.sekisho-system.svc'])
  for (const serving of [nothing, { ...facts.serving, key: '' }, another, await issue(former, made)])
    expect(decideAdmission({ ...facts, serving }).keepsServing).toBe(false)
})

test('the first run makes an authority for years, and a certificate that the controllers keep, and renew in time', async () => {
  const empty = { read: async () => undefined } as never
  const now = new Date()
  const from = (days: number): Date => new Date(now.getTime() + days * day)
  const { authority: first, serving, trusted } = await admissionCertificate(empty, 'production', now)
  const [root, leaf] = [new X509Certificate(first.certificate), new X509Certificate(serving.certificate)]
  expect(leaf.verify(root.publicKey)).toBe(true)
  expect(root.validToDate.getTime()).toBeGreaterThan(from(3649).getTime())
  expect(decideAdmission({ authority: first, serving, trusted, now: from(1) })).toEqual({
    ...{ keepsAuthority: true, keepsServing: true, former: [] },
  })
  const renewal = (served: KeyPair, bundle: string, at: Date) =>
    decideRenewal({ authority: first.certificate, served: served.certificate, bundles: [bundle], now: at }).kind
  expect(renewal(serving, trusted, from(1))).toBe('keep')
  expect(renewal(serving, trusted, from(21))).toBe('renew')
  // What served before is replaced at once.
  expect(renewal(await issue(former, now), `${trusted}${former.certificatePem}`, from(1))).toBe('renew')
})
