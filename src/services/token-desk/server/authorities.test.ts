// Replacing the authority of the token desk: at no time is a certificate served that workloads do not trust yet, or do not
// trust any more.
import { X509Certificate } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { movableClock } from '../../../../test/fixtures/databases.ts'
import type { AuditRecord } from '../../../api/audit/audit-event.ts'
import { makeCertificateAuthority } from '../../../identity/certificate-authority.ts'
import { certificateBlocks } from '../../../lib/certificate-blocks.ts'
import type { SecretString } from '../../../lib/secret-string.ts'
import { silentLog } from '../../../lib/testing/silent-log.ts'
import { type Authority, authorityDays, dueGeneration, servingAuthority, trustedBundle } from './authorities.ts'
import { openTokenDeskCertificate } from './certificate.ts'

const hour = 3_600_000
const day = 24 * hour

function keeper() {
  const kept = new Map<string, SecretString>()
  return {
    kept,
    find: async (name: string) => kept.get(name),
    async getOrCreate(name: string, make: () => Promise<SecretString>) {
      const made = kept.get(name) ?? (await make())
      // As in the store, the first one stays.
      const known = kept.get(name) ?? made
      kept.set(name, known)
      return known
    },
  }
}

function desk(keys = keeper(), clock = movableClock()) {
  const records: AuditRecord[] = []
  const audit = {
    appendOnce: async (record: AuditRecord, already: (earlier: never) => boolean) => {
      if (!already(records as never)) records.push(record)
    },
  }
  const open = (change: { generation?: number; overlapHours?: number } = {}) =>
    openTokenDeskCertificate({ keys, audit, hosts: ['desk'], generation: 1, overlapHours: 720, clock, log: silentLog, ...change })
  return { open, clock, records, keys }
}

const authoritiesIn = (bundle: string): readonly X509Certificate[] =>
  certificateBlocks(bundle).map(pem => new X509Certificate(pem))
type Opened = Awaited<ReturnType<typeof openTokenDeskCertificate>>
const issuedBy = ({ current }: Opened, authority: X509Certificate | undefined): boolean =>
  authority !== undefined && new X509Certificate(current().certificate).verify(authority.publicKey)

test('over years, what is served was given to workloads a day before, and stays trusted for a day after', async () => {
  const start = Date.parse('2026-01-01T00:00:00Z')
  const authorities: Authority[] = []
  const known = (now: number): readonly Authority[] =>
    authorities.filter(({ certificatePem }) => Date.parse(new X509Certificate(certificatePem).validFrom) <= now)
  let changes = 0
  for (let now = start; now < start + 3 * 365 * day; now += hour) {
    const due = dueGeneration(authorities, 1, new Date(now))
    if (due !== undefined) {
      const made = await makeCertificateAuthority({ commonName: 'ca', now: new Date(now), lifetimeDays: authorityDays })
      authorities.push({ ...made, generation: due, servedFrom: new Date(due === 1 ? now : now + 30 * day) })
      changes += 1
    }
    const serving = servingAuthority(authorities, new Date(now))
    const pem = serving?.certificatePem.trim() ?? ''
    if (now >= start + 2 * day)
      expect(trustedBundle(known(now - day), new Date(now - day)), new Date(now).toISOString()).toContain(pem)
    // A replica that looks late still uses it.
    expect(trustedBundle(authorities, new Date(now + 23 * hour)), new Date(now).toISOString()).toContain(pem)
    expect(Date.parse(new X509Certificate(pem).validTo)).toBeGreaterThan(now + 30 * day)
    expect(authoritiesIn(trustedBundle(authorities, new Date(now))).length).toBeLessThanOrEqual(2)
  }
  expect(changes).toBe(5)
})

describe('the authority of the token desk', () => {
  test('is replaced before its end: given to workloads first, used a month later, alone a day after that', async () => {
    const { open, clock, records } = desk()
    const first = await open()
    const [old] = authoritiesIn(first.authorities())
    clock.advance((244 * day) / 1000)
    const both = await open()
    expect(authoritiesIn(both.authorities())).toHaveLength(2)
    expect(issuedBy(both, old)).toBe(true)
    clock.advance((30 * day) / 1000)
    const changed = await open()
    const [next] = authoritiesIn(changed.authorities())
    expect(issuedBy(changed, next)).toBe(true)
    expect(next?.fingerprint256).not.toBe(old?.fingerprint256)
    expect(authoritiesIn(changed.authorities())).toHaveLength(2)
    clock.advance(day / 1000)
    expect(authoritiesIn((await open()).authorities()).map(({ fingerprint256 }) => fingerprint256)).toEqual([
      next?.fingerprint256,
    ])
    expect(records).toMatchObject([{ action: 'token-desk.authority-created', details: { fingerprint: next?.fingerprint256 } }])
  })

  test('is replaced at once when an admin raises the generation, with the overlap that the admin chose', async () => {
    const { open, clock } = desk()
    const [old] = authoritiesIn((await open()).authorities())
    const raised = { generation: 3, overlapHours: 1 }
    expect(issuedBy(await open(raised), old)).toBe(true)
    clock.advance(3601)
    const changed = await open(raised)
    expect(issuedBy(changed, old)).toBe(false)
    expect(issuedBy(changed, authoritiesIn(changed.authorities())[0])).toBe(true)
    // Started again, and by a replica with the setting from before, nothing new is made.
    const again = await open({ generation: 3 })
    expect(again.authorities()).toBe(changed.authorities())
  })

  test('replicas that create it at the same time get the same', async () => {
    const { open, clock, records } = desk()
    await open()
    clock.advance((244 * day) / 1000)
    const [one, other] = await Promise.all([open(), open()])
    expect(one.authorities()).toBe(other.authorities())
    expect(records).toHaveLength(1)
  })

  test('the leaf changes while the desk serves', async () => {
    const { open, clock } = desk()
    const serving = await open({ generation: 1, overlapHours: 1 })
    const [old] = authoritiesIn(serving.authorities())
    const changed = new Promise<void>(resolve => serving.onChange(() => resolve()))
    serving.start()
    clock.advance((245 * day) / 1000)
    await changed
    expect(issuedBy(serving, old)).toBe(true)
    const next = new Promise<void>(resolve => serving.onChange(() => resolve()))
    clock.advance(7200)
    await next
    expect(issuedBy(serving, old)).toBe(false)
    await serving.stop()
  })
})
