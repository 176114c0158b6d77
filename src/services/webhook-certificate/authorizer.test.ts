// When the certificate of the authorizer is renewed: only where the platform's authority issued the former one, because nobody
// here sees whom API servers trust about it.
import { X509Certificate } from 'node:crypto'
import { Registry } from 'prom-client'
import { expect, onTestFinished, test } from 'vitest'
import { issueCertificate, makeCertificateAuthority } from '../../identity/certificate-authority.ts'
import type { CertifiedKey } from '../../identity/certified-key.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import { openAuthorizerCertificate } from './authorizer.ts'
import { authorizerHosts, decideAuthorizerRenewal } from './decide.ts'

const start = new Date('2026-01-01T00:00:00Z')
const after = (days: number): Date => new Date(start.getTime() + days * 86_400_000)
const authorityFor = (lifetimeDays: number): Promise<CertifiedKey> =>
  makeCertificateAuthority({ commonName: 'x', now: start, lifetimeDays })
const authority = await authorityFor(40)

async function leafOf(by: CertifiedKey, hosts = authorizerHosts, ipAddresses: readonly string[] = []): Promise<string> {
  const names = { commonName: 'sekisho-authorizer', dnsNames: hosts, ipAddresses }
  const leaf = await issueCertificate({ authority: by, ...names, usage: 'server', now: start, lifetimeDays: 30 })
  return leaf.certificatePem
}

const decided = (served: string | undefined, now: Date) =>
  decideAuthorizerRenewal({ authority: authority.certificatePem, served, now })

test('after two thirds of its life, and never beyond that of the authority', async () => {
  const served = await leafOf(authority)
  expect(decided(served, after(19))).toEqual({ kind: 'keep' })
  expect(decided(served, after(21))).toEqual({
    kind: 'renew',
    because: 'two thirds of its life are over',
    lifetimeDays: expect.closeTo(19, 0),
  })
})

test('one that is not for the name by which API servers call it', async () => {
  expect(decided(await leafOf(authority, ['authorizer.test']), start)).toMatchObject({
    kind: 'renew',
    because: 'it is not for sekisho-authorizer.sekisho-system.svc',
  })
})

test('the names and addresses by which API servers call it otherwise stay', async () => {
  const more = { dnsNames: ['authorizer.outside.test'], ipAddresses: ['10.96.0.99', 'fd00:0:0:0:0:0:0:99'] }
  const served = await leafOf(authority, [...authorizerHosts, ...more.dnsNames], more.ipAddresses)
  expect(new X509Certificate(served).subjectAltName).toContain('IP Address:10.96.0.99')
  const decision = decided(served, after(21))
  expect(decision).toMatchObject({ kind: 'renew', more: { ...more, ipAddresses: ['10.96.0.99', 'FD00:0:0:0:0:0:0:99'] } })
  const next = Promise.withResolvers<string>()
  const base64 = (text: string): string => Buffer.from(text).toString('base64')
  const client = {
    get: async () => ({ metadata: { resourceVersion: '1' }, data: { 'tls.crt': base64(served) } }),
    apply: async (_: unknown, { data }: { readonly data: Readonly<Record<string, string>> }) =>
      next.resolve(Buffer.from(data['tls.crt'] ?? '', 'base64').toString()),
  }
  const settings = { admissionAuthorityCertificate: authority.certificatePem, admissionAuthorityKey: authority.privateKeyPem }
  const clock = { now: () => after(21), monotonic: () => 0, sleep: () => new Promise<never>(() => {}) }
  const deps = { settings, manager: { client, isLeader: () => true }, metrics: new Registry(), clock, log: silentLog } as never
  const loop = openAuthorizerCertificate(deps)
  onTestFinished(() => loop?.stop())
  loop?.start()
  expect(new X509Certificate(await next.promise).subjectAltName).toBe(new X509Certificate(served).subjectAltName)
})

test('one with names that cannot be issued here stays', async () => {
  expect(decided(await leafOf(authority, [...authorizerHosts, 'no name']), after(29))).toEqual({ kind: 'keep' })
})

test('without an authorizer, and where another authority issued its certificate, nothing is done', async () => {
  const foreign = await leafOf(await authorityFor(3650))
  for (const served of [undefined, '', 'no certificate', foreign]) expect(decided(served, after(29))).toEqual({ kind: 'keep' })
})

test('an authority that has ended renews nothing, and says so', async () => {
  expect(decided(await leafOf(authority), after(41))).toMatchObject({
    kind: 'refuse',
    message: expect.stringContaining('has ended'),
  })
})
