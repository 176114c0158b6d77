// The databases every store test runs on: the embedded one and a real PostgreSQL server. A missing PostgreSQL fails the tests with the
// cure; SEKISHO_TEST_POSTGRES=skip leaves it out, on purpose and visibly.
import { randomBytes } from 'node:crypto'
import { startPostgres, type TestPostgres } from '../../dev/postgres/start-postgres.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLog } from '../../src/lib/log.ts'
import { SecretString } from '../../src/lib/secret-string.ts'
import { openStore, type StoreLocation } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'

export type TestDatabase = {
  /** Where a store of this test file opens; the same place each time. */
  readonly location: StoreLocation
  readonly postgres: TestPostgres | undefined
  readonly stop: () => Promise<void>
}

async function embedded(): Promise<TestDatabase> {
  return { location: { dataFolder: 'memory://' }, postgres: undefined, stop: async () => {} }
}

async function server(): Promise<TestDatabase> {
  const postgres = await startPostgres()
  return { location: { url: postgres.url('postgres') }, postgres, stop: postgres.stop }
}

export const databases: readonly { readonly name: string; readonly start: () => Promise<TestDatabase> }[] = [
  { name: 'PGlite', start: embedded },
  ...(process.env['SEKISHO_TEST_POSTGRES'] === 'skip' ? [] : [{ name: 'PostgreSQL', start: server }]),
]

export const testSealingKeys: readonly SecretString[] = [new SecretString(randomBytes(32).toString('base64'))]

export function openTestStore(location: StoreLocation, clock: Clock = systemClock): Promise<Store> {
  return openStore({ ...location, sealingKeys: testSealingKeys, clock, log: silentLog })
}

/** A clock that a test moves by hand; sleeping waits a real millisecond. */
export function movableClock(start = '2026-01-01T00:00:00.000Z'): Clock & { readonly advance: (seconds: number) => void } {
  let now = Date.parse(start)
  return {
    now: () => new Date(now),
    sleep: () => new Promise(resolve => setTimeout(resolve, 1)),
    advance(seconds) {
      now += seconds * 1000
    },
  }
}
