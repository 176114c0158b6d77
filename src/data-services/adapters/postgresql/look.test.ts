import { expect, test } from 'vitest'
import { lookAt, measure } from './look.ts'
import type { Server, Session } from './server.ts'
import { databaseError } from './testing/database-error.ts'

/** A server on which each statement answers what comes next; `asked` are the statements without those of transactions. */
function answering(...answers: readonly (Error | readonly object[])[]) {
  const asked: string[] = []
  const left = [...answers]
  const query = async (sql: string): Promise<readonly unknown[]> => {
    if (/^(BEGIN|COMMIT|SET)/.test(sql)) return []
    asked.push(sql)
    const answer = left.shift()
    if (answer instanceof Error) throw answer
    return answer ?? []
  }
  const as: Server['asLook'] = work => work({ query: query as Session['query'] })
  return { server: { asLook: as, asAdministrator: as } as Server, asked }
}

const facts = { version: '15.9', versionNumber: 150_009, isSuperuser: true, acceptsWrites: true, open: [] }
const found = { own: true, mark: 'sekisho', connectionLimit: 10, isOpen: false }

test('one statement says all; a database that was dropped meanwhile has no size', async () => {
  const databases = [
    { name: 'one', bytes: '7', ...found },
    { name: 'two', bytes: null, ...found },
  ]
  const { server, asked } = answering([{ ...facts, databases, logins: ['l'] }])
  expect(await lookAt(server, { ids: ['one', 'two'], withSizes: true })).toEqual({
    server: facts,
    databases: new Map([
      ['one', found],
      ['two', found],
    ]),
    logins: new Set(['l']),
    sizes: new Map([['one', 7]]),
  })
  expect(asked).toHaveLength(1)
})

test.each([
  ['takes too long', '57014'],
  ['fails', '58P01'],
])('counting files that %s keeps sizes from being said, and nothing else', async (_, code) => {
  const again = { ...facts, databases: [{ name: 'one', bytes: null, ...found }], logins: [] }
  const { server, asked } = answering(databaseError(code), [again], [again])
  const without = { databases: new Map([['one', found]]), sizes: undefined }
  expect(await lookAt(server, { ids: ['one'], withSizes: true })).toMatchObject(without)
  expect(await lookAt(server, { ids: ['one'], withSizes: false })).toMatchObject(without)
  expect(asked.map(sql => sql.includes('pg_database_size'))).toEqual([true, false, false])
})

test('a server that refuses for another reason is not asked again', async () => {
  const refused = databaseError('42501')
  const { server, asked } = answering(refused)
  await expect(lookAt(server, { ids: [], withSizes: true })).rejects.toBe(refused)
  await expect(measure(answering(refused).server, ['one'])).rejects.toBe(refused)
  expect(asked).toHaveLength(1)
})

test('more than one answer may have is no look', async () => {
  const logins = Array.from({ length: 40_001 }, (_, n) => `l_${n}`)
  const lookFinding = (found: readonly string[]) =>
    lookAt(answering([{ ...facts, databases: [], logins: found }]).server, { ids: [], withSizes: true })
  expect(await lookFinding(logins)).toBeUndefined()
  expect(await lookFinding(logins.slice(1))).toBeDefined()
  const { server, asked } = answering()
  const ids = Array.from({ length: 10_001 }, (_, n) => `s${n}`)
  expect(await lookAt(server, { ids, withSizes: true })).toBeUndefined()
  expect(asked).toEqual([])
})

test('each is measured alone when all together take too long, and only what takes too long itself is left out', async () => {
  const tooLong = databaseError('57014')
  const { server } = answering(tooLong, [{ name: 'one', bytes: '7' }], tooLong, [], [{ name: 'two', bytes: '8' }])
  expect(await measure(server, ['one', 'full', 'absent', 'two'])).toEqual(
    new Map([
      ['one', 7],
      ['two', 8],
    ]),
  )
})
