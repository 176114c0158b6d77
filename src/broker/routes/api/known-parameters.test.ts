// A mistyped filter is refused by its name, on every route of the API and on no page.
import { Type } from '@fastify/type-provider-typebox'
import { expect, onTestFinished, test } from 'vitest'
import { silentLog } from '../../../lib/testing/silent-log.ts'
import { createWebServer } from '../../../web/server.ts'
import { refuseUnknownParameters } from './known-parameters.ts'

async function ask(url: string) {
  const server = await createWebServer({ log: silentLog })
  onTestFinished(() => server.close())
  refuseUnknownParameters(server)
  const querystring = Type.Object({ after: Type.Optional(Type.String()), limit: Type.Optional(Type.String()) })
  server.get('/api/v1/audit', { schema: { querystring } }, async () => 'entries')
  server.get('/api/v1/whoami', async () => 'you')
  server.get('/page', async () => 'page')
  const answer = await server.inject(url)
  return { status: answer.statusCode, text: answer.statusCode === 200 ? answer.body : answer.json().error.message }
}

test('names the parameter and those that the route takes', async () => {
  expect(await ask('/api/v1/audit?limit=1&aftr=3')).toEqual({
    status: 400,
    text: 'there is no query parameter aftr: /api/v1/audit takes after, limit',
  })
  expect(await ask('/api/v1/whoami?foo=1')).toMatchObject({
    status: 400,
    text: 'there is no query parameter foo: /api/v1/whoami takes no query parameter',
  })
  expect(await ask('/api/v1/audit?limit=1&after=3')).toEqual({ status: 200, text: 'entries' })
  expect(await ask('/page?utm_source=mail')).toEqual({ status: 200, text: 'page' })
})

test('a name is shown as one bounded line', async () => {
  const { text } = await ask(`/api/v1/whoami?${encodeURIComponent(`a\n\u001b[31m${'x'.repeat(500)}`)}=1`)
  expect([...text].filter(letter => letter < ' ')).toEqual([])
  expect(text.length).toBeLessThan(150)
})
