// The log is cut where the platform allowed it and nowhere else; what was altered is not made forgotten; and behind a cut every
// later change is found as before (test/faults/tampering.test.ts).
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startPostgres, type TestPostgres } from '../../dev/postgres/start-postgres.ts'
import { createMemoryKube } from '../../test/faults/fixtures/memory-kube.ts'
import { tamper } from '../../test/faults/fixtures/tampering.ts'
import { movableClock } from '../../test/fixtures/databases.ts'
import { createProductionDatabase, type ProductionDatabase } from '../../test/fixtures/production-database.ts'
import type { AuditRecord } from '../api/audit/audit-event.ts'
import { configMaps } from '../api/builtin/index.ts'
import { approveCut } from '../broker/audit/approve-cut.ts'
import { createCheckpointExport } from '../broker/audit/checkpoint-export.ts'
import { checkpointsKey, keptKeys, problemAnnotation, statementsIn } from '../broker/audit/checkpoint-map.ts'
import { provenStart } from '../broker/audit/log-start.ts'
import { mergedKeys, signCheckpoint, signCut } from '../identity/oidc/audit-checkpoint.ts'
import { type IssuerKeys, loadIssuerKeys } from '../identity/oidc/issuer-keys.ts'
import { startBefore } from '../lib/hash-chain/chain-start.ts'
import { createChainVerifier } from '../lib/hash-chain/hash-chain.ts'
import { SecretString } from '../lib/secret-string.ts'
import { silentLog } from '../lib/testing/silent-log.ts'
import { applyAsOwner } from '../store/access/owner.ts'
import { createAuditLog } from '../store/audit/audit-log.ts'
import { readStart } from '../store/audit/audit-rows.ts'
import { connectServer, type Database, openEmbedded } from '../store/database/database.ts'
import { migrate } from '../store/database/migrate.ts'
import { makeCut, plannedCut } from './cut-log.ts'

const issuer = 'https://sekisho.test'
const actor = 'github|github.com|1'
const length = 30
const cutAt = 12
/** In the past of the server's clock, by which it judges ages. */
const clock = movableClock('2020-01-01T00:00:00.000Z')
let keys: IssuerKeys
let database: Database
let kube: ReturnType<typeof createMemoryKube>
let log: ReturnType<typeof createAuditLog>
/** The checkpoint at the cut. */
let statement: string

const record = (reason: string): AuditRecord => ({
  action: 'token.minted',
  actor: 'github|github.com|7',
  namespace: 'acme',
  object: 'RepositoryGrant/acme/read-shop',
  outcome: 'allowed',
  reason,
  details: { repositoryIds: [1, 2] },
})
/** Keys that are kept, as the store does, when others take their place. */
function makeKeys(): Promise<IssuerKeys> {
  const stored = new Map<string, Promise<SecretString>>()
  const getOrCreate = (name: string, make: () => Promise<SecretString>): Promise<SecretString> => {
    const value = stored.get(name) ?? make()
    stored.set(name, value)
    return value
  }
  return loadIssuerKeys({ getOrCreate }, clock, () => {})
}
const lossDeps = () => ({ kube: kube.client, audit: log, keys, issuer, clock, log: silentLog })
const checkpoints = () => createCheckpointExport({ ...lossDeps(), everyMilliseconds: 60_000, isLeader: () => true })
async function kept() {
  const map = await kube.client.get(configMaps, checkpointsKey)
  return { statements: statementsIn(map, 'entry').map(one => one.statement), keys: mergedKeys(keys.publicKeys, keptKeys(map)) }
}
const deps = async (pool = database.pool) => ({ pool, clock, issuer, kept: await kept() })

/** Thirty entries with a checkpoint at the twelfth, and two months later. */
async function fill(): Promise<void> {
  kube = createMemoryKube()
  log = createAuditLog({ pool: database.pool, clock, log: silentLog })
  for (let count = 1; count <= cutAt; count += 1) await log.append(record(`entry ${count}`))
  await checkpoints().once()
  statement = (await kept()).statements[0] ?? ''
  for (let count = cutAt + 1; count <= length; count += 1) await log.append(record(`entry ${count}`))
  await checkpoints().once()
  clock.advance(60 * 86_400)
}
const approve = () => approveCut(lossDeps(), { actor, reason: 'retention', statement })
async function cut(): Promise<number> {
  const plan = await plannedCut(await deps())
  return plan === undefined ? 0 : makeCut({ pool: database.pool }, plan)
}
async function verified() {
  const rows = await log.list({ after: 0, limit: 1000 })
  const verifier = createChainVerifier([], startBefore(rows[0]))
  verifier.add(rows)
  return verifier.result()
}

beforeAll(async () => {
  database = await openEmbedded('memory://', silentLog)
  await migrate(database.pool, silentLog)
  keys = await makeKeys()
})
afterAll(() => database?.close())
beforeEach(async () => {
  await tamper(database, 'TRUNCATE audit.entries')
  await fill()
})

describe('a cut', () => {
  test('removes what was approved, once; the rest verifies, and the platform records it and goes on', async () => {
    await approve()
    expect(await plannedCut(await deps())).toMatchObject({ first: 1, entries: cutAt, approval: length + 1, checkpoints: 1 })
    expect(await cut()).toBe(cutAt)
    expect(await cut()).toBe(0)
    expect(await readStart(database.pool)).toMatchObject({ sequence: cutAt })
    expect(await verified()).toMatchObject({ ok: true })
    expect(await checkpoints().once()).toBe('written')
    expect(await checkpoints().once()).toBe('written')
    expect(await checkpoints().once()).toBe('unchanged')
    const [newest] = await log.list({ limit: 1 })
    expect(newest).toMatchObject({ action: 'audit.pruned', details: { cut: { sequence: cutAt }, approvedBy: actor } })
    const map = await kube.client.get(configMaps, checkpointsKey)
    expect(Object.keys(map?.data ?? {})).toContain(`cut-${String(cutAt).padStart(16, '0')}`)
    expect(map?.metadata.annotations?.[problemAnnotation]).toBeUndefined()
  })

  test('is not made without an approval, nor with one that somebody else signed', async () => {
    expect(await cut()).toBe(0)
    const [entry] = await log.list({ after: cutAt - 1, limit: 1 })
    const head = { sequence: cutAt, hash: entry?.hash ?? '' }
    const forged = await signCut(await makeKeys(), issuer, { ...head, by: actor })
    await log.append({
      ...record('forged'),
      action: 'audit.prune-approved',
      details: { cut: head, cutStatement: forged.split('.') },
    })
    expect(await cut()).toBe(0)
    // The function of the database does not know signatures. Whoever calls it is found by everybody who does.
    await database.pool.query('SELECT audit.prune($1, $2, $3)', [length + 1, cutAt, head.hash])
    await expect(provenStart(lossDeps(), undefined)).rejects.toThrow('no cut that the platform signed')
    expect(await checkpoints().once()).toBe('broken')
    const map = await kube.client.get(configMaps, checkpointsKey)
    expect(map?.metadata.annotations?.[problemAnnotation]).toMatch(/^entry 1 is missing: the log begins after entry 12/)
  })

  test('of which the beginning was altered is not made: the proof of it stays', async () => {
    await approve()
    await tamper(database, "UPDATE audit.entries SET reason = 'nothing to see' WHERE sequence = 5")
    await expect(cut()).rejects.toMatchObject({ code: 'integrity_violation', message: expect.stringContaining('entry 5') })
    expect(await readStart(database.pool)).toMatchObject({ sequence: 0 })
  })

  test.each([
    ['a young entry', (head: string) => [length + 1, length, head]],
    ['another entry', (head: string) => [length + 1, cutAt - 1, head]],
    ['another hash', () => [length + 1, cutAt, 'f'.repeat(64)]],
    ['another approval', (head: string) => [length, cutAt, head]],
  ])('is refused by the database for %s', async (_name, parameters) => {
    const { hash } = await approve()
    await expect(database.pool.query('SELECT audit.prune($1, $2, $3)', parameters(hash))).rejects.toMatchObject({ code: '42501' })
    await expect(database.pool.query('DELETE FROM audit.entries WHERE sequence = 1')).rejects.toMatchObject({ code: '42501' })
  })

  test('is approved only at a checkpoint of this platform that is old enough and on the log, and while the log has no problem', async () => {
    const foreign = await signCheckpoint(await makeKeys(), issuer, { sequence: cutAt, hash: 'f'.repeat(64) })
    await expect(approveCut(lossDeps(), { actor, reason: 'r', statement: foreign })).rejects.toThrow(
      'not signed by this platform',
    )
    const other = await signCheckpoint(keys, issuer, { sequence: cutAt, hash: 'f'.repeat(64) })
    await expect(approveCut(lossDeps(), { actor, reason: 'r', statement: other })).rejects.toMatchObject({ code: 'conflict' })
    await log.append(record('young'))
    const { sequence, hash } = await log.head()
    const young = await signCheckpoint(keys, issuer, { sequence, hash })
    await expect(approveCut(lossDeps(), { actor, reason: 'r', statement: young })).rejects.toThrow('younger than 30 days')
    await tamper(database, "UPDATE audit.entries SET reason = 'x' WHERE sequence = 30")
    await expect(approve()).rejects.toMatchObject({ code: 'conflict' })
  })

  test('is no loss for a process that wrote what was removed, and a removal without approval is', async () => {
    const quiet = createAuditLog({ pool: database.pool, clock, log: silentLog })
    await quiet.append(record('of a quiet process'))
    clock.advance(60 * 86_400)
    const { sequence, hash } = await log.head()
    statement = await signCheckpoint(keys, issuer, { sequence, hash })
    await approve()
    expect(await cut()).toBe(length + 1)
    await quiet.examine()
    expect(await log.list({ action: 'audit-log.shortened', limit: 1 })).toEqual([])
    await tamper(database, 'TRUNCATE audit.entries')
    await log.examine()
    expect(await log.list({ action: 'audit-log.shortened', limit: 1 })).toHaveLength(1)
  })
})

describe.skipIf(process.env['SEKISHO_TEST_POSTGRES'] === 'skip')('the program, as its role on PostgreSQL', () => {
  const password = new SecretString('prune-password')
  let postgres: TestPostgres
  let production: ProductionDatabase
  let folder: string
  beforeAll(async () => {
    postgres = await startPostgres()
    production = await createProductionDatabase(postgres)
    await production.migrate()
    await applyAsOwner(production.owner.pool, { prune: password }, silentLog)
    folder = mkdtempSync(join(tmpdir(), 'sekisho-retention-'))
  })
  afterAll(async () => {
    await production?.close()
    await postgres?.stop()
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  })

  const run = (url: SecretString, ...flags: string[]) =>
    promisify(execFile)(process.execPath, ['src/retention/main.ts', ...flags], {
      cwd: join(import.meta.dirname, '../..'),
      env: { SEKISHO_PRUNE_DATABASE_URL: url.reveal(), SEKISHO_PUBLIC_URL: issuer },
    }).then(
      ({ stdout }) => stdout,
      (error: { stderr: string }) => error.stderr,
    )

  test('verifies, says what it would do, does it, and no other role can', async () => {
    const own = database
    const audit = connectServer(production.url('audit'), silentLog)
    database = audit
    try {
      await fill()
      await approve()
      expect(await checkpoints().once()).toBe('written')
      const file = join(folder, 'checkpoints.json')
      writeFileSync(file, JSON.stringify(await kube.client.get(configMaps, checkpointsKey)))
      const url = postgres.url(production.name, { name: 'sekisho_prune', password: password.reveal() })
      const planned = await run(url, '--checkpoints', file)
      expect(planned).toMatch(
        /^12 entries, 1 to 12 .*as github\|github.com\|1 approved in entry 31; they verify, and agree with 1 checkpoints/,
      )
      expect(planned).toContain('nothing was removed: say --confirm')
      for (const schema of ['audit', 'broker', 'desk'] as const)
        expect(await run(production.url(schema), '--checkpoints', file), schema).toContain('SEKISHO_PRUNE_DATABASE_URL')
      expect(await run(postgres.url(production.name), '--checkpoints', file)).toContain('is a superuser')
      await expect(audit.pool.query('SELECT audit.prune($1, $2, $3)', [31, 12, 'x'])).rejects.toMatchObject({ code: '42501' })
      await expect(
        audit.pool.query("SELECT set_config('sekisho.pruned_through', '99', false); DELETE FROM audit.entries"),
      ).rejects.toMatchObject({ code: '42501' })
      expect(await run(url, '--checkpoints', file, '--confirm')).toContain('removed 12 entries; the log begins after entry 12')
      expect(await run(url, '--checkpoints', file, '--confirm')).toContain('nothing to remove')
      expect(await verified()).toMatchObject({ ok: true })
      expect(await run(url)).toContain('--checkpoints is missing')
    } finally {
      database = own
      await audit.close()
    }
  })
})
