// Fault 15 in the production form: the controllers as their own role on PostgreSQL, which crashes, is not there at the start,
// accepts no writes, or has taken a right away. Nothing privileged happens meanwhile, the log says why, and the process goes on
// by itself afterwards.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startPostgres, type TestPostgres } from '../../dev/postgres/start-postgres.ts'
import { systemClock } from '../../src/lib/clock.ts'
import type { Log } from '../../src/lib/log.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { verifyLog } from '../../src/store/audit/testing/verify-log.ts'
import { openControllersStore } from '../../src/store/open-store.ts'
import type { ControllersStore } from '../../src/store/store.ts'
import { createProductionDatabase, type ProductionDatabase } from '../fixtures/production-database.ts'
import { type GitHubDesk, openGitHubDesk, startGitHubFixture } from './fixtures/github-desk.ts'
import { recordOutcome } from './outcome.ts'

const fault = 15

let postgres: TestPostgres
let github: Awaited<ReturnType<typeof startGitHubFixture>>
beforeAll(async () => {
  postgres = await startPostgres()
  github = await startGitHubFixture(systemClock)
})
afterAll(async () => {
  await github?.github.stop()
  await postgres?.stop()
})

type Running = {
  readonly database: ProductionDatabase
  readonly store: ControllersStore
  readonly desk: GitHubDesk
  readonly lines: string[]
}

/** The desk on a database of its own, with one token that could be delivered again. */
async function running(): Promise<Running> {
  const database = await createProductionDatabase(postgres)
  onTestFinished(database.close)
  await database.migrate()
  const { log, lines } = recordingLog()
  const store = await openControllersStore(database.options('desk', { log }))
  onTestFinished(store.close)
  const desk = await openGitHubDesk({ ...github, store, clock: systemClock })
  onTestFinished(desk.stop)
  await desk.request('known')
  return { database, store, desk, lines }
}

function recordingLog() {
  const lines: string[] = []
  const log: Log = {
    debug: () => {},
    info: () => {},
    error: (fields, message) => void lines.push(`${message} ${JSON.stringify(fields)}`),
    child: () => log,
  }
  return { log, lines }
}

/** Resolves to the number of calls of GitHub. */
async function recordNothingPrivileged(named: string, desk: GitHubDesk, maxCalls = 0): Promise<number> {
  desk.proxy.takeCount()
  const requests = [desk.request('known'), desk.request(`new-${randomBytes(4).toString('hex')}`)]
  const delivered = (await Promise.allSettled(requests)).filter(({ status }) => status === 'fulfilled').length
  const calls = desk.proxy.takeCount()
  await recordOutcome({ fault, case: named, measure: 'tokens handed out', value: delivered, unit: 'tokens', atMost: 0 })
  await recordOutcome({ fault, case: named, measure: 'calls of GitHub', value: calls, unit: 'calls', atMost: maxCalls })
  return calls
}

async function worksAgain({ store, desk }: Running): Promise<void> {
  await waitUntil('the store to be healthy', () => store.healthy())
  await desk.request('known')
  await desk.request(`new-${randomBytes(4).toString('hex')}`)
  expect(await verifyLog(store.audit)).toMatchObject({ ok: true })
}

describe('PostgreSQL in the production form', () => {
  test('takes the right to append to the log away: named, and nothing is minted', async () => {
    const run = await running()
    await run.database.owner.pool.query('REVOKE INSERT ON audit.entries FROM sekisho_audit')
    await recordNothingPrivileged('the role of the log may not append', run.desk)
    expect(await run.store.healthy()).toBe(false)
    expect(run.lines.at(-1)).toMatch(/sekisho_audit, which lacks INSERT on audit.entries .*migrate-main.ts/)
    await run.database.migrate()
    await worksAgain(run)
  })

  test('takes the right to record a minted token away: none is handed out, and what GitHub made is revoked', async () => {
    const run = await running()
    await run.database.owner.pool.query('REVOKE UPDATE ON desk.tokens FROM sekisho_desk')
    // One request to mint, one to revoke.
    expect(await recordNothingPrivileged('the role of the desk may not record tokens', run.desk, 2)).toBe(2)
    await run.database.migrate()
    await worksAgain(run)
  })

  test('accepts no writes: nothing is minted', async () => {
    const run = await running()
    const { owner, name } = run.database
    await owner.pool.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`)
    await owner.pool.query(
      `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename LIKE 'sekisho%' AND datname = $1`,
      [name],
    )
    await recordNothingPrivileged('the database accepts no writes', run.desk)
    await waitUntil('the store to say that it accepts no writes', async seen =>
      seen((await run.store.healthy()) ? '' : `${run.lines.at(-1)}`).includes('accepts no writes'),
    )
    await owner.pool.query(`ALTER DATABASE ${name} RESET default_transaction_read_only`)
    await worksAgain(run)
  })

  test('crashes under load and is back: what was acknowledged is in the log, and the process goes on', async () => {
    const run = await running()
    const acknowledged: string[] = []
    let ended = false
    const record = (reason: string) =>
      ({ action: 'token.minted', actor: 'test', object: 'Entry', outcome: 'allowed', reason, details: {} }) as const
    const appending = Promise.all(
      Array.from({ length: 8 }, async (_, worker) => {
        for (let count = 0; !ended; count += 1) {
          const reason = `${worker} ${count}`
          await run.store.audit.append(record(reason)).then(
            () => acknowledged.push(reason),
            () => new Promise(resolve => setTimeout(resolve, 20)),
          )
        }
      }),
    )
    await waitUntil('200 acknowledged entries', seen => seen(acknowledged.length) > 200)
    await postgres.crash()
    await recordNothingPrivileged('PostgreSQL has crashed', run.desk)
    // A process that starts now waits, and says for what.
    const { log, lines } = recordingLog()
    const starting = openControllersStore(run.database.options('desk', { log }))
    await waitUntil('the process to say what it waits for', seen =>
      /waiting for the database .*SEKISHO_DATABASE_URL: connect ECONNREFUSED/.test(seen(`${lines[0]}`)),
    )
    const before = acknowledged.length
    await postgres.restart()
    await waitUntil('entries after the crash', seen => seen(acknowledged.length) > before)
    ended = true
    await appending
    const started = await starting
    onTestFinished(started.close)
    expect(await started.healthy()).toBe(true)
    const kept = new Set<string>()
    for (let after = 0; ; ) {
      const page = await started.audit.list({ after, limit: 1000 })
      for (const { reason } of page) kept.add(reason)
      const last = page.at(-1)
      if (last === undefined) break
      after = last.sequence
    }
    const lost = acknowledged.filter(reason => !kept.has(reason)).length
    await recordOutcome({
      fault,
      case: 'PostgreSQL crashes under load',
      measure: 'acknowledged entries that are lost',
      value: lost,
      unit: 'entries',
      atMost: 0,
    })
    await worksAgain(run)
  })
})
