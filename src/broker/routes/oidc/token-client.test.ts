// Over a real connection, because what is looked at must still be there for the issuer.
import { createServer, request } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { createIssuedHandles } from '../../../identity/oidc/issued-handles.ts'
import { createTokenClient } from './token-client.ts'

async function ask(pieces: readonly string[], length?: number): Promise<{ readonly client: string; readonly body: string }> {
  const handles = createIssuedHandles()
  handles.issued('refresh-1', 'grant-1')
  handles.issued('device-1', undefined)
  const client = createTokenClient(handles)
  const server = createServer(async (raw, response) => {
    const found = await client({ raw } as unknown as FastifyRequest)
    let body = ''
    for await (const chunk of raw) body += chunk
    response.end(JSON.stringify({ client: found ?? 'stranger', body }))
  })
  onTestFinished(() => void server.close())
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return new Promise((resolve, reject) => {
    const sent = request({
      host: '127.0.0.1',
      port,
      method: 'POST',
      headers: length === undefined ? {} : { 'content-length': length },
    })
    sent.once('error', reject)
    sent.once('response', response => {
      const chunks: string[] = []
      response.setEncoding('utf8').on('data', (chunk: string) => chunks.push(chunk))
      response.once('end', () => resolve(JSON.parse(chunks.join(''))))
    })
    const send = (rest: readonly string[]): void => {
      const [piece, ...others] = rest
      if (piece === undefined) sent.end()
      else sent.write(piece, () => setImmediate(send, others))
    }
    send(pieces)
  })
}

test('a request with a handle that we issued counts for its grant, and the issuer reads the whole body', async () => {
  const text = 'grant_type=refresh_token&refresh_token=refresh-1'
  expect(await ask([text], text.length)).toEqual({ client: 'grant grant-1', body: text })
  expect(await ask([text.slice(0, 20), text.slice(20)], text.length)).toEqual({ client: 'grant grant-1', body: text })
  const polled = await ask(['device_code=device-1'], 20)
  expect(polled.client).toMatch(/^grant .{20,}/)
})

test.each([
  ['an invented handle', ['refresh_token=refresh-2'], 23],
  ['no handle', ['grant_type=refresh_token'], 24],
  ['a body without length', ['refresh_token=', 'refresh-1'], undefined],
  ['a large body', [`refresh_token=refresh-1&x=${'y'.repeat(9000)}`], 9026],
])('%s counts for the address, and is read too', async (_name, pieces, length) => {
  expect(await ask(pieces, length)).toEqual({ client: 'stranger', body: pieces.join('') })
})
