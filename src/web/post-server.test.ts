// Over real connections: what clients send slowly or announce must not occupy more than the budget, and must not be answered by
// a route.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { AppError } from '../lib/errors.ts'
import { silentLog } from '../lib/testing/silent-log.ts'
import { waitUntil } from '../lib/waiting/wait-until.ts'
import { createNodeServer } from './connections/node-server.ts'
import { createPostServer, type PostRoute, type PostServerOptions, patienceWithApiServers } from './post-server.ts'

const bodyLimit = 1000

async function start(options: Partial<PostServerOptions> = {}) {
  const route = vi.fn<PostRoute>(body => JSON.stringify({ got: body.toString() }))
  const server = createPostServer({
    log: silentLog,
    routes: new Map([['/', route]]),
    budget: { requests: 100, bytes: 100_000, bodyLimit },
    ...options,
  })
  const port = await server.listen({ host: '127.0.0.1', port: 0 })
  onTestFinished(async () => {
    const closed = server.close()
    server.closeAllConnections()
    await closed
  })
  return { server, port, route }
}

test('no connection that an API server keeps is ended before the API server ends it, whether it sent a request or not', () => {
  const [idleOfGo, handshakeOfGo] = [90_000, 10_000]
  expect(patienceWithApiServers.handshake).toBeGreaterThan(handshakeOfGo)
  const { server } = createNodeServer(() => {}, { log: silentLog, patience: patienceWithApiServers })
  const { headersTimeout, requestTimeout, keepAliveTimeout } = server
  for (const limit of [headersTimeout, requestTimeout, keepAliveTimeout]) expect(limit).toBeGreaterThan(idleOfGo)
})

/** Sends a text and collects what comes back. */
function send(port: number, text: string): { readonly socket: Socket; readonly received: () => string } {
  let received = ''
  const socket = connect(port, '127.0.0.1', () => socket.write(text))
  socket.on('error', () => socket.destroy())
  socket.on('data', chunk => {
    received += chunk.toString()
  })
  onTestFinished(() => void socket.destroy())
  return { socket, received: () => received }
}

async function answerTo(port: number, text: string): Promise<string> {
  const { received } = send(port, text)
  await waitUntil('the whole answer', seen => /\}$/.test(seen(received())))
  return received()
}

const head = (headers: string, target = 'POST /'): string =>
  `${target} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${headers}\r\n\r\n`
const whole = `${head('content-length: 2')}{}`

test('answers a body in one or many pieces, and ignores a query', async () => {
  const { port } = await start()
  expect(await answerTo(port, whole)).toMatch(/^HTTP\/1.1 200 [\s\S]*content-length: 12\r\n[\s\S]*\{"got":"\{\}"\}$/i)
  expect(await answerTo(port, `${head('content-length: 2', 'POST /?timeout=5s')}{}`)).toMatch(/^HTTP\/1.1 200 /)
  const pieces = send(port, `${head('transfer-encoding: chunked')}1\r\n{\r\n`)
  await once(pieces.socket, 'connect')
  pieces.socket.write('1\r\n}\r\n0\r\n\r\n')
  await waitUntil('the answer to what came in pieces', seen => seen(pieces.received()).includes('{"got":"{}"}'))
})

test.each([
  ['another path', head('content-length: 2', 'POST /other'), 404],
  ['another method', head('content-length: 0', 'GET /'), 404],
  ['another type', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\n', 400],
  ['too long a body', head(`content-length: ${bodyLimit + 1}`), 413],
  ['too long a body of unknown length', `${head('transfer-encoding: chunked')}3e9\r\n${'x'.repeat(1001)}\r\n`, 413],
])('%s is refused, with the end of its connection', async (_what, text, status) => {
  const { port, route } = await start()
  const { socket, received } = send(port, text)
  await waitUntil('the connection to be closed', () => socket.closed)
  expect(received()).toMatch(new RegExp(`^HTTP/1.1 ${status} [\\s\\S]*connection: close`, 'i'))
  expect(route).not.toHaveBeenCalled()
})

test.each([
  [
    'at once',
    () => () => {
      throw new Error('hunter2')
    },
  ],
  [
    'later',
    () => async () => {
      throw new Error('hunter2')
    },
  ],
])(
  'an unexpected error %s exposes its request id and nothing else; the connection serves the next request',
  async (_when, made) => {
    const log = { ...silentLog, error: vi.fn() }
    const { port } = await start({ log, routes: new Map([['/', made()]]) })
    const { socket, received } = send(port, whole)
    await waitUntil('the whole answer', seen => /\}$/.test(seen(received())))
    expect(received()).toMatch(/^HTTP\/1.1 500 /)
    expect(received()).not.toContain('hunter2')
    const id = /x-request-id: (\S+)/i.exec(received())?.[1]
    expect(received()).toContain(`"requestId":"${id}"`)
    expect(log.error.mock.calls[0]?.[0]).toMatchObject({ requestId: id, route: '/', status: 500 })
    socket.write(whole)
    await waitUntil('both refusals', seen => seen(received()).match(/HTTP\/1.1 500 /g)?.length === 2)
  },
)

test('an error of ours has its own status and message', async () => {
  const refusing = () => {
    throw new AppError('unavailable', 'too late', { retryAfterSeconds: 7 })
  }
  const { port } = await start({ routes: new Map([['/', refusing]]) })
  expect(await answerTo(port, whole)).toMatch(/^HTTP\/1.1 503 [\s\S]*retry-after: 7/i)
})

test('requests beyond the number are refused at once and unread; the place of one that ended is free again', async () => {
  const { port, route } = await start({ budget: { requests: 2, bytes: 10_000, bodyLimit } })
  const slow = [send(port, `${head('content-length: 10')}{`), send(port, `${head('content-length: 10')}{`)]
  // Until both are in progress another one may be answered.
  const refused = await waitUntil('a refusal above the bound', async () => {
    const answer = await answerTo(port, whole)
    expect(answer).toMatch(/^HTTP\/1.1 503 /)
    return answer
  })
  expect(refused).toMatch(/retry-after: 1/i)
  expect(refused).toMatch(/connection: close/i)
  const calls = route.mock.calls.length
  slow[0]?.socket.destroy()
  await waitUntil('room for another request', async seen => /^HTTP\/1.1 200 /.test(seen(await answerTo(port, whole))))
  expect(route.mock.calls.length).toBeGreaterThan(calls)
})

test.each([
  ['announce more than the budget', 'content-length: 900'],
  ['announce no length', 'transfer-encoding: chunked'],
])('bodies that together %s are refused by their heads', async (_what, headers) => {
  const { port } = await start({ budget: { requests: 100, bytes: 1500, bodyLimit } })
  send(port, head('content-length: 900'))
  await waitUntil('a refusal above the bound', async seen => /^HTTP\/1.1 503 /.test(seen(await answerTo(port, head(headers)))))
  expect(await answerTo(port, whole)).toMatch(/^HTTP\/1.1 200 /)
})

test('a server that closes answers what it has, and ends the connection', async () => {
  const answered = Promise.withResolvers<string>()
  const route = vi.fn<PostRoute>(() => answered.promise)
  const { port, server } = await start({ routes: new Map([['/', route]]) })
  const { socket, received } = send(port, whole)
  await waitUntil('the request at the route', () => {
    expect(route).toHaveBeenCalled()
    return true
  })
  const closed = server.close()
  answered.resolve('{}')
  await closed
  await waitUntil('the connection to be closed', () => socket.closed)
  expect(received()).toMatch(/^HTTP\/1.1 200 [\s\S]*connection: close[\s\S]*\{\}$/i)
})

test.each([
  ['announced', `content-length: ${5 * bodyLimit}\r\n\r\n`, 'x'.repeat(5 * bodyLimit)],
  [
    'of unknown length',
    'transfer-encoding: chunked\r\n\r\n',
    `${(2 * bodyLimit).toString(16)}\r\n${'x'.repeat(2 * bodyLimit)}\r\n0\r\n\r\n`,
  ],
])(
  'where overflow has an answer, a body that is too long and %s gets it, and the connection goes on',
  async (_name, head, body) => {
    const { port, route } = await start({ onOverflow: () => '{"over":true}' })
    const fields = 'POST / HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n'
    const { socket, received } = send(port, `${fields}${head}${body}`)
    await waitUntil('the answer', async () => received().includes('{"over":true}') || undefined)
    expect(received()).toMatch(/^HTTP\/1.1 200 /)
    expect(route).not.toHaveBeenCalled()
    socket.write(`${fields}content-length: 1\r\n\r\n1`)
    await waitUntil('the next answer', async () => received().includes('{"got":"1"}') || undefined)
  },
)
