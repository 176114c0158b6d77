// The newest entries of the audit log are gone: a power cut took them, or somebody did. The platform records that and goes on;
// verification says so until a platform admin acknowledges it; and whoever owns the database cannot make it look acknowledged.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { AuditRecord } from '../../src/api/audit/audit-event.ts'
import { configMaps } from '../../src/api/builtin/index.ts'
import { createCheckpointExport } from '../../src/broker/audit/checkpoint-export.ts'
import { checkpointsKey, problemAnnotation, statementsIn } from '../../src/broker/audit/checkpoint-map.ts'
import { acknowledgeLosses } from '../../src/broker/audit/lost-entries.ts'
import { signCheckpoint, verifyAcknowledgement, verifyCheckpoint } from '../../src/identity/oidc/audit-checkpoint.ts'
import { type IssuerKeys, loadIssuerKeys } from '../../src/identity/oidc/issuer-keys.ts'
import { type AttestedHead, acknowledges } from '../../src/lib/hash-chain/attested-heads.ts'
import { silentLog } from '../../src/lib/testing/silent-log.ts'
import { createAuditLog } from '../../src/store/audit/audit-log.ts'
import { verifyLog } from '../../src/store/audit/testing/verify-log.ts'
import { type Database, openEmbedded } from '../../src/store/database/database.ts'
import { migrate } from '../../src/store/database/migrate.ts'
import { movableClock } from '../fixtures/databases.ts'
import { createMemoryKube, type MemoryKube } from './fixtures/memory-kube.ts'
import { tamper } from './fixtures/tampering.ts'

const issuer = 'https://sekisho.test'
const admin = 'github|github.localhost|1'
const clock = movableClock()
let database: Database
let keys: IssuerKeys
let kube: MemoryKube
beforeAll(async () => {
  database = await openEmbedded('memory://', silentLog)
  await migrate(database.pool, silentLog)
  keys = await loadIssuerKeys({ getOrCreate: (_name, make) => make() }, clock, error => {
    throw error
  })
})
afterAll(() => database?.close())
beforeEach(async () => {
  await tamper(database, 'TRUNCATE audit.entries')
  kube = createMemoryKube()
})

const openLog = () => createAuditLog({ pool: database.pool, clock, log: silentLog })
const record = (reason: string): AuditRecord => {
  return { action: 'token.minted', actor: admin, namespace: 'acme', object: 'x', outcome: 'allowed', reason, details: {} }
}
const deps = () => ({ kube: kube.client, audit: openLog(), keys, issuer, clock, log: silentLog })
const once = () => createCheckpointExport({ ...deps(), everyMilliseconds: 60_000, isLeader: () => true }).once()
const keptMap = () => kube.client.get(configMaps, checkpointsKey)
const cut = (last: number) => tamper(database, `DELETE FROM audit.entries WHERE sequence > ${last}`)

async function append(count: number): Promise<void> {
  const log = openLog()
  for (let index = 0; index < count; index += 1) {
    clock.advance(1)
    await log.append(record(`entry ${index}`))
  }
}
/** Twenty entries, checkpoints of 10 and 20. */
async function twenty(): Promise<readonly AttestedHead[]> {
  await append(10)
  expect(await once()).toBe('written')
  await append(10)
  expect(await once()).toBe('written')
  clock.advance(30)
  return Promise.all(
    statementsIn(await keptMap(), 'entry').map(({ statement }) => verifyCheckpoint(statement, keys.publicKeys, issuer)),
  )
}

describe('entries at the end are missing', () => {
  test('a true beginning of the log is distinguished from an altered one, with what is known of the rest', async () => {
    const heads = await twenty()
    await cut(17)
    const result = await verifyLog(openLog(), heads[1])
    expect(result).toMatchObject({ ok: false, kind: 'truncated', sequence: 18 })
    expect(result).toMatchObject({
      problem: expect.stringMatching(/^entries 18 to 20 are missing: lost in a crash or removed; the checkpoint of 20/),
    })
    await tamper(database, `UPDATE audit.entries SET reason = 'x' WHERE sequence = 15`)
    expect(await verifyLog(openLog(), heads[1])).toMatchObject({ ok: false, kind: 'altered', sequence: 15 })
  })

  test('also after the log went on, beyond the checkpoint', async () => {
    const heads = await twenty()
    await cut(17)
    await append(8)
    expect(await verifyLog(openLog(), heads[1])).toMatchObject({
      ok: false,
      kind: 'truncated',
      sequence: 18,
      losses: [{ remaining: { sequence: 17 }, attested: [{ sequence: 20 }] }],
    })
  })

  test('whoever writes other entries with the old dates in their place has altered the log', async () => {
    const heads = await twenty()
    await cut(17)
    clock.advance(-40)
    await append(8)
    clock.advance(40)
    expect(await verifyLog(openLog(), heads[1])).toMatchObject({ ok: false, kind: 'altered', sequence: 20 })
    expect(await once()).toBe('broken')
    await expect(acknowledgeLosses(deps(), { actor: admin, reason: 'r', statements: [] })).rejects.toMatchObject({
      code: 'conflict',
    })
  })

  test('the platform records it once, keeps the proof, and its checkpoints go on', async () => {
    await twenty()
    await cut(17)
    await append(1)
    const before = await keptMap()
    expect(await once()).toBe('truncated')
    const [event, ...more] = await openLog().list({ action: 'audit.truncated', limit: 10 })
    expect(more).toEqual([])
    expect(event).toMatchObject({
      actor: 'sekisho:broker',
      outcome: 'failed',
      details: { lost: [18, 20], remaining: { sequence: 17 }, attested: { sequence: 20 } },
    })
    const kept = await keptMap()
    expect(statementsIn(kept, 'lost')).toEqual(statementsIn(before, 'entry').slice(1))
    expect(kept?.metadata.annotations?.[problemAnnotation]).toContain('entries 18 to 20 are missing')
    expect(await once()).toBe('written')
    expect(await once()).toBe('unchanged')
    await append(3)
    expect(await once()).toBe('written')
    expect(await openLog().list({ action: 'audit.truncated', limit: 10 })).toHaveLength(1)
    expect((await keptMap())?.metadata.annotations?.[problemAnnotation]).toBeDefined()
  })

  test('a crash between the record and the proof leaves one record', async () => {
    await twenty()
    await cut(17)
    const failing = { ...kube.client, mergePatch: () => Promise.reject(new Error('killed')) }
    await expect(
      createCheckpointExport({ ...deps(), kube: failing, everyMilliseconds: 1, isLeader: () => true }).once(),
    ).rejects.toThrow('killed')
    expect(await once()).toBe('truncated')
    expect(await openLog().list({ action: 'audit.truncated', limit: 10 })).toHaveLength(1)
  })
})

describe('the acknowledgement of an admin', () => {
  const acknowledge = (statements: readonly string[] = []) =>
    acknowledgeLosses(deps(), { actor: admin, reason: 'power cut', statements })
  const inLog = async () => {
    const entries = await openLog().list({ action: 'audit.loss-acknowledged', limit: 10 })
    const statements = entries.flatMap(({ details }) =>
      Array.isArray(details.acknowledgement) ? [details.acknowledgement.join('.')] : [],
    )
    return Promise.all(statements.map(statement => verifyAcknowledgement(statement, keys.publicKeys, issuer)))
  }
  const unacknowledged = async (head: AttestedHead | undefined) => {
    const result = await verifyLog(openLog(), head)
    if (result.ok || result.kind !== 'truncated') return result
    const signed = await inLog()
    return result.losses.filter(loss => !signed.some(one => acknowledges(one, loss)))
  }

  test('is recorded, signed, and ends the problem; the loss stays visible', async () => {
    const [, head] = await twenty()
    await cut(17)
    await once()
    expect(await unacknowledged(head)).toHaveLength(1)
    clock.advance(600)
    expect(await acknowledge()).toMatchObject([{ by: admin, remaining: { sequence: 17 }, lost: { sequence: 20 } }])
    expect(await unacknowledged(head)).toEqual([])
    expect(await verifyLog(openLog(), head)).toMatchObject({ ok: false, kind: 'truncated' })
    expect((await keptMap())?.metadata.annotations?.[problemAnnotation]).toBeUndefined()
    expect(await once()).toBe('written')
    await expect(acknowledge()).rejects.toMatchObject({ code: 'not_found' })
  })

  test('covers what a checkpoint of the admin proves beyond those of the platform', async () => {
    await twenty()
    await append(4)
    const own = await signCheckpoint(keys, issuer, await openLog().head())
    clock.advance(60)
    await cut(22)
    await append(5)
    expect(await once()).toBe('written')
    await expect(acknowledge()).rejects.toMatchObject({ code: 'not_found' })
    expect(await acknowledge([own])).toMatchObject([{ remaining: { sequence: 22 }, lost: { sequence: 24 } }])
    expect(await unacknowledged(await verifyCheckpoint(own, keys.publicKeys, issuer))).toEqual([])
  })

  test('of one loss does not cover another: entries from after it are removed', async () => {
    const [, head] = await twenty()
    await cut(17)
    await append(5)
    await once()
    await acknowledge()
    const copy = (await openLog().list({ action: 'audit.loss-acknowledged', limit: 1 }))[0]
    expect(await unacknowledged(head)).toEqual([])
    // The intruder cuts after the first loss and writes the record of its acknowledgement again.
    await cut(17)
    clock.advance(3600)
    await openLog().append({ ...record('again'), action: 'audit.loss-acknowledged', details: copy?.details ?? {} })
    await append(10)
    expect(await unacknowledged(head)).toHaveLength(1)
  })

  test('cannot be made by whoever owns the database only', async () => {
    const [, head] = await twenty()
    await cut(17)
    await append(5)
    const forger = await loadIssuerKeys({ getOrCreate: (_name, make) => make() }, clock, () => {})
    const forged = await forger.sign({ iss: issuer }, 'sekisho-audit-acknowledgement+jwt')
    await openLog().append({
      ...record('forged'),
      action: 'audit.loss-acknowledged',
      details: { acknowledgement: forged.split('.') },
    })
    await expect(inLog()).rejects.toMatchObject({ code: 'integrity_violation' })
    expect(await once()).toBe('truncated')
    expect(head?.sequence).toBe(20)
  })
})
