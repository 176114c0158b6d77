// Rotation of the sealing key on real databases: nothing is lost, whatever happens in between, and afterwards the former key is
// not needed.
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { databases, movableClock, type TestDatabase } from '../../../test/fixtures/databases.ts'
import { SecretString } from '../../lib/secret-string.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import { connectServer, type Database, openEmbedded } from '../database/database.ts'
import { migrate } from '../database/migrate.ts'
import { createOidcRecords } from '../oidc-records.ts'
import { createPlatformKeys } from '../platform-keys.ts'
import { createSealer } from '../seal.ts'
import { createSessions } from '../sessions.ts'
import { createTokenRegistry } from '../token-registry.ts'
import { createUsers } from '../users.ts'
import { createResealing } from './resealing.ts'
import { brokerSealedColumns, deskSealedColumns, sealPurposes } from './sealed-columns.ts'

const newKey = (): SecretString => new SecretString(randomBytes(32).toString('base64'))
const columns = [...brokerSealedColumns, ...deskSealedColumns]
const never = new AbortController().signal
const clock = movableClock()
const later = (): Date => new Date(clock.now().getTime() + 3_600_000)

test('every column of the schema that holds sealed values is in the list', () => {
  const schema = readFileSync(join(import.meta.dirname, '../../../prisma/schema.prisma'), 'utf8')
  const inSchema = schema.split(/^model /m).flatMap(model => {
    const [, table] = /@@map\("(\w+)"\)/.exec(model) ?? []
    const [, group] = /@@schema\("(\w+)"\)/.exec(model) ?? []
    return [...model.matchAll(/^ {2}(sealed\w*)\s.*?(?:@map\("(\w+)"\))?$/gm)].map(
      ([, field, column]) => `${group}.${table}.${column ?? field}`,
    )
  })
  expect(columns.map(({ table, column }) => `${table}.${column}`).sort()).toEqual(inSchema.sort())
})

describe.each(databases)('sealing again on $name', ({ start }) => {
  let place: TestDatabase
  let database: Database
  beforeAll(async () => {
    place = await start()
    database =
      place.location.url === undefined ? await openEmbedded('memory://', silentLog) : connectServer(place.location.url, silentLog)
    await migrate(database.pool, silentLog)
  })
  afterAll(async () => {
    await database?.close()
    await place?.stop()
  })

  const repositories = (sealingKeys: readonly SecretString[]) => {
    const { prisma } = database
    const sealer = (purpose: keyof typeof sealPurposes) => createSealer(sealingKeys, sealPurposes[purpose])
    const leases = { withLease: <T>(_name: string, _options: object, work: () => Promise<T>) => work() }
    return {
      sessions: createSessions({ prisma, sealer: sealer('sessions'), clock }),
      oidc: createOidcRecords({ prisma, sealer: sealer('oidc'), clock }),
      users: createUsers({ prisma, sealer: sealer('users'), clock, leases }),
      keys: createPlatformKeys({ rows: prisma.platformKeyRow, sealer: sealer('keys'), clock }),
      deskKeys: createPlatformKeys({ rows: prisma.deskKeyRow, sealer: sealer('keys'), clock }),
      tokens: createTokenRegistry({ prisma, sealer: sealer('tokens'), clock }),
      resealing: createResealing({ prisma, sealingKeys, columns }),
    }
  }
  const empty = async (): Promise<void> => {
    for (const table of new Set(columns.map(column => column.table))) await database.pool.query(`DELETE FROM ${table}`)
  }

  /** One value of each column, and how to find all of them with other repositories. */
  async function oneOfEach(store: ReturnType<typeof repositories>) {
    const state = await store.sessions.createLoginState({ data: { verifier: 'v' }, expiresAt: later() })
    await store.sessions.useOnce('state', later())
    const session = await store.sessions.create({ host: 'h', userId: 1, login: 'x', expiresAt: later(), data: { csrf: 'c' } })
    await store.oidc.upsert({ model: 'RefreshToken', id: 'r', payload: { a: 1 }, expiresAt: later() })
    await store.users.save({
      host: 'h',
      userId: 1,
      login: 'x',
      groups: [],
      accessToken: new SecretString('access'),
      refreshToken: new SecretString('refresh'),
    })
    const make = async (): Promise<SecretString> => new SecretString('key')
    await store.keys.getOrCreate('name', make)
    await store.deskKeys.getOrCreate('name', async () => new SecretString('desk key'))
    const id = await store.tokens.intend({
      cacheKey: 'c',
      installation: { host: 'h', appId: 1, installationId: 2 },
      api: 'https://h',
      grantUid: 'g',
      grantName: 'g',
      subject: { kind: 'ServiceAccount', namespace: 'acme', name: 'n', uid: 'u' },
      repositoryIds: [1],
      permissions: {},
    })
    await store.tokens.recordMinted(id, {
      token: new SecretString('token'),
      expiresAt: later(),
      repositoryIds: [1],
      permissions: {},
    })
    return async (read: ReturnType<typeof repositories>) => {
      const user = await read.users.find('h', 1)
      return [
        (await read.sessions.find(session.reveal()))?.data,
        (await read.oidc.find('RefreshToken', 'r'))?.payload,
        user?.accessToken.reveal(),
        user?.refreshToken?.reveal(),
        (await read.keys.getOrCreate('name', () => expect.unreachable())).reveal(),
        (await read.deskKeys.getOrCreate('name', () => expect.unreachable())).reveal(),
        (await read.tokens.findLive('c', 60))?.token.reveal(),
        await read.sessions.takeLoginState(state.reveal()),
      ]
    }
  }
  const everything = [{ csrf: 'c' }, { a: 1 }, 'access', 'refresh', 'key', 'desk key', 'token', { verifier: 'v' }]

  test('every kind of value opens with the new key alone afterwards, and the counts say so', async () => {
    await empty()
    const [former, next] = [newKey(), newKey()]
    const readAll = await oneOfEach(repositories([former]))
    const rotating = repositories([next, former])
    const before = await rotating.resealing.count()
    expect(before.columns.map(({ rows }) => rows)).toEqual(columns.map(() => [0, 1]))
    expect(await rotating.resealing.run(never)).toEqual({ resealed: columns.length, unreadable: 0 })
    expect((await rotating.resealing.count()).columns.map(({ rows }) => rows)).toEqual(columns.map(() => [1, 0]))
    expect(await rotating.resealing.run(never)).toEqual({ resealed: 0, unreadable: 0 })
    expect(await readAll(repositories([next]))).toEqual(everything)
  })

  test('what no key of the keyring sealed is counted and stays as it is', async () => {
    await empty()
    const [lost, next, former] = [newKey(), newKey(), newKey()]
    const readAll = await oneOfEach(repositories([lost]))
    const rotating = repositories([next, former])
    expect(await rotating.resealing.run(never)).toEqual({ resealed: 0, unreadable: columns.length })
    expect((await rotating.resealing.count()).columns.map(({ unknownKey }) => unknownKey)).toEqual(columns.map(() => 1))
    expect(await readAll(repositories([next, former, lost]))).toEqual(everything)
  })

  test('10,000 rows: ended again and again in the middle, while others write, it completes', async () => {
    await empty()
    const [former, next] = [newKey(), newKey()]
    const old = createSealer([former], sealPurposes.oidc)
    const rows = Array.from({ length: 10_000 }, (_, index) => {
      const id = String(index).padStart(64, '0')
      return {
        model: index % 2 === 0 ? 'Grant' : 'Session',
        id,
        sealed: old.seal(new SecretString(`{"n":${index}}`), `oidc:${index % 2 === 0 ? 'Grant' : 'Session'}:${id}`),
      }
    })
    await database.pool.query(
      `INSERT INTO broker.oidc_records (model, id_hash, sealed_payload)
       SELECT model, id, sealed FROM json_to_recordset($1::json) AS row(model text, id text, sealed text)`,
      [JSON.stringify(rows)],
    )
    // A replica that still seals with the former key replaces records meanwhile.
    const other = repositories([former, next]).oidc
    const { resealing } = repositories([next, former])
    let [runs, resealed] = [0, 0]
    for (; runs < 200; runs += 1) {
      const ending = new AbortController()
      const writing = other.upsert({ model: 'Session', id: `other-${runs % 7}`, payload: { run: runs }, expiresAt: later() })
      const timer = setTimeout(() => ending.abort(), 30)
      resealed += (await resealing.run(ending.signal)).resealed
      clearTimeout(timer)
      await writing
      const [column] = (await resealing.count()).columns.filter(({ name }) => name === 'records of the OIDC issuer')
      if (runs > 3 && column?.rows[1] === 0) break
    }
    await resealing.run(never)
    expect(runs).toBeGreaterThan(3)
    expect(resealed).toBeGreaterThanOrEqual(10_000)
    const reader = createSealer([next], sealPurposes.oidc)
    const { rows: found } = await database.pool.query<{ model: string; id: string; sealed: string }>(
      'SELECT model, id_hash AS id, sealed_payload AS sealed FROM broker.oidc_records',
    )
    expect(found.length).toBe(10_000 + Math.min(7, runs + 1))
    for (const { model, id, sealed } of found) reader.open(sealed, `oidc:${model}:${id}`)
    expect(await repositories([next]).oidc.find('Session', 'other-0')).toBeDefined()
  })

  test('a value that another process replaced after it was read is left to that process', async () => {
    await empty()
    const [former, next] = [newKey(), newKey()]
    const slow = repositories([next, former])
    const readAll = await oneOfEach(repositories([former]))
    const race = createResealing({
      prisma: new Proxy(database.prisma, {
        get(target, name) {
          const value: unknown = Reflect.get(target, name)
          if (name !== '$executeRawUnsafe') return value
          return async (...sent: [string, string]) => {
            await repositories([former]).users.save({
              host: 'h',
              userId: 1,
              login: 'x',
              groups: [],
              accessToken: new SecretString('newer'),
              refreshToken: new SecretString('newer refresh'),
            })
            return target.$executeRawUnsafe(...sent)
          }
        },
      }),
      sealingKeys: [next, former],
      columns: columns.filter(({ table }) => table === 'broker.users'),
    })
    expect(await race.run(never)).toEqual({ resealed: 0, unreadable: 0 })
    expect(await slow.resealing.run(never)).toMatchObject({ resealed: columns.length })
    expect(await readAll(repositories([next]))).toEqual(everything.with(2, 'newer').with(3, 'newer refresh'))
  })
})
