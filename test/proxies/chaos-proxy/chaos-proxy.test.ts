// The proxy itself, against a small upstream: traffic without an armed fault passes unchanged, and each fault does what its
// name says.
import { Agent, type Dispatcher, request as send } from 'undici'
import { describe, expect, onTestFinished, test } from 'vitest'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { startChaosProxy } from './chaos-proxy.ts'
import { conflict, expired, firstOfEach, matching, tooManyRequests } from './faults.ts'
import { isWrite, requestFacts } from './request-facts.ts'
import { startSmallUpstream } from './small-upstream.ts'

const list = '/api/v1/namespaces/acme/configmaps?limit=500'
const watch = '/api/v1/namespaces/acme/configmaps?watch=true&resourceVersion=5'
const one = '/api/v1/namespaces/acme/configmaps/a'

async function withProxy() {
  const small = await startSmallUpstream()
  const proxy = await startChaosProxy(small.upstream)
  const agent = new Agent({ connections: 8 })
  onTestFinished(async () => {
    await agent.destroy()
    await proxy.close()
    await small.close()
  })
  const call = async (method: Dispatcher.HttpMethod, path: string, extra: Partial<Dispatcher.RequestOptions> = {}) => {
    const authorization = (await proxy.connection.authorization())?.reveal() ?? ''
    return send(new URL(path, proxy.connection.server), { dispatcher: agent, method, headers: { authorization }, ...extra })
  }
  const status = async (method: Dispatcher.HttpMethod, path: string) => {
    const answer = await call(method, path)
    await answer.body.dump()
    return answer.statusCode
  }
  /** Reads a watch in the background. */
  const follow = async () => {
    const answer = await call('GET', watch)
    const received = { text: '', end: 'open' as 'open' | 'ended' | 'broken' }
    const read = async (): Promise<void> => {
      for await (const chunk of answer.body) received.text += String(chunk)
    }
    read().then(
      () => {
        received.end = 'ended'
      },
      () => {
        received.end = 'broken'
      },
    )
    return { received, names: () => [...received.text.matchAll(/"name":"(\w+)"/g)].map(([, name]) => name) }
  }
  return { small, proxy, call, status, follow }
}

const until = (what: string, holds: () => boolean): Promise<true> => waitUntil(what, async () => holds() || undefined)

describe('facts of a request', () => {
  test.each([
    ['GET', '/api/v1/namespaces/acme/pods/p/log', 'get', 'pods', 'acme', 'p', 'log'],
    ['GET', '/api/v1/namespaces/acme', 'get', 'namespaces', undefined, 'acme', undefined],
    ['PUT', '/api/v1/namespaces/acme/finalize', 'update', 'namespaces', undefined, 'acme', 'finalize'],
    ['GET', '/apis/apps/v1/deployments?watch=true', 'watch', 'deployments', undefined, undefined, undefined],
    ['POST', '/apis/apps/v1/namespaces/acme/deployments', 'create', 'deployments', 'acme', undefined, undefined],
    ['DELETE', '/apis/sekisho.dev/v1alpha1/tenants/t', 'delete', 'tenants', undefined, 't', undefined],
    ['GET', '/readyz', 'other', '', undefined, undefined, undefined],
  ])('%s %s', (method, url, ...facts) => {
    const [verb, resource, namespace, name, subresource] = facts
    expect(requestFacts({ method, url })).toMatchObject({ verb, resource, namespace, name, subresource })
  })

  test('an apply differs from a patch by its content type; reviews are not writes', () => {
    const apply = requestFacts({ method: 'PATCH', url: `${one}?fieldManager=me`, contentType: 'application/apply-patch+yaml' })
    expect(apply).toMatchObject({ verb: 'apply', fieldManager: 'me' })
    expect(isWrite(apply)).toBe(true)
    expect(isWrite(requestFacts({ method: 'POST', url: '/apis/authentication.k8s.io/v1/tokenreviews' }))).toBe(false)
    expect(isWrite(requestFacts({ method: 'GET', url: list }))).toBe(false)
  })
})

describe('without faults', () => {
  test('forwards requests with the credentials of the upstream, returns the answers, and logs both', async () => {
    const { small, proxy, call } = await withProxy()
    const answer = await call('PATCH', `${one}?fieldManager=me`, { body: '{}' })
    expect(await answer.body.json()).toMatchObject({ metadata: { uid: 'u-7' }, authorization: 'Bearer upstream' })
    expect(small.requests).toEqual([`PATCH ${one}?fieldManager=me`])
    expect(proxy.log.writes()).toMatchObject([
      { verb: 'patch', name: 'a', fieldManager: 'me', status: 200, answeredVersion: '7' },
    ])
    expect(proxy.log.writes()[0]?.bytes).toBeGreaterThan(40)
    expect(proxy.log.writes(performance.now())).toEqual([])
  })

  test('refuses a client without its token', async () => {
    const { small, proxy } = await withProxy()
    const answer = await send(new URL(list, proxy.connection.server), { headers: { authorization: 'Bearer guess' } })
    expect([answer.statusCode, small.requests]).toEqual([401, []])
    await answer.body.dump()
  })

  test('streams a watch line by line and closes the upstream watch when the client disconnects', async () => {
    const { small, proxy, call } = await withProxy()
    const leaves = new AbortController()
    const answer = await call('GET', watch, { signal: leaves.signal })
    const chunks = answer.body[Symbol.asyncIterator]()
    small.sendEvent('ADDED', 'a', '6')
    expect(String((await chunks.next()).value)).toContain('"name":"a"')
    small.sendEvent('ADDED', 'b', '7')
    expect(String((await chunks.next()).value)).toContain('"name":"b"')
    expect(proxy.events().map(({ name }) => name)).toEqual(['a', 'b'])
    leaves.abort()
    await expect(chunks.next()).rejects.toThrow()
    await until('the upstream watch to be closed', () => small.openWatches() === 0 && proxy.openSockets() === 0)
    expect(proxy.log.watches('configmaps')[0]?.endedAt).toBeDefined()
  })
})

describe('request faults', () => {
  test('a refusal is used as often as it was armed, and only for matching requests', async () => {
    const { small, proxy, call, status } = await withProxy()
    const armed = proxy.onRequest({ kind: 'refuse', ...tooManyRequests(3) }, { uses: 2, match: matching({ verb: 'list' }) })
    expect(await status('GET', one)).toBe(200)
    const refused = await call('GET', list)
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '3'])
    expect(await refused.body.json()).toMatchObject({ kind: 'Status', code: 429, details: { retryAfterSeconds: 3 } })
    expect(await status('GET', list)).toBe(429)
    expect(await status('GET', list)).toBe(200)
    expect(armed.used()).toBe(2)
    expect(small.requests).toHaveLength(2)
    const forGood = proxy.onRequest({ kind: 'refuse', ...expired }, { uses: Number.POSITIVE_INFINITY })
    expect([await status('GET', list), await status('GET', list)]).toEqual([410, 410])
    forGood.disarm()
    expect(await status('GET', list)).toBe(200)
  })

  test('firstOfEach matches the first write of each object', async () => {
    const { proxy, status } = await withProxy()
    const match = firstOfEach(({ path }: { readonly path: string }) => path)
    proxy.onRequest(
      { kind: 'refuse', ...conflict },
      { uses: Number.POSITIVE_INFINITY, match: facts => isWrite(facts) && match(facts) },
    )
    expect([await status('PUT', one), await status('PUT', one), await status('PUT', '/api/v1/nodes/n')]).toEqual([409, 200, 409])
  })

  test('slow delays a request, reset prevents it, lose-answer executes it without an answer', async () => {
    const { small, proxy, status } = await withProxy()
    proxy.onRequest({ kind: 'slow', milliseconds: 150 })
    const started = performance.now()
    expect(await status('GET', list)).toBe(200)
    expect(performance.now() - started).toBeGreaterThanOrEqual(149)
    proxy.onRequest({ kind: 'reset' })
    await expect(status('PUT', one)).rejects.toThrow()
    expect(small.requests).toHaveLength(1)
    proxy.onRequest({ kind: 'lose-answer' })
    await expect(status('PUT', one)).rejects.toThrow()
    expect(small.requests).toHaveLength(2)
  })

  test('half-open: requests on that connection get no answer; other connections work', async () => {
    const { proxy, call, status } = await withProxy()
    proxy.onRequest({ kind: 'half-open' })
    await expect(call('GET', list, { signal: AbortSignal.timeout(200) })).rejects.toThrow(/timeout/i)
    expect(await status('GET', list)).toBe(200)
  })

  test('deaden: a watch on an existing connection stays open and receives nothing more', async () => {
    const { small, proxy, status, follow } = await withProxy()
    const { received } = await follow()
    proxy.deaden()
    small.sendEvent('ADDED', 'a', '6')
    await until('the lost line to be noted', () => proxy.events().length === 1)
    expect(await status('GET', list)).toBe(200)
    expect(received).toEqual({ text: '', end: 'open' })
    expect(proxy.openSockets()).toBe(1)
  })

  test('shorten: the server is asked to end the watch earlier', async () => {
    const { small, proxy, follow } = await withProxy()
    proxy.onRequest({ kind: 'shorten', seconds: 4 })
    await follow()
    expect(small.requests[0]).toContain('timeoutSeconds=4')
  })

  test('stale: a list of an older version, and a watch from there that is silent until the gate opens', async () => {
    const { small, proxy, status, follow } = await withProxy()
    const gate = Promise.withResolvers<void>()
    proxy.onRequest({ kind: 'stale', resourceVersion: '3', until: gate.promise }, { uses: 2 })
    await status('GET', list)
    expect(small.requests[0]).toContain('resourceVersion=3&resourceVersionMatch=Exact')
    const { names } = await follow()
    expect(small.requests[1]).toMatch(/resourceVersion=3$/)
    small.sendEvent('ADDED', 'a', '4')
    expect(names()).toEqual([])
    gate.resolve()
    await until('the past to arrive', () => names().length === 1)
  })
})

describe('event faults', () => {
  test('dropped, duplicated and late events keep the order of the server', async () => {
    const { small, proxy, follow } = await withProxy()
    const { names } = await follow()
    const gate = Promise.withResolvers<void>()
    const dropped = proxy.onEvent({ kind: 'drop' }, { match: matching({ name: 'a' }) })
    proxy.onEvent({ kind: 'duplicate' }, { match: matching({ name: 'b', type: 'MODIFIED' }) })
    proxy.onEvent({ kind: 'late', until: () => gate.promise }, { match: matching({ name: 'c' }) })
    for (const name of ['a', 'a', 'b', 'c', 'd']) small.sendEvent('MODIFIED', name, '6')
    await dropped.firstUse
    await until('what is before the late one', () => names().length === 3)
    expect(names()).toEqual(['a', 'b', 'b'])
    gate.resolve()
    await until('the rest', () => names().length === 5)
    expect(names()).toEqual(['a', 'b', 'b', 'c', 'd'])
    expect(proxy.events().map(({ fault }) => fault)).toEqual(['drop', undefined, 'duplicate', 'late', undefined])
  })

  test.each([
    ['close', 'ended', ''],
    ['close-after', 'ended', '{"type":"ADDED","object":{"metadata":{"name":"b"'],
    ['truncate', 'ended', '{"type":"ADDED","object":{"metadata":'],
    ['reset', 'broken', ''],
    ['stall', 'open', ''],
  ] as const)('%s leaves the watch %s', async (kind, end, text) => {
    const { small, proxy, follow } = await withProxy()
    const { received, names } = await follow()
    small.sendEvent('ADDED', 'a', '6')
    await until('the first line', () => names().length === 1)
    const before = received.text
    proxy.onEvent({ kind })
    small.sendEvent('ADDED', 'b', '7')
    await until('the upstream watch to be closed', () => small.openWatches() === 0)
    await until('the end of the watch', () => received.end === end)
    const more = received.text.slice(before.length)
    expect([more.startsWith(text), more === '']).toEqual([true, text === ''])
    expect(more.endsWith('\n')).toBe(kind === 'close-after')
  })

  test('an ERROR event replaces the event and ends the watch', async () => {
    const { small, proxy, follow } = await withProxy()
    const { received } = await follow()
    proxy.onEvent({ kind: 'error', ...expired }, { match: matching({ type: 'BOOKMARK' }) })
    small.sendEvent('BOOKMARK', '', '9')
    await until('the end', () => received.end === 'ended')
    expect(JSON.parse(received.text)).toMatchObject({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } })
  })

  test('a watch that the server ends is ended for the client', async () => {
    const { small, follow } = await withProxy()
    const { received } = await follow()
    small.endWatches()
    await until('the end', () => received.end === 'ended')
  })
})

describe('outages', () => {
  test.each([
    ['refuse', /ECONNREFUSED/],
    ['reset', /ECONNRESET|closed/],
  ] as const)('%s: all connections are cut; afterwards the proxy serves on the same port again', async (kind, message) => {
    const { small, proxy, status, follow } = await withProxy()
    const { received } = await follow()
    await proxy.down(kind)
    await until('the watch to break', () => received.end === 'broken')
    await expect(status('GET', list)).rejects.toThrow(message)
    expect(small.requests).toHaveLength(1)
    await proxy.up()
    expect(await status('GET', list)).toBe(200)
  })
})
