import { expect, test } from 'vitest'
import type { Connection } from './connection.ts'
import { createPlatformApi } from './platform-api.ts'

const issuer = 'https://sekisho.example.com'

function api(answer: Response) {
  const connection: Connection = {
    fetch: async () => answer,
    open: async () => answer,
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

test('a stream brings what came together at once, and everything before what is no log', async () => {
  const read = async (text: string) => {
    const batches: (readonly unknown[])[] = []
    const reading = async () => {
      for await (const values of api(new Response(text)).follow('/x', new URLSearchParams())) batches.push(values)
    }
    const error = await reading().catch((reason: unknown) => reason)
    return { batches, error }
  }
  expect(await read('{"a":1}\n2\n{"cut":')).toEqual({ batches: [[{ a: 1 }, 2]], error: undefined })
  expect(await read('1\n<html>\n2\n')).toMatchObject({ batches: [[1]], error: { code: 'upstream_failed' } })
  expect(await read('<html>\n')).toMatchObject({ batches: [], error: { code: 'upstream_failed' } })
})
