import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { databases, openTestStore, type TestDatabase, type TestStore, testSealingKeys } from '../../test/fixtures/databases.ts'
import { systemClock } from '../lib/clock.ts'
import { SecretString } from '../lib/secret-string.ts'
import { silentLog } from '../lib/testing/silent-log.ts'
import { holdDataFolder } from './database/data-folder-lock.ts'
import { readMigrations } from './database/migrate.ts'
import { openStore } from './open-store.ts'

const intent = {
  cacheKey: 'k',
  installation: { host: 'github.localhost', appId: 1, installationId: 2 },
  api: 'https://api.github.example',
  grantUid: 'g',
  grantName: 'read-shop',
  subject: { kind: 'ServiceAccount', namespace: 'acme', name: 'runner', uid: 'u' },
  repositoryIds: [1],
  permissions: { contents: 'read' },
}
const plainTexts = [
  'ghs_plain-token-value',
  'ghu_plain-token-value',
  'ghr_plain-token-value',
  'plain-verifier',
  'plain-payload',
  'plain-key',
]

/** Stores one of every kind of secret; resolves to the handles. */
async function fill(store: TestStore): Promise<readonly string[]> {
  const expiresAt = new Date(Date.now() + 600_000)
  const token = (index: number): SecretString => new SecretString(plainTexts[index] ?? '')
  const id = await store.tokens.intend(intent)
  await store.tokens.recordMinted(id, { token: token(0), expiresAt, repositoryIds: [1], permissions: {} })
  await store.users.save({ host: 'h', userId: 1, login: 'x', accessToken: token(1), refreshToken: token(2), groups: [] })
  const state = await store.sessions.createLoginState({ data: { v: 'plain-verifier' }, expiresAt })
  const session = await store.sessions.create({ host: 'h', userId: 1, login: 'x', data: { csrf: 'plain-verifier' }, expiresAt })
  await store.oidc.upsert({ model: 'RefreshToken', id: 'plain-handle-of-oidc', payload: { a: 'plain-payload' }, expiresAt })
  await store.keys.getOrCreate('k', async () => new SecretString('plain-key'))
  return [state.reveal(), session.reveal(), 'plain-handle-of-oidc']
}

describe.each(databases)('what $name stores', ({ start }) => {
  let place: TestDatabase
  beforeAll(async () => {
    place = await start()
  })
  afterAll(() => place?.stop())

  test('holds no secret and no handle in the clear, in any column of any table', async () => {
    const { connectServer, openEmbedded } = await import('./database/database.ts')
    const folder = mkdtempSync(join(tmpdir(), 'sekisho-store-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const { url } = place.location
    const location = url === undefined ? { dataFolder: folder } : { url }
    const store = await openTestStore(location)
    const handles = await fill(store)
    await store.close()
    const database = url === undefined ? await openEmbedded(folder, silentLog) : connectServer(url, silentLog)
    const tables = await database.pool.query<{ name: string }>(
      `SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
       WHERE table_schema IN ('broker', 'desk', 'audit', 'builds')`,
    )
    let text = ''
    for (const { name } of tables.rows) text += JSON.stringify((await database.pool.query(`SELECT t::text FROM ${name} t`)).rows)
    await database.close()
    expect(text).toContain('read-shop')
    for (const plain of [...plainTexts, ...handles]) expect(text).not.toContain(plain)
  })
})

describe('the embedded store', () => {
  function temporaryFolder(): string {
    const folder = mkdtempSync(join(tmpdir(), 'sekisho-store-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    return folder
  }

  test('finds everything after a restart, and refuses a second process and a wrong key', async () => {
    const dataFolder = temporaryFolder()
    const first = await openTestStore({ dataFolder })
    await fill(first)
    await expect(openTestStore({ dataFolder })).rejects.toThrow('another process uses the data folder')
    await first.close()
    const second = await openTestStore({ dataFolder })
    expect((await second.tokens.findLive('k', 0))?.token.reveal()).toBe('ghs_plain-token-value')
    await second.close()
    const wrongKey = new SecretString(Buffer.alloc(32, 9).toString('base64'))
    const opening = openStore({ dataFolder, sealingKeys: [wrongKey], clock: systemClock, log: silentLog })
    await expect(opening).rejects.toThrow('SEKISHO_SEALING_KEYS does not open what is stored in schema broker')
    const third = await openStore({
      dataFolder,
      sealingKeys: [wrongKey, ...testSealingKeys],
      clock: systemClock,
      log: silentLog,
    })
    expect(await third.controllers.tokens.findLive('k', 0)).toBeDefined()
    await third.close()
  })

  test('takes over the lock of a killed process', async () => {
    const folder = temporaryFolder()
    const script = `const net=require('net');net.createServer().listen(${JSON.stringify(join(folder, 'in-use.sock'))},()=>process.kill(process.pid,'SIGKILL'))`
    expect(() => execFileSync(process.execPath, ['-e', script], { stdio: 'ignore' })).toThrow()
    expect(readdirSync(folder)).toEqual(['in-use.sock'])
    const release = await holdDataFolder(folder)
    await expect(holdDataFolder(folder)).rejects.toThrow('another process')
    await release()
    await (await holdDataFolder(folder))()
  })
})

describe.each(databases.filter(({ name }) => name === 'PostgreSQL'))('the roles of deploy/postgres on $name', ({ start }) => {
  let place: TestDatabase
  const passwords = { broker: 'b-password', desk: 'd-password', audit: 'a-password' }
  const urlFor = (role: keyof typeof passwords): SecretString => {
    const url = place.postgres?.url('postgres', { name: `sekisho_${role}`, password: passwords[role] })
    if (url === undefined) throw new Error('this test needs a server')
    return url
  }
  beforeAll(async () => {
    place = await start()
    const owner = await openTestStore(place.location)
    await owner.audit.append({ action: 'token.minted', actor: 'x', object: 'y', outcome: 'allowed', reason: 'z', details: {} })
    await owner.close()
    const variables = Object.entries(passwords).flatMap(([role, password]) => ['-v', `${role}_password=${password}`])
    const file = join(import.meta.dirname, '../../deploy/postgres/roles.sql')
    for (const _twice of [1, 2]) execFileSync('psql', [place.location.url?.reveal() ?? '', '-q', ...variables, '-f', file])
  })
  afterAll(() => place?.stop())

  test('of broker and desk together are enough for the platform’s process', async () => {
    execFileSync('psql', [place.location.url?.reveal() ?? '', '-q', '-c', "CREATE ROLE sekisho LOGIN PASSWORD 'p'"])
    execFileSync('psql', [place.location.url?.reveal() ?? '', '-q', '-c', 'GRANT sekisho_broker, sekisho_desk TO sekisho'])
    const url = place.postgres?.url('postgres', { name: 'sekisho', password: 'p' })
    if (url === undefined) throw new Error('this test needs a server')
    const store = await openTestStore({ url, auditUrl: urlFor('audit') })
    await store.tokens.intendWithin({ ...intent, cacheKey: 'k2' }, { limit: 10, since: new Date(0) })
    await fill(store)
    expect(await store.inbox.claim(1)).toEqual([])
    await store.audit.append({ action: 'token.intended', actor: 'x', object: 'y', outcome: 'allowed', reason: 'z', details: {} })
    await store.close()
  })
})

describe('the generated client', () => {
  test('is not committed, and the migration names every table of the schema', () => {
    const root = join(import.meta.dirname, '../..')
    const schema = readFileSync(join(root, 'prisma/schema.prisma'), 'utf8')
    const sql = readMigrations()
      .map(migration => migration.sql)
      .join('\n')
    const tables = [...schema.matchAll(/@@map\("(\w+)"\)\s+@@schema\("(\w+)"\)/g)].map(
      ([, table, name]) => `"${name}"."${table}"`,
    )
    expect(tables).toHaveLength(15)
    for (const table of tables) expect(sql).toContain(`CREATE TABLE ${table}`)
  })
})
