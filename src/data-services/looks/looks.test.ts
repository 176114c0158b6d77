import { expect, test } from 'vitest'
import { createFakeClock } from '../../lib/testing/fake-clock.ts'
import { createChanges } from '../adapters/postgresql/changes.ts'
import type { Server, Session } from '../adapters/postgresql/server.ts'
import { databaseError } from '../adapters/postgresql/testing/database-error.ts'
import type { OpenDatabases } from '../providers/provider.ts'
import type { Servers } from '../servers.ts'
import { createLooks } from './looks.ts'

const minute = 60_000
const facts = { version: '15.9', versionNumber: 150_009, isSuperuser: true, acceptsWrites: true, open: [] }
const found = { own: true, mark: 'sekisho', connectionLimit: 10, isOpen: false, writes: 'allowed' }

/** A server with the database `s` of seven bytes, and the login `l`. Looks reject with what `failures` has, one each. */
function looking(...failures: readonly (Error | undefined)[]) {
  const asked: (readonly string[])[] = []
  const sizesAsked: boolean[] = []
  const left = [...failures]
  const query = async (sql: string, [ids]: readonly unknown[] = []): Promise<readonly unknown[]> => {
    if (/^(BEGIN|COMMIT|SET)/.test(sql)) return []
    asked.push(ids as readonly string[])
    sizesAsked.push(sql.includes('pg_database_size'))
    const failure = left.shift()
    if (failure !== undefined) throw failure
    const size = { name: 's', bytes: '7' }
    // To the question for all, and to the one for sizes.
    return [{ ...facts, ...size, databases: [{ ...size, ...found }], logins: ['l'] }]
  }
  const changes = createChanges()
  const asLook: Server['asLook'] = work => work({ query: query as Session['query'] })
  const openServer = () =>
    ({ type: 'postgresql', server: { asLook, asAdministrator: asLook, changes } }) as unknown as OpenDatabases
  const opened = { server: openServer() as OpenDatabases | undefined }
  const clock = createFakeClock()
  const classes = { c: 's' } as Record<string, string>
  const instancesOf = (name: string) => [{ status: { externalId: classes[name] } }] as never
  const every = () => Object.keys(classes).map(name => [name, opened.server])
  const servers = { of: () => opened.server, every } as unknown as Pick<Servers, 'of' | 'every'>
  const looks = createLooks({ servers, instancesOf, clock })
  return { ...looks, classes, asked, sizesAsked, changes, clock, opened, openServer }
}

test('one look a minute serves whoever asks, also those who ask at once, and sizes', async () => {
  const { at, bytesOf, asked, clock } = looking()
  const [first, second] = await Promise.all([at('c'), at('c')])
  expect(first?.database('s')).toEqual(found)
  expect([second?.mayLogIn('l'), second?.mayLogIn('other')]).toEqual([true, false])
  expect([await bytesOf('c', 's'), await bytesOf('c', 'other')]).toEqual([7, undefined])
  await clock.advance(minute - 1)
  expect((await at('c'))?.restMilliseconds).toBe(1)
  expect(asked).toEqual([['s']])
  await clock.advance(1)
  expect((await at('c'))?.restMilliseconds).toBe(minute)
  expect(asked).toHaveLength(2)
})

test('what this process changed since before the look began is asked for, until the next look', async () => {
  const { at, changes, clock } = looking()
  const under = at('c')
  changes.note(['s'])
  const seen = await under
  expect([seen?.database('s'), seen?.mayLogIn('l')]).toEqual([undefined, true])
  changes.note(['l'])
  expect((await at('c'))?.mayLogIn('l')).toBeUndefined()
  await clock.advance(minute)
  const next = await at('c')
  expect([next?.database('s'), next?.mayLogIn('l')]).toEqual([found, true])
})

test('where sizes took too long, they are asked for by themselves for ten minutes, and nothing waits for them', async () => {
  const { at, bytesOf, sizesAsked, clock } = looking(databaseError('57014'))
  expect((await at('c'))?.mayLogIn('l')).toBe(true)
  expect(sizesAsked).toEqual([true, false])
  expect(await bytesOf('c', 's')).toBe(7)
  await clock.advance(minute)
  expect((await at('c'))?.mayLogIn('l')).toBe(true)
  expect(await bytesOf('c', 's')).toBe(7)
  expect(sizesAsked).toEqual([true, false, true, false, true])
  await clock.advance(9 * minute)
  await at('c')
  await clock.advance(minute)
  expect(await bytesOf('c', 's')).toBe(7)
  expect(sizesAsked.slice(5)).toEqual([true, true])
})

test('a look that failed is none, and the server is looked at again after ten seconds', async () => {
  const { at, bytesOf, asked, clock } = looking(databaseError('42501'))
  expect([await at('c'), await bytesOf('c', 's')]).toEqual([undefined, undefined])
  await clock.advance(10_000 - 1)
  expect(await at('c')).toBeUndefined()
  expect(asked).toHaveLength(1)
  await clock.advance(1)
  expect((await at('c'))?.mayLogIn('l')).toBe(true)
})

test('what is not a failure of a server is a defect, and rejects', async () => {
  const { at, bytesOf } = looking(new TypeError('a defect'))
  await expect(at('c')).rejects.toThrow('a defect')
  await expect(bytesOf('c', 's')).rejects.toThrow('a defect')
})

test('another connection has a look of its own, and a class that is not open none', async () => {
  const { at, asked, opened, openServer } = looking()
  await at('c')
  opened.server = openServer()
  await at('c')
  expect(asked).toHaveLength(2)
  opened.server = undefined
  expect(await at('c')).toBeUndefined()
  expect(asked).toHaveLength(2)
})

test('two classes of one server have one look, which each hears of', async () => {
  const { at, onLook, asked, classes } = looking()
  classes['d'] = 't'
  const told: string[] = []
  onLook(serviceClass => told.push(serviceClass))
  await Promise.all([at('c'), at('d')])
  expect(asked).toEqual([['s', 't']])
  expect(told).toEqual(['c', 'd'])
})

test('each look is told to who listens', async () => {
  const { at, onLook, clock } = looking(undefined, databaseError('42501'))
  const told: unknown[] = []
  onLook((serviceClass, seen) => told.push([serviceClass, seen.mayLogIn('l')]))
  await at('c')
  await clock.advance(minute)
  await at('c')
  expect(told).toEqual([['c', true]])
})
