// The one request that tells whether an Application answers: what the person's computer gets, and nothing that the answer asks
// for.
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { askUrl } from './ask-url.ts'

let server: Server | undefined

afterEach(async () => {
  server?.closeAllConnections()
  await new Promise<void>(resolve => (server === undefined ? resolve() : server.close(() => resolve())))
  server = undefined
})

/** Resolves to its URL under a name of this computer, as the local cluster gives to Applications. */
async function serve(listener: RequestListener): Promise<string> {
  server = createServer(listener)
  await new Promise<void>(resolve => server?.listen(0, '127.0.0.1', resolve))
  return `http://shop.acme.localhost:${(server.address() as AddressInfo).port}`
}

test('the first 200 is that of a real request with the host of the Application', async () => {
  const asked: unknown[] = []
  const url = await serve(({ method, url: path, headers }, response) => {
    asked.push([method, path, headers.host])
    response.end('hello')
  })
  expect(await askUrl(url)).toEqual({ kind: 'response', status: 200, milliseconds: expect.any(Number), noRoute: false })
  expect(asked).toEqual([['GET', '/', new URL(url).host]])
})

test('a redirect is the answer and is not followed', async () => {
  const paths: (string | undefined)[] = []
  const url = await serve(({ url: path }, response) => {
    paths.push(path)
    response.writeHead(302, { location: '/login' }).end()
  })
  expect(await askUrl(url)).toMatchObject({ kind: 'response', status: 302, location: '/login' })
  expect(paths).toEqual(['/'])
})

test('a 404 of the ingress is distinguished from one of the Application, however long that is', async () => {
  const bodies = ['404 page not found\n', 'x'.repeat(1_000_000)]
  const url = await serve((_, response) => response.writeHead(404).end(bodies.shift()))
  expect(await askUrl(url)).toMatchObject({ status: 404, noRoute: true })
  expect(await askUrl(url)).toMatchObject({ status: 404, noRoute: false })
})

test('no answer is one, too', async () => {
  const url = await serve((_, response) => response.destroy())
  expect(await askUrl(url)).toEqual({ kind: 'unanswered', text: 'no answer: ECONNRESET' })
})
