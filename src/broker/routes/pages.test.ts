// What the script of a page gets when nothing has changed: an answer without a body, and only for the very same page.
import fastify from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { html } from '../../web/html.ts'
import { sendPage } from './pages.ts'

test('a page that did not change is not sent again', async () => {
  const server = fastify()
  onTestFinished(() => server.close())
  let name = 'one'
  server.get('/', async (_request, reply) => sendPage(reply, html`<p>${name}</p>`))
  const first = await server.inject('/')
  const tag = String(first.headers.etag)
  expect([first.statusCode, first.body]).toEqual([200, '<p>one</p>'])
  const again = async (header: string) => await server.inject({ url: '/', headers: { 'if-none-match': header } })
  for (const header of [tag, `W/${tag}`])
    expect([(await again(header)).statusCode, (await again(header)).body]).toEqual([304, ''])
  expect((await again('"another"')).statusCode).toBe(200)
  name = 'two'
  expect((await again(tag)).body).toBe('<p>two</p>')
})
