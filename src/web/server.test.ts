import { Type } from '@fastify/type-provider-typebox'
import { expect, onTestFinished, test } from 'vitest'
import { AppError } from '../lib/errors.ts'
import type { Log, LogFields } from '../lib/log.ts'
import { silentLog } from '../lib/testing/silent-log.ts'
import { html } from './html.ts'
import { createWebServer, type WebServerOptions } from './server.ts'

async function withServer(options: Partial<WebServerOptions> = {}) {
  const server = await createWebServer({ log: silentLog, ...options })
  onTestFinished(() => server.close())
  server.get('/broken', async () => {
    throw new Error('hunter2')
  })
  server.get('/refused', async () => {
    throw new AppError('too_many_requests', 'wait', { retryAfterSeconds: 7 })
  })
  server.get(
    '/one',
    { schema: { querystring: Type.Object({ id: Type.String({ pattern: '^[1-9][0-9]*$' }) }) } },
    async request => request.query,
  )
  server.post('/echo', async request => request.body)
  return server
}

test('an unexpected error exposes its request id and nothing else', async () => {
  const server = await withServer()
  const answer = await server.inject({ url: '/broken' })
  expect(answer.statusCode).toBe(500)
  expect(answer.body).not.toContain('hunter2')
  expect(answer.json().error.requestId).toBe(answer.headers['x-request-id'])
})

test('the id of a refused request is in one line of the log, and only a fault has a stack', async () => {
  const lines: { readonly level: string; readonly fields: LogFields }[] = []
  const at = (level: string) => (fields: LogFields) => void lines.push({ level, fields })
  const log: Log = { debug: () => {}, info: at('info'), error: at('error'), child: () => log }
  const server = await withServer({ log })
  server.get('/away', async () => {
    throw new AppError('unavailable', 'the database does not answer')
  })
  for (const [url, level, field] of [
    ['/refused', 'info', 'reason'],
    ['/nowhere', 'info', 'reason'],
    ['/away', 'error', 'reason'],
    ['/broken', 'error', 'error'],
  ] as const) {
    const answer = await server.inject({ url })
    const ofRequest = lines.filter(({ fields }) => fields['requestId'] === answer.json().error.requestId)
    expect(ofRequest).toHaveLength(1)
    expect(ofRequest[0]).toMatchObject({ level, fields: { status: answer.statusCode, [field]: expect.anything() } })
    expect('error' in (ofRequest[0]?.fields ?? {})).toBe(field === 'error')
  }
})

test('a request id that a client sends is ignored', async () => {
  const server = await withServer()
  const answer = await server.inject({ url: '/refused', headers: { 'x-request-id': 'mine', 'request-id': 'mine' } })
  expect(answer.headers['x-request-id']).not.toBe('mine')
  expect(answer.headers['retry-after']).toBe('7')
})

test('a parameter given twice is refused', async () => {
  const server = await withServer()
  expect((await server.inject('/one?id=5')).json()).toEqual({ id: '5' })
  expect((await server.inject('/one?id=5&id=6')).statusCode).toBe(400)
})

test('a body above the limit is refused', async () => {
  const server = await withServer({ bodyLimit: 100 })
  expect((await server.inject({ method: 'POST', url: '/echo', payload: { a: 'x'.repeat(200) } })).statusCode).toBe(413)
})

test('browsers get a page, programs get JSON', async () => {
  const server = await withServer({ errorPage: answer => html`<p>${answer.message}</p>` })
  expect((await server.inject({ url: '/refused', headers: { accept: 'text/html' } })).body).toBe('<p>wait</p>')
  expect((await server.inject({ url: '/refused' })).json().error.code).toBe('too_many_requests')
})

test('requests for unknown paths are limited', async () => {
  const server = await withServer()
  const statuses = []
  for (let attempt = 0; attempt < 61; attempt += 1) statuses.push((await server.inject(`/guess-${attempt}`)).statusCode)
  expect(statuses[0]).toBe(404)
  expect(statuses.at(-1)).toBe(429)
})

test('every response has the security headers with the allowed form targets', async () => {
  const server = await withServer({ headers: () => ({ formTargets: ['https://github.com'], strictTransport: true }) })
  const { headers } = await server.inject('/refused')
  expect(headers['content-security-policy']).toContain("script-src 'none'")
  expect(headers['content-security-policy']).toContain("form-action 'self' https://github.com")
  expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'x-frame-options': 'DENY', 'cache-control': 'no-store' })
})

test('scripts run from our own address only, and only where the server says so', async () => {
  const headers = () => ({ formTargets: [], strictTransport: false, ownScripts: true })
  const server = await withServer({ headers })
  const policy = String((await server.inject('/refused')).headers['content-security-policy'])
  expect(policy.split('; ')).toEqual(
    expect.arrayContaining(["default-src 'none'", "script-src 'self'", "connect-src 'self'", "base-uri 'none'"]),
  )
  expect(policy).not.toContain('unsafe')
})
