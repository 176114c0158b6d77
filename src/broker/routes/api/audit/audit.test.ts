// Streams, names and times of the audit log, over a real store: who reads what, and that nothing is lost between pages.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { movableClock, openTestStore, type TestStore } from '../../../../../test/fixtures/databases.ts'
import { AppError } from '../../../../lib/errors.ts'
import { listen, type WebServer } from '../../../../web/server.ts'
import { createAuditServer } from './testing/audit-server.ts'

const clock = movableClock()
const count = 1100
let store: TestStore
let server: WebServer
let port: number
let rbac: 'answers' | 'refuses' | 'is away' = 'answers'
beforeAll(async () => {
  store = await openTestStore({ dataFolder: 'memory://' }, clock)
  const record = { actor: 'github|github.com|42', object: 'x', outcome: 'allowed', reason: 'r' } as const
  const minted = Array.from({ length: count }, () => store.audit.append({ ...record, action: 'token.minted', details: {} }))
  await Promise.all(minted)
  clock.advance(3600)
  await store.audit.append({ ...record, action: 'session.signed-in', details: { login: 'Gary' } })
  const repositories = [{ id: 4001, fullName: 'acme/shop' }]
  await store.audit.append({ ...record, action: 'grant.decided', namespace: 'acme', details: { repositories } })
  server = await createAuditServer({
    audit: store.audit,
    clock,
    mayRead: async subject => {
      if (rbac === 'is away') throw new AppError('unavailable', 'away')
      return rbac === 'answers' && subject.startsWith('admin')
    },
  })
  port = await listen(server, { host: '127.0.0.1', port: 0 })
})
afterAll(async () => {
  await server?.close()
  await store?.close()
})

async function ask(path: string, who = 'admin') {
  const headers = { authorization: `Bearer ${who}-of-the-platform-here` }
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/audit${path}`, { headers })
  return { status: answer.status, text: await answer.text() }
}
const linesOf = ({ text }: { readonly text: string }) =>
  text
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))

test('a stream has every entry after the given one, once and in order, and says that it is complete', async () => {
  const lines = linesOf(await ask('/stream?after=5'))
  expect(lines.slice(0, -1).map(({ sequence }) => sequence)).toEqual(Array.from({ length: count - 3 }, (_, index) => index + 6))
  expect(lines.at(-1)).toEqual({ readThrough: count + 2, end: true })
})

test('a filter and a time leave entries out, and the stream says how far it is', async () => {
  expect(linesOf(await ask('/stream?what=sign-ins'))).toMatchObject([{ action: 'session.signed-in' }, { end: true }])
  const { text } = await ask(`?until=${new Date(clock.now().getTime() - 1).toISOString()}&limit=1`)
  expect(JSON.parse(text).entries).toMatchObject([{ sequence: count }])
})

test('a reader of what the log has lost is told', async () => {
  expect(linesOf(await ask('/stream?after=5000'))).toEqual([{ shortenedTo: count + 2 }])
})

test('a name finds its id whatever its case; another one gets the near ones', async () => {
  const found = await ask('/names?person=gary&repository=acme/shop')
  expect(JSON.parse(found.text)).toMatchObject({
    person: { matches: [{ id: 'github|github.com|42', name: 'Gary' }] },
    repository: { matches: [{ id: '4001' }] },
  })
  expect(JSON.parse((await ask('/names?person=garry&repository=globex/shop')).text)).toEqual({
    person: { matches: [], near: ['Gary'] },
    repository: { matches: [], near: ['acme/shop'] },
  })
})

test('people whom RBAC allows nothing learn nothing', async () => {
  for (const path of ['', '/stream', '/head', '/checkpoints', '/names?person=gary'])
    expect(await ask(path, 'somebody'), path).toMatchObject({ status: 404 })
})

test('a stream ends when its reader may not read any more, or when nobody says whether they may', async () => {
  const headers = { authorization: 'Bearer admin-of-the-platform-here' }
  const url = `http://127.0.0.1:${port}/api/v1/audit/stream?follow=true&after=${count}`
  for (const then of ['refuses', 'is away'] as const) {
    const answer = await fetch(url, { headers })
    rbac = then
    clock.advance(11)
    const lines = linesOf({ text: await answer.text() })
    expect(lines.at(-1)).toEqual({ readThrough: count + 2 })
    rbac = 'answers'
  }
})
