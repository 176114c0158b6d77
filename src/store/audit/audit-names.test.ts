// Names that entries give to ids, on a real store, from records of the form that the controllers and the broker write.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { movableClock, openTestStore, type TestStore } from '../../../test/fixtures/databases.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import { openEmbedded } from '../database/database.ts'
import { migrate } from '../database/migrate.ts'
import { createAuditLog } from './audit-log.ts'
import { readNames } from './audit-names.ts'

let store: TestStore
beforeAll(async () => {
  store = await openTestStore({ dataFolder: 'memory://' }, movableClock())
  const base = { namespace: 'acme', object: 'o', outcome: 'allowed', reason: 'r' } as const
  const dave = 'github|github.com|1002'
  const repositories = [{ id: 4001, fullName: 'acme/shop' }]
  await store.audit.append({ ...base, action: 'tenant.onboarded', actor: dave, details: { repositories: 'All', login: 'dave' } })
  await store.audit.append({
    ...base,
    action: 'grant.decided',
    actor: dave,
    details: { repositories, person: dave, login: 'dave' },
  })
  await store.audit.append({
    ...base,
    action: 'token.minted',
    actor: 'sekisho:remote-sync',
    details: { repositories, person: dave, login: 'dave' },
  })
  const renamed = [{ id: 4001, fullName: 'acme/store' }]
  await store.audit.append({
    ...base,
    namespace: 'globex',
    action: 'grant.decided',
    actor: dave,
    details: { repositories: renamed },
  })
})
afterAll(() => store?.close())

test('repositories by every name that they had, in a namespace only by those there', async () => {
  const named = async (namespace?: string) =>
    (await store.audit.names('repository', namespace)).map(({ id, name }) => `${id} ${name}`).toSorted()
  expect(await named()).toEqual(['4001 acme/shop', '4001 acme/store'])
  expect(await named('acme')).toEqual(['4001 acme/shop'])
})

test('people by their logins, also where the platform acted in their name', async () => {
  expect(await store.audit.names('person', undefined)).toEqual([{ id: 'github|github.com|1002', name: 'dave' }])
})

test('those of a namespace however many entries others have since; without one only the newest of all', async () => {
  const database = await openEmbedded('memory://', silentLog)
  onTestFinished(database.close)
  await migrate(database.pool, silentLog)
  const audit = createAuditLog({ pool: database.pool, clock: movableClock(), log: silentLog })
  const base = { action: 'grant.decided', actor: 'a', object: 'o', outcome: 'allowed', reason: 'r' } as const
  const of = (namespace: string, id: number) =>
    audit.append({ ...base, namespace, details: { repositories: [{ id, fullName: `${namespace}/shop` }] } })
  await of('acme', 4001)
  for (let count = 0; count < 5; count += 1) await of('globex', 4003)
  const names = (namespace?: string) => readNames(database.pool, 'repository', namespace, 3)
  expect(await names('acme')).toEqual([{ id: '4001', name: 'acme/shop' }])
  expect(await names()).toEqual([{ id: '4003', name: 'globex/shop' }])
})
