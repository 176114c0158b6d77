// A database whose files take too long to count: the others are measured all the same.
import pg from 'pg'
import { expect, test } from 'vitest'
import { measure } from './instances.ts'
import type { Server } from './server.ts'

const canceled = Object.assign(new pg.DatabaseError('canceling statement due to statement timeout', 0, 'error'), {
  code: '57014',
})

function serverWith(refuse: (ids: readonly string[]) => unknown): Pick<Server, 'asAdministrator'> {
  const session = {
    async query(_sql: string, [ids]: readonly unknown[] = []) {
      if (ids === undefined) return []
      const error = refuse(ids as readonly string[])
      if (error !== undefined) throw error
      return (ids as readonly string[]).map(name => ({ name, bytes: '7' }))
    },
  }
  return { asAdministrator: work => work(session as never) }
}

test('each is measured alone when all together take too long, and only what takes too long itself is left out', async () => {
  const server = serverWith(ids => (ids.includes('full') ? canceled : undefined))
  const sizes = await measure(server as Server, ['one', 'full', 'two'])
  expect(sizes).toEqual(
    new Map([
      ['one', 7],
      ['two', 7],
    ]),
  )
})

test('a server that refuses for another reason is not asked again', async () => {
  const refused = Object.assign(new pg.DatabaseError('no', 0, 'error'), { code: '42501' })
  await expect(measure(serverWith(() => refused) as Server, ['one'])).rejects.toBe(refused)
})
