// Fault 15 of the list in fault-page.ts: the database is down, slow, full, silent, disconnected in the middle of a commit, or
// killed. No privileged action happens while the log cannot record it, no acknowledged entry is lost or duplicated, and reads
// that can work do.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startPostgres, type TestPostgres } from '../../dev/postgres/start-postgres.ts'
import type { AuditRecord } from '../../src/api/audit/audit-event.ts'
import { loadIssuerKeys } from '../../src/identity/oidc/issuer-keys.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { SecretString } from '../../src/lib/secret-string.ts'
import { memoryInUse } from '../../src/lib/testing/memory-in-use.ts'
import { silentLog } from '../../src/lib/testing/silent-log.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { verifyLog } from '../../src/store/audit/testing/verify-log.ts'
import { connectServer, type Database } from '../../src/store/database/database.ts'
import { openStore } from '../../src/store/open-store.ts'
import { openTestStore, type TestStore } from '../fixtures/databases.ts'
import { isLong } from '../fixtures/form.ts'
import { type DatabaseProxy, startDatabaseProxy } from '../proxies/database-proxy.ts'
import { type GitHubDesk, openGitHubDesk, startGitHubFixture } from './fixtures/github-desk.ts'
import { recordOutcome } from './outcome.ts'

const fault = 15

let postgres: TestPostgres
/** Connection of the owner, without a proxy. */
let owner: Database
let github: Awaited<ReturnType<typeof startGitHubFixture>>
let silence: Promise<Silence>
beforeAll(async () => {
  postgres = await startPostgres()
  owner = connectServer(postgres.url('postgres'), silentLog)
  github = await startGitHubFixture(systemClock)
  // It waits for time limits; the other tests run meanwhile.
  silence = silentDatabase()
  silence.catch(() => {})
})
afterAll(async () => {
  await silence?.catch(() => {})
  await github?.github.stop()
  await owner?.close()
  await postgres?.stop()
})

type TestDatabase = {
  readonly proxy: DatabaseProxy
  readonly store: TestStore
  readonly direct: Database
  readonly stop: () => Promise<void>
}

/** Opens a new database behind its own proxy. */
async function openTestDatabase(): Promise<TestDatabase> {
  const name = `d${randomBytes(5).toString('hex')}`
  await owner.pool.query(`CREATE DATABASE ${name}`)
  const proxy = await startDatabaseProxy(postgres.url(name))
  const store = await openTestStore({ url: proxy.url })
  const direct = connectServer(postgres.url(name), silentLog)
  const stop = async (): Promise<void> => {
    await store.close()
    await direct.close()
    await proxy.close()
  }
  return { proxy, store, direct, stop }
}

const record = (reason: string): AuditRecord => ({
  action: 'token.minted',
  actor: 'test',
  object: 'Entry',
  outcome: 'allowed',
  reason,
  details: {},
})
const append = (store: TestStore, reason: string): Promise<boolean> =>
  store.audit.append(record(reason)).then(
    () => true,
    () => false,
  )

/** Counts acknowledged entries that are missing, duplicated entries and gaps. */
async function lostAndDoubled(
  direct: Database,
  acknowledged: readonly string[],
): Promise<{ readonly lost: number; readonly doubled: number; readonly gaps: number }> {
  const { rows } = await direct.pool.query<{ reason: string; sequence: string }>(
    'SELECT reason, sequence FROM audit.entries ORDER BY sequence',
  )
  const there = rows.map(row => row.reason)
  const gaps = rows.filter((row, index) => Number(row.sequence) !== index + 1).length
  return {
    lost: acknowledged.filter(reason => !there.includes(reason)).length,
    doubled: there.length - new Set(there).size,
    gaps,
  }
}

async function recordWhole(named: string, database: TestDatabase, acknowledged: readonly string[]): Promise<void> {
  const { lost, doubled, gaps } = await lostAndDoubled(database.direct, acknowledged)
  await recordLosses(named, lost, gaps + doubled)
  expect(await verifyLog(database.store.audit)).toMatchObject({ ok: true })
}

async function recordLosses(named: string, lost: number, gapsAndDoubles: number): Promise<void> {
  const shared = { fault, case: named, unit: 'entries', atMost: 0 }
  await recordOutcome({ ...shared, measure: 'acknowledged entries that are lost', value: lost })
  await recordOutcome({ ...shared, measure: 'gaps and doubles in the sequence', value: gapsAndDoubles })
}

async function withDesk(store: TestStore): Promise<GitHubDesk> {
  const desk = await openGitHubDesk({ ...github, store, clock: systemClock })
  onTestFinished(desk.stop)
  return desk
}

/** Requests a token for a workload with an active token and for one without; counts delivered tokens and calls of GitHub. */
async function privileged(
  desk: GitHubDesk,
): Promise<{ readonly delivered: number; readonly calls: number; readonly seconds: number }> {
  desk.proxy.takeCount()
  const since = performance.now()
  const results = await Promise.allSettled([desk.request('known'), desk.request(`new-${randomBytes(4).toString('hex')}`)])
  const seconds = (performance.now() - since) / 1000
  return { delivered: results.filter(({ status }) => status === 'fulfilled').length, calls: desk.proxy.takeCount(), seconds }
}

async function recordRefused(named: string, desk: GitHubDesk): Promise<void> {
  const { delivered, calls, seconds } = await privileged(desk)
  await recordOutcome({ fault, case: named, measure: 'tokens handed out', value: delivered, unit: 'tokens', atMost: 0 })
  await recordOutcome({ fault, case: named, measure: 'tokens minted', value: calls, unit: 'calls', atMost: 0 })
  await recordOutcome({
    fault,
    case: named,
    measure: 'until a request for a token is refused',
    value: seconds,
    unit: 's',
    atMost: 15,
  })
}

describe('PostgreSQL', () => {
  test('is down: no token is issued or minted, logins can still be verified, and the log recovers', async () => {
    const database = await openTestDatabase()
    onTestFinished(database.stop)
    const desk = await withDesk(database.store)
    const keys = await loadIssuerKeys(database.store.keys, systemClock, () => {})
    await desk.request('known')
    const named = 'PostgreSQL is down'
    database.proxy.refuse(true)
    await recordRefused(named, desk)
    expect(await database.store.healthy()).toBe(false)
    await keys.period()
    expect(await keys.sign({ iss: 'x' }, 'JWT')).toMatch(/^ey/)
    await recordOutcome({
      fault,
      case: named,
      measure: 'public keys for those who verify logins',
      value: keys.publicKeys.keys.length,
      unit: 'keys',
      atLeast: 1,
    })
    database.proxy.refuse(false)
    const since = performance.now()
    await waitUntil('the log to be written again', () => append(database.store, 'after'))
    await recordOutcome({
      fault,
      case: `${named}, and is back`,
      measure: 'until the log is written again',
      value: (performance.now() - since) / 1000,
      unit: 's',
      atMost: 5,
    })
    expect((await privileged(desk)).delivered).toBe(2)
    expect(await verifyLog(database.store.audit)).toMatchObject({ ok: true })
  })

  test('has no space left for the log: no token is issued, and reads still work', async () => {
    const database = await openTestDatabase()
    onTestFinished(database.stop)
    const desk = await withDesk(database.store)
    await desk.request('known')
    const named = 'the disk of the log is full (error 53100 at every insert)'
    const before = await database.store.audit.head()
    await database.direct.pool.query(`CREATE FUNCTION audit.full() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$;
      CREATE TRIGGER a_full BEFORE INSERT ON audit.entries FOR EACH STATEMENT EXECUTE FUNCTION audit.full()`)
    await recordRefused(named, desk)
    const reads = await Promise.allSettled([
      database.store.audit.list({ limit: 10 }),
      database.store.audit.head(),
      verifyLog(database.store.audit),
      database.store.tokens.revoking(),
    ])
    await recordOutcome({
      fault,
      case: named,
      measure: 'reads that work',
      value: (100 * reads.filter(({ status }) => status === 'fulfilled').length) / reads.length,
      unit: '%',
      atLeast: 100,
    })
    expect(await database.store.audit.head()).toEqual(before)
    await database.direct.pool.query('DROP TRIGGER a_full ON audit.entries')
    expect((await privileged(desk)).delivered).toBe(2)
    expect(await verifyLog(database.store.audit)).toMatchObject({ ok: true })
  })

  test('is slow: all appends are acknowledged and kept', async () => {
    const database = await openTestDatabase()
    onTestFinished(database.stop)
    const seconds = isLong('faults') ? 5 : 2
    await database.direct.pool.query(`CREATE FUNCTION audit.slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(${seconds}); RETURN NULL; END $$;
      CREATE TRIGGER a_slow AFTER INSERT ON audit.entries FOR EACH STATEMENT EXECUTE FUNCTION audit.slow()`)
    const reasons = Array.from({ length: 200 }, (_, index) => `slow ${index}`)
    const since = performance.now()
    const done = await Promise.all(reasons.map(reason => append(database.store, reason)))
    const named = `every insert into the log takes ${seconds} s; 200 appends at once`
    await recordOutcome({
      fault,
      case: named,
      measure: 'acknowledged',
      value: (100 * done.filter(Boolean).length) / done.length,
      unit: '%',
      atLeast: 100,
    })
    await recordOutcome({
      fault,
      case: named,
      measure: 'until all are',
      value: (performance.now() - since) / 1000,
      unit: 's',
      atMost: 3 * seconds + 1,
    })
    await recordWhole(named, database, reasons)
  })

  test('loses the connection at every message of an append: acknowledged entries are kept exactly once', async () => {
    const database = await openTestDatabase()
    onTestFinished(database.stop)
    const acknowledged: string[] = []
    let [cuts, recovered] = [0, 0]
    for (const when of ['before', 'after'] as const)
      for (let message = 1; message <= 8; message += 1) {
        // First a successful append, so that the cut hits a connection in use.
        const settled = `settled ${when} ${message}`
        if (await append(database.store, settled)) acknowledged.push(settled)
        const reason = `cut ${when} ${message}`
        database.proxy.cutAt(message, when)
        const batch = [reason, `${reason} too`, `${reason} three`]
        const done = await Promise.all(batch.map(one => append(database.store, one)))
        acknowledged.push(...batch.filter((_, index) => done[index] === true))
        if (database.proxy.wasCut()) cuts += 1
        const again = `again ${when} ${message}`
        await waitUntil('the log to be written again', () => append(database.store, again))
        acknowledged.push(again)
        recovered += 1
      }
    const named = 'the connection is cut before and after each message of an append'
    await recordOutcome({ fault, case: named, measure: 'cuts made', value: cuts, unit: 'cuts', atLeast: 2 })
    expect(recovered).toBe(16)
    await recordWhole(named, database, acknowledged)
  })
})

type Silence = {
  readonly turnedAway: number
  readonly firstAnswer: number
  readonly heapMegabytes: number
  readonly database: TestDatabase
  readonly acknowledged: readonly string[]
}

/** The proxy passes nothing while many appends are requested. */
async function silentDatabase(): Promise<Silence> {
  const database = await openTestDatabase()
  await database.store.audit.append(record('before'))
  database.proxy.hold(true)
  const heap = memoryInUse().heapUsed
  const since = performance.now()
  let first = Number.POSITIVE_INFINITY
  let turnedAway = 0
  const reasons = Array.from({ length: 20_000 }, (_, index) => `silent ${index}`)
  const acknowledged: string[] = []
  const all = reasons.map(async (reason, index) => {
    const done = await append(database.store, reason)
    if (done) acknowledged.push(reason)
    else if (performance.now() - since < 5000) turnedAway += 1
    if (index === 0) first = (performance.now() - since) / 1000
  })
  await all[0]
  const heapMegabytes = (memoryInUse().heapUsed - heap) / 1_048_576
  database.proxy.hold(false)
  await Promise.all(all)
  return { turnedAway, firstAnswer: first, heapMegabytes, database, acknowledged }
}

test('acknowledged entries survive when a process on the embedded database is killed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'killed-'))
  const sealingKey = randomBytes(32).toString('base64')
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const acknowledged: string[] = []
  const kills = isLong('faults') ? 8 : 1
  for (let kill = 0; kill < kills; kill += 1) {
    const child = spawn(process.execPath, ['test/faults/fixtures/appending-process.ts', folder, `run ${kill}:`, sealingKey], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const exited = new Promise(resolve => child.once('exit', resolve))
    let lines = 0
    for await (const line of createInterface({ input: child.stdout })) {
      acknowledged.push(line)
      lines += 1
      if (lines === 100) child.kill('SIGKILL')
    }
    await exited
  }
  const { broker: store } = await openStore({
    dataFolder: folder,
    sealingKeys: [new SecretString(sealingKey)],
    clock: systemClock,
    log: silentLog,
  })
  try {
    const verification = await verifyLog(store.audit)
    expect(verification).toMatchObject({ ok: true })
    const there = new Set<string>()
    let count = 0
    for (let after = 0; ; ) {
      const page = await store.audit.list({ after, limit: 1000 })
      for (const { reason } of page) there.add(reason)
      count += page.length
      const last = page.at(-1)
      if (last === undefined) break
      after = last.sequence
    }
    const named = `a process that appends to PGlite is killed (SIGKILL), ${kills} times`
    const lost = acknowledged.filter(reason => !there.has(reason)).length
    await recordLosses(named, lost, count - there.size + (verification.ok ? 0 : 1))
  } finally {
    await store.close()
  }
})

test('while the database is silent, appends are refused within bounds and none is lost', async () => {
  const { turnedAway, firstAnswer, heapMegabytes, database, acknowledged } = await silence
  try {
    const named = 'the line to PostgreSQL is silent; 20,000 appends at once'
    await recordOutcome({
      fault,
      case: named,
      measure: 'turned away at once because too many wait',
      value: turnedAway,
      unit: 'appends',
      atLeast: 5000,
    })
    await recordOutcome({
      fault,
      case: named,
      measure: 'memory that those who wait take',
      value: heapMegabytes,
      unit: 'MB',
      atMost: 100,
    })
    await recordOutcome({
      fault,
      case: named,
      measure: 'until the first that waits has its answer',
      value: firstAnswer,
      unit: 's',
      atMost: 30,
    })
    await recordWhole(named, database, acknowledged)
  } finally {
    await database.stop()
  }
})
