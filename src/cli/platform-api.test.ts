import { expect, test } from 'vitest'
import type { Connection } from './connection.ts'
import { createPlatformApi } from './platform-api.ts'

const issuer = 'https://sekisho.example.com'

function api(answer: Response) {
  const connection: Connection = {
    fetch: async () => answer,
    open: async () => expect.unreachable(),
    clockOffset: () => undefined,
    close: async () => {},
  }
  return createPlatformApi(issuer, 'token', connection)
}

test.each([
  [401, 'unauthenticated'],
  [403, 'forbidden'],
  [404, 'not_found'],
  [400, 'invalid_request'],
  [429, 'too_many_requests'],
  [503, 'unavailable'],
  [302, 'upstream_failed'],
])('%i is %s', async (status, code) => {
  const body = JSON.stringify({ error: { message: 'why' } })
  await expect(api(new Response(body, { status })).json('/x')).rejects.toMatchObject({ code, message: 'why' })
})

test('a response of another server is an error about the server, not about the log', async () => {
  const page = () => new Response('<html>hello</html>', { status: 200 })
  const expected = { code: 'upstream_failed', message: expect.stringContaining(`is ${issuer} a Sekisho platform?`) }
  await expect(api(page()).json('/x')).rejects.toMatchObject(expected)
  await expect(api(page()).lines('/x', new URLSearchParams())).rejects.toMatchObject(expected)
})
