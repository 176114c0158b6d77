// Fault 16 of the list in fault-page.ts: somebody with the database owner's rights alters the audit log. The chain reveals
// single changes; the signed checkpoints that the broker keeps outside reveal a truncated log, a recomputed chain and a
// replaced database.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AuditRecord } from '../../src/api/audit/audit-event.ts'
import { configMaps } from '../../src/api/builtin/index.ts'
import { createCheckpointExport } from '../../src/broker/audit/checkpoint-export.ts'
import { checkpointsKey, problemAnnotation } from '../../src/broker/audit/checkpoint-map.ts'
import { provenStart } from '../../src/broker/audit/log-start.ts'
import { checkpointsIn } from '../../src/cli/files/checkpoint-file.ts'
import { signCut } from '../../src/identity/oidc/audit-checkpoint.ts'
import { type IssuerKeys, loadIssuerKeys } from '../../src/identity/oidc/issuer-keys.ts'
import { type ChainHead, createChainVerifier } from '../../src/lib/hash-chain/hash-chain.ts'
import { silentLog } from '../../src/lib/testing/silent-log.ts'
import { type AuditEntry, nextEntries } from '../../src/store/audit/audit-chain.ts'
import { createAuditLog } from '../../src/store/audit/audit-log.ts'
import { inTurn } from '../../src/store/audit/audit-rows.ts'
import { verifyLog } from '../../src/store/audit/testing/verify-log.ts'
import { type Database, openEmbedded } from '../../src/store/database/database.ts'
import { migrate } from '../../src/store/database/migrate.ts'
import { movableClock } from '../fixtures/databases.ts'
import { isLong } from '../fixtures/form.ts'
import { createMemoryKube } from './fixtures/memory-kube.ts'
import { deletion, mutation, type Tampering, tamper } from './fixtures/tampering.ts'
import { recordOutcome } from './outcome.ts'

const fault = 16
const length = 24
const mutations = isLong('faults') ? 10_000 : 300
/** SEKISHO_SEED says another one. */
const seed = fc.readConfigureGlobal().seed ?? 16
/** Greater than every sequence, also than those that the mutations use. */
const aside = 5_000_000
const restore = 'TRUNCATE audit.entries; INSERT INTO audit.entries SELECT * FROM audit.original'
const issuer = 'https://sekisho.test'

const clock = movableClock()
const ownKeys = () =>
  loadIssuerKeys({ getOrCreate: (_name, make) => make() }, clock, error => {
    throw error
  })

let database: Database
let keys: IssuerKeys
beforeAll(async () => {
  database = await openEmbedded('memory://', silentLog)
  await migrate(database.pool, silentLog)
  keys = await ownKeys()
})
afterAll(() => database?.close())

const openLog = () => createAuditLog({ ...database, clock, log: silentLog })
const record = (reason: string): AuditRecord => ({
  action: 'token.minted',
  actor: 'github|github.localhost|7',
  namespace: 'acme',
  object: 'RepositoryGrant/acme/read-shop',
  outcome: 'allowed',
  reason,
  details: { repositoryIds: [1, 2], permissions: { contents: 'read' } },
})

async function filled(environment: string, entries = length) {
  await tamper(database, 'TRUNCATE audit.entries')
  const log = openLog()
  await Promise.all(Array.from({ length: entries }, (_, index) => log.append(record(`${environment} ${index + 1}`))))
  return log
}

/** Removes the first entries of the log, as an entry says that the platform signed. */
async function pruned(log: ReturnType<typeof openLog>, through: number): Promise<void> {
  const [last] = await log.list({ after: through - 1, limit: 1 })
  const head = { sequence: through, hash: last?.hash ?? '' }
  const cutStatement = (await signCut(keys, issuer, { ...head, by: 'github|github.localhost|1' })).split('.')
  await log.append({ ...record('retention'), action: 'audit.prune-approved', details: { cut: head, cutStatement } })
  await tamper(database, `DELETE FROM audit.entries WHERE sequence <= ${through}`)
}

/** The first bad entry; 0 when the log begins where no signed cut allows it; undefined when everything verifies. */
async function firstBad(log: ReturnType<typeof openLog>): Promise<number | undefined> {
  const started = await provenStart({ audit: log, keys, issuer }, undefined).catch(() => undefined)
  if (started === undefined) return 0
  const verifier = createChainVerifier([], started.start)
  verifier.add(await log.list({ after: 0, limit: 1000 }))
  const verification = verifier.result()
  return verification.ok ? undefined : verification.sequence
}

/** From the whole log, or from one that is cut: the change is of a log that begins at 1. */
function changed(sql: string, cut: number): string {
  if (cut === 0) return `${restore}; ${sql}`
  const moved = (by: number): string => `UPDATE audit.entries SET sequence = sequence + ${by}`
  return `${restore}; ${moved(-cut)}; ${sql}; ${moved(aside)}; ${moved(cut - aside)}`
}

/** With another beginning, and without its approval, a log has no cut that is allowed; nor has one without its first entry. */
function isNamed(bad: number | undefined, change: Tampering, cut: number): boolean {
  const isOfCut =
    cut > 0 ? change.sequence <= 2 || change.name === 'update action' : change.name === 'delete' && change.sequence === 2
  return bad === change.sequence + cut || (bad === 0 && isOfCut)
}

test.each([
  ['', 0],
  [' behind a cut', 8],
])(
  `every change of a single entry%s is detected and its first invalid entry is named (seed ${seed})`,
  async (where, cut) => {
    const log = await filled('entry')
    if (cut > 0) await pruned(log, cut)
    const left = cut === 0 ? length : length + 1 - cut
    await database.pool.query('DROP TABLE IF EXISTS audit.original; CREATE TABLE audit.original AS SELECT * FROM audit.entries')
    const found = { changes: 0, detected: 0, named: 0, falseAlarms: 0 }
    const samples = fc.sample(fc.tuple(fc.nat(), fc.nat(), fc.nat(100_000)), { numRuns: mutations - 1, seed })
    // The first entry is seldom chosen.
    for (const [kind, at, salt] of [[deletion, 0, 0] as const, ...samples]) {
      const change = mutation(kind, at, salt, left)
      await tamper(database, changed(change.sql, cut))
      const bad = await firstBad(log)
      found.changes += 1
      if (bad !== undefined) found.detected += 1
      if (isNamed(bad, change, cut)) found.named += 1
      else expect.soft(bad, change.name).toBe(change.sequence + cut)
    }
    await tamper(database, restore)
    for (let check = 0; check < 20; check += 1) if ((await firstBad(log)) !== undefined) found.falseAlarms += 1
    const named = `${mutations} changes of single entries${where}: update, delete, insert, reorder`
    const share = (count: number): number => (100 * count) / found.changes
    await recordOutcome({
      fault,
      case: named,
      measure: 'detected by verify',
      value: share(found.detected),
      unit: '%',
      atLeast: 100,
    })
    await recordOutcome({
      fault,
      case: named,
      measure: 'first bad sequence named',
      value: share(found.named),
      unit: '%',
      atLeast: 100,
    })
    await recordOutcome({
      fault,
      case: `nothing was altered${where}`,
      measure: 'false alarms in 20 looks',
      value: found.falseAlarms,
      unit: 'alarms',
      atMost: 0,
    })
  },
  (isLong('faults') ? 30 : 5) * 60_000,
)

/** Rewrites the log from entry `from` on as a valid chain with recomputed hashes. */
async function rewrite(from: number): Promise<void> {
  const rows = await openLog().list({ after: 0, limit: 1000 })
  const kept = rows.filter(({ sequence }) => sequence < from)
  const last = kept.at(-1)
  const head: ChainHead = { sequence: last?.sequence ?? 0, hash: last?.hash ?? '0'.repeat(64) }
  const forged: AuditEntry[] = nextEntries(
    head,
    rows.slice(from - 1).map(row => ({ record: record(`forged ${row.sequence}`), at: new Date(row.at) })),
  )
  await tamper(database, `DELETE FROM audit.entries WHERE sequence >= ${from}`)
  await inTurn(database.pool, undefined, turn => turn.insert(forged))
}

describe('changes that only checkpoints reveal', () => {
  type Structural = {
    readonly name: string
    readonly alter: () => Promise<unknown>
    readonly sequence: number
    readonly kind: 'altered' | 'truncated'
  }
  const structural: readonly Structural[] = [
    {
      name: 'the last 3 entries are cut off',
      alter: () => tamper(database, `DELETE FROM audit.entries WHERE sequence > ${length - 3}`),
      sequence: length - 2,
      kind: 'truncated',
    },
    { name: 'the chain is computed anew from entry 9 on', alter: () => rewrite(9), sequence: 10, kind: 'altered' },
    {
      name: 'the database is exchanged for a longer one',
      alter: () => filled('another', length + 5),
      sequence: 1,
      kind: 'truncated',
    },
    {
      name: 'the database is exchanged for a longer one with the old dates',
      alter: async () => {
        clock.advance(-3600)
        await filled('another', length + 5)
        clock.advance(3600)
      },
      sequence: 10,
      kind: 'altered',
    },
    {
      name: 'the database is exchanged for an empty one',
      alter: () => tamper(database, 'TRUNCATE audit.entries'),
      sequence: 1,
      kind: 'truncated',
    },
  ]

  test.each(structural)('$name', async ({ name, alter, sequence, kind }) => {
    const kube = createMemoryKube()
    const log = await filled('entry', 10)
    const keep = createCheckpointExport({
      kube: kube.client,
      audit: log,
      keys,
      issuer,
      everyMilliseconds: 60_000,
      isLeader: () => true,
      clock,
      log: silentLog,
    })
    expect(await keep.once()).toBe('written')
    await Promise.all(Array.from({ length: length - 10 }, (_, index) => log.append(record(`entry ${index + 11}`))))
    expect(await keep.once()).toBe('written')
    expect(await keep.once()).toBe('unchanged')
    const kept = await kube.client.get(configMaps, checkpointsKey)
    const { heads: checkpoints } = await checkpointsIn(JSON.stringify(kept), keys.publicKeys, issuer)
    expect(checkpoints.map(head => head.sequence)).toEqual([10, length])

    clock.advance(60)
    await alter()
    const alone = await verifyLog(log)
    const [early, late] = await Promise.all(checkpoints.map(head => verifyLog(log, head)))
    const failures = [early, late].filter(verification => verification !== undefined && !verification.ok)
    const first = Math.min(...failures.map(verification => (verification.ok ? Number.NaN : verification.sequence)))
    expect(alone.ok).toBe(true)
    expect(first).toBe(sequence)
    expect(failures.every(verification => !verification.ok && verification.kind === kind)).toBe(true)
    const reported = (await keep.once()) === (kind === 'altered' ? 'broken' : 'truncated')
    const after = await kube.client.get(configMaps, checkpointsKey)
    // The proof stays, under whichever name.
    expect(Object.values(after?.data ?? {}).sort()).toEqual(Object.values(kept?.data ?? {}).sort())
    expect(after?.metadata.annotations?.[problemAnnotation]).toMatch(
      kind === 'altered' ? /^entry \d+/ : /lost in a crash or removed/,
    )
    await recordOutcome({
      fault,
      case: name,
      measure: 'found by verify with the kept checkpoints',
      value: failures.length > 0 ? 100 : 0,
      unit: '%',
      atLeast: 100,
    })
    await recordOutcome({
      fault,
      case: name,
      measure: 'reported by the platform itself at the next checkpoint',
      value: reported ? 100 : 0,
      unit: '%',
      atLeast: 100,
    })
  })

  test('a checkpoint that is altered or signed with another key is refused', async () => {
    const kube = createMemoryKube()
    const log = await filled('entry', 3)
    const foreignKeys = await ownKeys()
    const shared = {
      kube: kube.client,
      audit: log,
      issuer,
      everyMilliseconds: 60_000,
      isLeader: () => true,
      clock,
      log: silentLog,
    }
    await createCheckpointExport({ ...shared, keys: foreignKeys }).once()
    const kept = await kube.client.get(configMaps, checkpointsKey)
    const [statement = ''] = Object.values(kept?.data ?? {})
    await expect(checkpointsIn(statement, keys.publicKeys, issuer)).rejects.toMatchObject({ code: 'integrity_violation' })
    expect(await createCheckpointExport({ ...shared, keys }).once()).toBe('broken')
  })
})
