import { expect, test } from 'vitest'
import { lookAt, measureEach } from './look.ts'
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
    { id: 'one', bytes: '7', ...found },
    { id: 'two', bytes: null, ...found },
  ]
  const { server, asked } = answering([{ ...facts, databases, logins: ['l'] }])
  expect(await lookAt(server, ['one', 'two'])).toEqual({
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
  const again = { ...facts, databases: [{ id: 'one', bytes: null, ...found }], logins: [] }
  const { server, asked } = answering(databaseError(code), [again])
  expect(await lookAt(server, ['one'])).toMatchObject({ databases: new Map([['one', found]]), sizes: undefined })
  expect(asked.map(sql => sql.includes('pg_database_size'))).toEqual([true, false])
})

test('a server that refuses for another reason is not asked again', async () => {
  const refused = databaseError('42501')
  const { server, asked } = answering(refused)
  await expect(lookAt(server, [])).rejects.toBe(refused)
  await expect(measureEach(answering(refused).server, ['one'])).rejects.toBe(refused)
  expect(asked).toHaveLength(1)
})

test('more than one answer may have is no look', async () => {
  const logins = Array.from({ length: 40_001 }, (_, n) => `l_${n}`)
  expect(await lookAt(answering([{ ...facts, databases: [], logins }]).server, [])).toBeUndefined()
  expect(await lookAt(answering([{ ...facts, databases: [], logins: logins.slice(1) }]).server, [])).toBeDefined()
  const { server, asked } = answering()
  expect(
    await lookAt(
      server,
      Array.from({ length: 10_001 }, (_, n) => `s${n}`),
    ),
  ).toBeUndefined()
  expect(asked).toEqual([])
})

test('each is measured alone, and only what takes too long itself is left out', async () => {
  const { server } = answering([{ bytes: '7' }], databaseError('57014'), [], [{ bytes: '8' }])
  expect(await measureEach(server, ['one', 'full', 'absent', 'two'])).toEqual(
    new Map([
      ['one', 7],
      ['two', 8],
    ]),
  )
})
