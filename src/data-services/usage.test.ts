import { expect, test } from 'vitest'
import { systemClock } from '../lib/clock.ts'
import type { Server, Session } from './adapters/postgresql/server.ts'
import { databaseError } from './adapters/postgresql/testing/database-error.ts'
import type { OpenDatabases } from './providers/provider.ts'
import type { Servers } from './servers.ts'
import { createUsage } from './usage.ts'

/** A server on which each measurement answers what comes next. */
function measuring(...answers: readonly (Error | readonly { name: string; bytes: string }[])[]) {
  const statements: string[] = []
  const left = [...answers]
  const query = async (sql: string): Promise<readonly unknown[]> => {
    statements.push(sql)
    const answer = sql.includes('pg_database_size') ? left.shift() : []
    if (answer instanceof Error) throw answer
    return answer ?? []
  }
  const server: Pick<Server, 'asAdministrator'> = { asAdministrator: work => work({ query: query as Session['query'] }) }
  const opened = { type: 'postgresql', server, host: 'h', port: 5432, tls: undefined } as OpenDatabases
  const of = (() => opened) as Servers['of']
  return { statements, usage: createUsage({ servers: { of }, instancesOf: () => [], clock: systemClock }) }
}

test('a size that the server does not say is unknown, and asked for again; said, it holds for a minute', async () => {
  // The second measurement takes too long for all together, and not for each.
  const { usage, statements } = measuring(databaseError('58P01'), databaseError('57014'), [{ name: 's', bytes: '7' }])
  expect(await usage('c', 's')).toBeUndefined()
  expect(await usage('c', 's')).toBe(7)
  expect(await usage('c', 's')).toBe(7)
  expect(statements.filter(sql => sql.includes('pg_database_size'))).toHaveLength(3)
  expect(statements.slice(0, 2)).toEqual(['BEGIN', 'SET LOCAL statement_timeout = 5000'])
})

test('what is no trouble of a server is a defect, and said', async () => {
  await expect(measuring(new TypeError('a defect')).usage('c', 's')).rejects.toThrow('a defect')
})
