import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { issueCertificate, makeCertificateAuthority } from '../../../src/identity/certificate-authority.ts'
import { type ClosedLoop, openClosedLoop } from './closed-loop.ts'
import type { LoadPlan, PlannedRequest } from './planned-request.ts'

const request = (body: string, change: Partial<PlannedRequest> = {}): PlannedRequest => ({
  path: '/echo',
  headers: { 'content-type': 'text/plain' },
  body: Buffer.from(body).toString('base64'),
  expectedStatus: 200,
  expectedText: body.slice(0, 20),
  ...change,
})

type Seen = { readonly path: string; readonly length: number; readonly id: string }

function echo(seen: Seen[]) {
  return (from: IncomingMessage | Http2ServerRequest, to: ServerResponse | Http2ServerResponse): void => {
    const chunks: Buffer[] = []
    from.on('data', (chunk: Buffer) => chunks.push(chunk))
    from.on('end', () => {
      const body = Buffer.concat(chunks)
      seen.push({ path: from.url ?? '', length: body.length, id: String(from.headers['x-id']) })
      to.statusCode = from.url === '/missing' ? 404 : 200
      to.setHeader('content-length', String(body.length))
      to.end(body)
    })
  }
}

describe.each(['http/1.1', 'h2'] as const)('closed-loop load by %s', protocol => {
  const seen: Seen[] = []
  let server: ReturnType<typeof createServer> | ReturnType<typeof createSecureServer>
  let plan: Omit<LoadPlan, 'requests'>

  beforeAll(async () => {
    const now = new Date()
    const authority = await makeCertificateAuthority({ commonName: 'test', now, lifetimeDays: 1 })
    const leaf = await issueCertificate({
      authority,
      commonName: 'localhost',
      dnsNames: ['localhost'],
      usage: 'server',
      now,
      lifetimeDays: 1,
    })
    server =
      protocol === 'h2'
        ? createSecureServer({ cert: leaf.certificatePem, key: leaf.privateKeyPem.reveal() }, echo(seen))
        : createServer(echo(seen))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    plan = {
      port: typeof address === 'object' && address !== null ? address.port : 0,
      ...(protocol === 'h2' ? { authority: authority.certificatePem } : {}),
      protocol,
      connections: 2,
      streams: protocol === 'h2' ? 4 : 1,
      warmUpRequests: 50,
    }
  })
  afterAll(() => {
    server.close()
  })

  async function loop(change: Partial<LoadPlan> & Pick<LoadPlan, 'requests'>): Promise<ClosedLoop> {
    const opened = await openClosedLoop({ ...plan, ...change })
    onTestFinished(opened.close)
    seen.length = 0
    return opened
  }

  test('sends exactly the warm-up, and each request completely', async () => {
    const { warmUp } = await loop({ requests: [request('a small one'), request('x'.repeat(40_000))] })
    expect(await warmUp()).toBe(0)
    expect(seen.map(({ length }) => length).sort((a, b) => a - b)).toEqual([
      ...Array(25).fill('a small one'.length),
      ...Array(25).fill(40_000),
    ])
  })

  test('gives every request its own id', async () => {
    const { warmUp } = await loop({ requests: [request('with an id')], uniqueHeader: 'x-id' })
    await warmUp()
    expect(new Set(seen.map(({ id }) => id)).size).toBe(50)
    expect(seen[0]?.id).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/)
  })

  test('counts a wrong status and a wrong text as failures', async () => {
    const wrongStatus = await loop({ requests: [request('not there', { path: '/missing' })] })
    expect(await wrongStatus.warmUp()).toBe(50)
    const wrongText = await loop({ requests: [request('one thing', { expectedText: 'another' })] })
    expect(await wrongText.warmUp()).toBe(50)
  })

  test('measures as many requests as the server received', async () => {
    const { run } = await loop({ requests: [request('measured')] })
    const result = await run(0.2)
    expect(result).toMatchObject({ requests: seen.length, failures: 0 })
    expect(result.p50Milliseconds).toBeLessThanOrEqual(result.p99Milliseconds)
    expect(result.wallSeconds).toBeGreaterThanOrEqual(0.2)
  })
})

test('connections come from addresses of their own where the plan says so', async () => {
  const addresses = new Set<string | undefined>()
  const server = createServer((from, to) => {
    addresses.add(from.socket.remoteAddress)
    from.resume()
    to.end('done')
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.close()
  })
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const plan = { port, protocol: 'http/1.1', connections: 3, streams: 1, warmUpRequests: 9 } as const
  const requests = [request('anything', { expectedText: 'done' })]
  for (const ownAddresses of [true, false]) {
    const { warmUp, close } = await openClosedLoop({ ...plan, requests, ownAddresses })
    expect(await warmUp()).toBe(0)
    close()
  }
  expect([...addresses].sort()).toEqual(['127.0.0.1', '127.1.0.1', '127.1.0.2', '127.1.0.3'])
})

test('in an open loop the wait for a slow server counts, and the number of requests follows the clock', async () => {
  let busyUntil = 0
  // Serves one request after the other, 20 ms each: half as many as are due.
  const server = createServer((from, to) => {
    from.resume()
    busyUntil = Math.max(busyUntil, performance.now()) + 20
    setTimeout(() => to.end('done'), busyUntil - performance.now())
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.close()
  })
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const plan = { protocol: 'http/1.1', connections: 10, streams: 1, warmUpRequests: 1 } as const
  const requests = [request('anything', { expectedText: 'done' })]
  const { run, close } = await openClosedLoop({ ...plan, port, requests, perSecond: 100 })
  const result = await run(0.5)
  close()
  expect(result).toMatchObject({ requests: 50, failures: 0 })
  expect(result.p99Milliseconds).toBeGreaterThan(300)
})

test('a server that closes its connections causes an error, not a slow answer', async () => {
  const server = createServer(from => from.socket.destroy()).listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.close()
  })
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const requests = [request('anything')]
  const { warmUp } = await openClosedLoop({ port, protocol: 'http/1.1', connections: 1, streams: 1, warmUpRequests: 1, requests })
  await expect(warmUp()).rejects.toThrow()
})
