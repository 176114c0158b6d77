import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { addAbortSignal, Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { secrets } from '../../api/builtin/index.ts'
import { SecretString } from '../../lib/secret-string.ts'
import { waitUntil } from '../../lib/waiting/wait-until.ts'
import { type Thing, thing, things } from '../testing/objects.ts'
import type { KubeClient, WatchEvent } from './client.ts'
import { isExpired, NotLeaderError } from './errors.ts'
import { createKubeClient, type KubeClientDeps } from './kube-client.ts'
import type { KubeRequest } from './transport.ts'
import { watch } from './watch.ts'
import { gateWrites } from './write-gate.ts'

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void

const refusal = (code: number, reason: string, message: string, details: object = {}): string =>
  JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message, details })

type Limits = Pick<KubeClientDeps, 'requestMilliseconds' | 'watchSilenceMilliseconds'>

/**
 * A loopback server with the given behaviour and a client. Only tests of a time limit shorten it, because it would end other
 * requests.
 */
async function serve(handler: Handler, { path = '', ...limits }: Limits & { readonly path?: string } = {}) {
  const requests: { method: string; url: string; headers: IncomingMessage['headers'] }[] = []
  const server = createServer((request, response) => {
    requests.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers })
    let body = ''
    request.on('data', chunk => {
      body += chunk
    })
    request.on('end', () => handler(request, response, body))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  let token = 1
  const slept: number[] = []
  const client = createKubeClient({
    connection: {
      server: new URL(`http://127.0.0.1:${address.port}${path}`),
      tls: {},
      authorization: async options => new SecretString(`Bearer token-${options?.fresh ? ++token : token}`),
    },
    component: 'unit',
    clock: {
      now: () => new Date(),
      sleep: async milliseconds => {
        slept.push(milliseconds)
      },
    },
    random: () => 0,
    ...limits,
  })
  onTestFinished(async () => {
    await client.close()
    server.closeAllConnections()
    server.close()
  })
  return { client, requests, slept }
}

const key = { namespace: 'ns', name: 'a' }

test('an apply is not parsed a second time by the server, and a new object is not validated to warn nobody', async () => {
  const { client, requests } = await serve((_, response) => response.end(JSON.stringify(thing('a'))))
  await client.apply(things, thing('a'), { fieldManager: 'unit', force: true })
  expect(requests[0]?.url).toMatch(/[?]fieldManager=unit&force=true&fieldValidation=Ignore$/)
  await client.create(things, thing('a'), { fieldManager: 'unit' })
  expect(requests[1]?.url).toMatch(/[?]fieldManager=unit&fieldValidation=Ignore$/)
})

test('sends its user agent, and reads fresh credentials when the server refuses them', async () => {
  const { client, requests } = await serve((request, response) => {
    if (request.headers.authorization !== 'Bearer token-2') response.writeHead(401).end(refusal(401, 'Unauthorized', 'no'))
    else response.end(JSON.stringify(thing('a')))
  })
  expect((await client.get(things, key))?.metadata.name).toBe('a')
  expect(requests.map(({ headers }) => headers['user-agent'])).toEqual(['sekisho/unit', 'sekisho/unit'])
  expect(requests[0]?.url).toBe('/apis/test.sekisho.dev/v1/namespaces/ns/things/a')
})

test('an API server may be served under a path; queries are encoded', async () => {
  const { client, requests } = await serve(
    (_, response) => response.end(JSON.stringify({ metadata: { resourceVersion: '1' }, items: [] })),
    { path: '/k8s/clusters/one/' },
  )
  await client.list(things, { namespace: 'ns', labelSelector: 'tier in (a,b)&c' })
  expect(requests.map(({ url }) => url)).toEqual([
    '/k8s/clusters/one/apis/test.sekisho.dev/v1/namespaces/ns/things?limit=500&labelSelector=tier+in+%28a%2Cb%29%26c',
  ])
})

test('credentials that are refused twice are an error', async () => {
  const { client, requests } = await serve((_, response) => response.writeHead(401).end(refusal(401, 'Unauthorized', 'no')))
  await expect(client.get(things, key)).rejects.toMatchObject({ status: 401, reason: 'Unauthorized', retryable: false })
  expect(requests).toHaveLength(2)
})

test('waits as a 429 requests, then retries; after the last retry the error contains the wait', async () => {
  let left = 2
  const patient = await serve((_, response) => {
    if (left-- > 0) response.writeHead(429, { 'retry-after': '3' }).end(refusal(429, 'TooManyRequests', 'slow down'))
    else response.end(JSON.stringify(thing('a')))
  })
  await patient.client.apply(things, thing('a'), { fieldManager: 'unit' })
  expect(patient.slept).toEqual([3000, 3000])
  const flooded = await serve((_, response) =>
    response.writeHead(429, { 'retry-after': '900' }).end(refusal(429, 'TooManyRequests', 'slow down')),
  )
  await expect(flooded.client.get(things, key)).rejects.toMatchObject({ retryable: true, retryAfterSeconds: 900 })
  expect(flooded.slept).toEqual([30_000, 30_000, 30_000, 30_000, 30_000])
})

test('only reads are retried after a broken connection; writes fail as Unreachable', async () => {
  let left = 1
  const { client, requests } = await serve((request, response) => {
    if (left-- > 0) request.socket.destroy()
    else response.end(JSON.stringify(thing('a')))
  })
  expect((await client.get(things, key))?.metadata.name).toBe('a')
  expect(requests).toHaveLength(2)
  left = 1
  const write = client.apply(things, thing('a'), { fieldManager: 'unit' })
  await expect(write).rejects.toMatchObject({ status: 0, reason: 'Unreachable', retryable: true })
  expect(requests).toHaveLength(3)
})

test('an apply has no character that is not allowed in YAML, and says the same', async () => {
  let sent = ''
  const { client } = await serve((_, response, body) => {
    sent = body
    response.end(JSON.stringify(thing('a')))
  })
  const text = '\u0000\u001b\u007f\u0085\u009b31m\ufeff\uffff ü🚀 "\\'
  const object = { ...thing('a'), metadata: { ...thing('a').metadata, annotations: { text } } }
  await client.apply(things, object, { fieldManager: 'unit' })
  expect(JSON.parse(sent)).toEqual(object)
  expect([...sent].filter(character => /[\p{Cc}\ufeff\uffff]/u.test(character))).toEqual([])
})

test('a request without a response fails within the time limit', async () => {
  const { client } = await serve(() => {}, { requestMilliseconds: 200 })
  await expect(client.apply(things, thing('a'), { fieldManager: 'unit' })).rejects.toMatchObject({ reason: 'Unreachable' })
})

test('reads a list again from the start when its pages expire', async () => {
  let expired = false
  const { client, requests } = await serve((request, response) => {
    const query = new URL(request.url ?? '', 'http://x').searchParams
    if (!query.has('continue')) {
      response.end(
        JSON.stringify({ items: [{ metadata: thing('a').metadata }], metadata: { resourceVersion: '7', continue: 'next' } }),
      )
    } else if (!expired) {
      expired = true
      response.writeHead(410).end(refusal(410, 'Expired', 'too old'))
    } else response.end(JSON.stringify({ items: null, metadata: { resourceVersion: '7' } }))
  })
  const { items, resourceVersion } = await client.snapshot(things, { namespace: 'ns', labelSelector: 'a=b' })
  expect(items).toEqual([thing('a')])
  expect(resourceVersion).toBe('7')
  expect(requests).toHaveLength(4)
  expect(requests[3]?.url).toBe('/apis/test.sekisho.dev/v1/namespaces/ns/things?limit=500&continue=next&labelSelector=a%3Db')
})

test('a bounded list asks for no more than its bound, over several pages too', async () => {
  const { client, requests } = await serve((request, response) => {
    const last = request.url?.includes('continue=') ?? false
    const items = last ? [thing('c')] : [thing('a'), thing('b')]
    response.end(JSON.stringify({ items, metadata: { resourceVersion: '7', continue: 'next' } }))
  })
  const { items } = await client.snapshot(things, { most: 3 })
  expect(items.map(({ metadata }) => metadata.name)).toEqual(['a', 'b', 'c'])
  expect(requests.map(({ url }) => /limit=(\d+)/.exec(url)?.[1])).toEqual(['3', '1'])
})

test('an error about a Secret contains the message of the server only when it quotes nothing', async () => {
  const words = 'Secret in version "v1" cannot be handled: illegal base64 data in aHVudGVyMg=='
  const { client } = await serve((request, response) =>
    request.method === 'PATCH'
      ? response.writeHead(400).end(refusal(400, 'BadRequest', words))
      : response.writeHead(403).end(refusal(403, 'Forbidden', 'secrets "a" is forbidden: not yours')),
  )
  const patched = client.mergePatch(secrets, key, {}, { fieldManager: 'unit' })
  await expect(patched).rejects.toThrow(/^patch Secret ns\/a: 400 BadRequest$/)
  await expect(client.get(secrets, key)).rejects.toThrow(/get Secret ns\/a: 403 Forbidden: secrets "a" is forbidden: not yours/)
})

test('a response that is not JSON and the message of a proxy become errors', async () => {
  const { client } = await serve((request, response) =>
    request.method === 'GET' ? response.end('<html>') : response.writeHead(502).end('<html>bad gateway'),
  )
  await expect(client.get(things, key)).rejects.toMatchObject({ reason: 'Malformed' })
  await expect(client.delete(things, key)).rejects.toMatchObject({ status: 502, reason: 'Status502', retryable: true })
})

async function collect(events: AsyncIterable<WatchEvent<Thing>>): Promise<{ seen: string[]; error: unknown }> {
  const seen: string[] = []
  try {
    for await (const event of events) seen.push(`${event.type} ${event.resourceVersion}`)
    return { seen, error: undefined }
  } catch (error) {
    return { seen, error }
  }
}

const watchLine = (type: string, object: object): string => `${JSON.stringify({ type, object })}\n`
const never = new AbortController().signal

test('a watch yields events and bookmarks across chunk borders and drops an incomplete line', async () => {
  const { client, requests } = await serve((_, response) => {
    const text = `${watchLine('ADDED', thing('ä', { resourceVersion: '5' }))}${watchLine('BOOKMARK', { metadata: { resourceVersion: '9' } })}{"type":"ADD`
    const bytes = Buffer.from(text)
    response.write(bytes.subarray(0, 60))
    setImmediate(() => {
      response.write(bytes.subarray(60, 111))
      setImmediate(() => response.end(bytes.subarray(111)))
    })
  })
  const { seen, error } = await collect(client.watch(things, { resourceVersion: '1', signal: never }))
  expect(error).toBeUndefined()
  expect(seen).toEqual(['ADDED 5', 'BOOKMARK 9'])
  expect(requests[0]?.url).toMatch(/watch=true&allowWatchBookmarks=true&resourceVersion=1&timeoutSeconds=\d+$/)
})

test('an ERROR event becomes a KubeError; 410 requires a list', async () => {
  const { client } = await serve((_, response) =>
    response.end(watchLine('ERROR', JSON.parse(refusal(410, 'Expired', 'too old resource version: 1 (5)')))),
  )
  const { error } = await collect(client.watch(things, { resourceVersion: '1', signal: never }))
  expect(error).toMatchObject({ status: 410, reason: 'Expired' })
  expect(isExpired(error)).toBe(true)
})

test('the time limit of a request ends with its response', async () => {
  const requestMilliseconds = 12_345
  const set = vi.spyOn(globalThis, 'setTimeout')
  const clear = vi.spyOn(globalThis, 'clearTimeout')
  onTestFinished(() => void [set.mockRestore(), clear.mockRestore()])
  const { client } = await serve((_, response) => response.end(JSON.stringify(thing('a'))), { requestMilliseconds })
  await client.get(things, key)
  const limits = set.mock.results.filter((_, call) => set.mock.calls[call]?.[1] === requestMilliseconds)
  expect(limits).toHaveLength(1)
  await waitUntil('the timer to be cleared', () => {
    expect(clear).toHaveBeenCalledWith(limits[0]?.value)
    return true
  })
})

test('a watch that does not end as requested is given up', async () => {
  const { client } = await serve((_, response) => response.writeHead(200).flushHeaders(), { watchSilenceMilliseconds: 200 })
  const quiet = await collect(client.watch(things, { resourceVersion: '1', signal: never }))
  expect(quiet.error).toMatchObject({ reason: 'Silent', retryable: true })
})

test('a watch with events is given up after the same time', async () => {
  const body = Readable.from(
    (async function* () {
      for (let version = 2; ; version++) {
        yield Buffer.from(watchLine('BOOKMARK', { metadata: { resourceVersion: String(version) } }))
        await wait(10)
      }
    })(),
  )
  const open = async ({ signal }: KubeRequest) => addAbortSignal(signal ?? never, body) as never
  const watching = watch({ transport: { open }, random: () => 0, watchSilenceMilliseconds: 100 }, things, {
    resourceVersion: '1',
    signal: never,
  })
  const lively = await collect(watching)
  expect(lively.error).toMatchObject({ reason: 'Silent' })
  expect(lively.seen[0]).toBe('BOOKMARK 2')
  expect(body.destroyed).toBe(true)
})

test('a watch requests an end at a random time before its limit', async () => {
  const urls: string[] = []
  const open = async ({ query }: KubeRequest): Promise<never> => {
    urls.push(query?.['timeoutSeconds'] ?? '')
    throw new Error('no connection')
  }
  const transport = { open }
  const options = { resourceVersion: '1', signal: never }
  for (const random of [0, 0.5, 0.999]) await collect(watch({ transport, random: () => random }, things, options))
  await collect(watch({ transport, random: () => 0.5 }, things, { ...options, brief: true }))
  expect(urls).toEqual(['33', '37', '40', '2'])
})

test('a brief watch is given up sooner, because it may be dead, too', async () => {
  const limits: number[] = []
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation(milliseconds => {
    limits.push(milliseconds)
    return AbortSignal.abort()
  })
  onTestFinished(() => timeout.mockRestore())
  const transport = { open: async ({ signal = never }: KubeRequest) => signal.throwIfAborted() as never }
  const options = { resourceVersion: '1', signal: never, brief: true }
  for (const watchSilenceMilliseconds of [undefined, 5000]) {
    const deps = { transport, random: () => 0, ...(watchSilenceMilliseconds && { watchSilenceMilliseconds }) }
    const { error } = await collect(watch(deps, things, options))
    expect(error).toMatchObject({ reason: 'Silent' })
  }
  expect(limits).toEqual([10_000, 5000])
})

test('a watch passes a 429 and its wait to the caller', async () => {
  const { client, requests, slept } = await serve((_, response) =>
    response.writeHead(429, { 'retry-after': '20' }).end(refusal(429, 'TooManyRequests', 'slow down')),
  )
  const { error } = await collect(client.watch(things, { resourceVersion: '1', signal: never }))
  expect(error).toMatchObject({ status: 429, retryable: true, retryAfterSeconds: 20 })
  expect([requests.length, slept]).toEqual([1, []])
})

test('a watch ends with the reason of its signal', async () => {
  const requested = Promise.withResolvers<void>()
  const { client } = await serve((_, response) => {
    response.writeHead(200).flushHeaders()
    requested.resolve()
  })
  const stop = new AbortController()
  const watching = collect(client.watch(things, { resourceVersion: '1', signal: stop.signal }))
  await requested.promise
  stop.abort(new Error('enough'))
  expect((await watching).error).toMatchObject({ message: 'enough' })
})

function gateOf(client: KubeClient) {
  const term = new AbortController()
  const gate = { open: false, checks: 0, signal: term.signal }
  const mayWrite = (): boolean => {
    gate.checks += 1
    return gate.open
  }
  return { gate, term, gated: gateWrites(client, () => ({ mayWrite, signal: term.signal })) }
}

test('the write gate passes reads and reviews and sends no write while it is closed', async () => {
  const { client, requests } = await serve((_, response) => response.end(JSON.stringify(thing('a'))))
  const { gate, gated } = gateOf(client)
  const fieldManager = 'unit'
  const writes = [
    () => gated.create(things, thing('a'), { fieldManager }),
    () => gated.apply(things, thing('a'), { fieldManager }),
    () => gated.applyStatus(things, thing('a'), { fieldManager }),
    () => gated.mergePatch(things, key, {}, { fieldManager }),
    () => gated.delete(things, key),
  ]
  for (const write of writes) await expect(write()).rejects.toMatchObject({ name: 'NotLeaderError' })
  expect(requests).toHaveLength(0)
  await gated.get(things, key)
  const review = { apiVersion: 'v1', kind: 'TokenReview', plural: 'tokenreviews', namespaced: false }
  await gated.create(review, { apiVersion: 'v1', kind: 'TokenReview', metadata: {} }, { fieldManager })
  expect(requests).toHaveLength(2)
  gate.open = true
  for (const write of writes) await write()
  expect(requests.map(({ method }) => method)).toEqual(['GET', 'POST', 'POST', 'PATCH', 'PATCH', 'PATCH', 'DELETE'])
})

test('a write that waited for a 429 is not retried once the gate is closed', async () => {
  const { client, requests } = await serve((_, response) => {
    gate.open = false
    response.writeHead(429, { 'retry-after': '1' }).end()
  })
  const { gate, gated } = gateOf(client)
  gate.open = true
  await expect(gated.mergePatch(things, key, {}, { fieldManager: 'unit' })).rejects.toMatchObject({ name: 'NotLeaderError' })
  expect(requests).toHaveLength(1)
})

test('the gate is checked again once the connection is open: a write is not sent if it has closed', async () => {
  const { client, requests } = await serve((_, response) => response.end(JSON.stringify(thing('a'))))
  const { gate, gated } = gateOf(client)
  gate.open = true
  const writing = gated.apply(things, thing('a'), { fieldManager: 'unit' })
  // The first check was in this turn; the connection has not begun.
  expect(gate.checks).toBe(1)
  gate.open = false
  await expect(writing).rejects.toMatchObject({ name: 'NotLeaderError' })
  expect(gate.checks).toBe(2)
  expect(requests).toHaveLength(0)
})

test('a write in progress is aborted at the end of the term', async () => {
  const arrived = Promise.withResolvers<void>()
  const { client } = await serve(() => arrived.resolve())
  const { gate, term, gated } = gateOf(client)
  gate.open = true
  const writing = gated.apply(things, thing('a'), { fieldManager: 'unit' })
  await arrived.promise
  term.abort(new NotLeaderError('the term is over'))
  await expect(writing).rejects.toMatchObject({ name: 'NotLeaderError' })
})
