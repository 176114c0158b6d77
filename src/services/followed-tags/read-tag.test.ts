// Against a registry of its own on loopback that answers as the test says: what the platform sends, and what it makes of
// answers, hostile ones too.
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../lib/clock.ts'
import { followedRegistry } from './followed-registry.ts'
import { createTagReader, type TagAnswer } from './read-tag.ts'

const digest = `sha256:${'a'.repeat(64)}`

type Answer = (request: IncomingMessage, response: ServerResponse) => void

async function serve(answer: Answer): Promise<{ readonly host: string; readonly seen: string[] }> {
  const seen: string[] = []
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url} ${request.headers.authorization ?? '-'}`)
    answer(request, response)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

async function read(item: string, timeoutMilliseconds?: number): Promise<TagAnswer> {
  const reader = createTagReader(systemClock, timeoutMilliseconds)
  onTestFinished(() => reader.close())
  return reader.read({ registry: followedRegistry(item), repository: 'acme/shop', tag: 'v1' })
}

const named: Answer = (_, response) => response.writeHead(200, { 'docker-content-digest': digest }).end()

const unreadable = (message: string) => ({ kind: 'unreadable', message })

describe('the digest of a tag', () => {
  test('is asked for by one HEAD request without a credential', async () => {
    const { host, seen } = await serve(named)
    expect(await read(`http://${host}`)).toEqual({ kind: 'digest', digest })
    expect(seen).toEqual(['HEAD /v2/acme/shop/manifests/v1 -'])
  })

  test('is that of the content when the registry does not name it', async () => {
    const { host, seen } = await serve((_, response) => response.end('{}'))
    const sha256 = createHash('sha256').update('{}').digest('hex')
    expect(await read(`http://${host}`)).toEqual({ kind: 'digest', digest: `sha256:${sha256}` })
    expect(seen.map(line => line.split(' ')[0])).toEqual(['HEAD', 'GET'])
  })

  test('is not taken from content that is larger than a manifest may be', async () => {
    const { host } = await serve(({ method }, response) => {
      if (method === 'HEAD') return response.end()
      const chunk = Buffer.alloc(65_536)
      const more = (): void => {
        if (!response.destroyed) response.write(chunk, more)
      }
      return more()
    })
    expect(await read(`http://${host}`)).toEqual(unreadable('answered more than a manifest may have'))
  })

  test.each([`sha512:${'a'.repeat(128)}`, 'sha256:a', 'latest'])('is not %s', async other => {
    const { host } = await serve((_, response) => response.writeHead(200, { 'docker-content-digest': other }).end())
    expect(await read(`http://${host}`)).toEqual(unreadable('names the image by something else than a sha256 digest'))
  })
})

describe('a registry that wants a token', () => {
  const challenging =
    (realm: (host: string) => string): Answer =>
    (request, response) => {
      const { url = '', headers } = request
      if (url.startsWith('/token')) return void response.end(JSON.stringify({ token: 'anonymous' }))
      if (headers.authorization === 'Bearer anonymous') return named(request, response)
      const challenge = `Bearer realm="${realm(headers.host ?? '')}",service="registry.test",scope="repository:globex/secret:pull,push"`
      return void response.writeHead(401, { 'www-authenticate': challenge }).end()
    }

  test('gives an anonymous one for this repository alone, whatever it asks for', async () => {
    const { host, seen } = await serve(challenging(own => `http://user:password@${own}/token?account=platform`))
    expect(await read(`http://${host}`)).toEqual({ kind: 'digest', digest })
    expect(seen).toEqual([
      'HEAD /v2/acme/shop/manifests/v1 -',
      'GET /token?service=registry.test&scope=repository%3Aacme%2Fshop%3Apull -',
      'HEAD /v2/acme/shop/manifests/v1 Bearer anonymous',
    ])
  })

  test('does not choose whom the platform asks: only hosts of the list', async () => {
    const other = await serve((_, response) => response.end(JSON.stringify({ token: 'anonymous' })))
    const { host } = await serve(challenging(() => `http://${other.host}/token`))
    const refused = unreadable('lets nobody read this image without a credential, or does not have it')
    expect(await read(`http://${host}`)).toEqual(refused)
    expect(other.seen).toEqual([])
    expect(await read(`http://${host}=${other.host}`)).toEqual({ kind: 'digest', digest })
    expect(other.seen).toHaveLength(1)
  })

  test.each<[number, Record<string, string>, object]>([
    [429, { 'retry-after': '60' }, { ...unreadable('asks for fewer requests'), pauseSeconds: 60 }],
    [503, {}, unreadable('answered 503')],
  ])('that gives none now (%i) says nothing about the image', async (status, headers, expected) => {
    const { host, seen } = await serve((request, response) => {
      if (request.url?.startsWith('/token')) return void response.writeHead(status, headers).end('busy')
      const challenge = `Bearer realm="http://${request.headers.host}/token"`
      return void response.writeHead(401, { 'www-authenticate': challenge }).end('unauthorized')
    })
    expect(await read(`http://${host}`)).toEqual(expected)
    expect(seen).toHaveLength(2)
  })

  test('gives none that breaks a header, and none of any size', async () => {
    for (const token of ['a\r\nhost: evil.example', 'a'.repeat(20_000), 'a'.repeat(70_000), 7]) {
      const { host, seen } = await serve(({ url = '', headers }, response) => {
        if (url.startsWith('/token')) return void response.end(JSON.stringify({ token }))
        const challenge = `Bearer realm="http://${headers.host}/token"`
        return void response.writeHead(401, { 'www-authenticate': challenge }).end()
      })
      expect(await read(`http://${host}`)).toEqual(
        unreadable('lets nobody read this image without a credential, or does not have it'),
      )
      expect(seen).toHaveLength(2)
    }
  })
})

describe('an answer that says nothing about the tag', () => {
  test('a redirect is not followed', async () => {
    const other = await serve(named)
    const { host } = await serve((_, response) => response.writeHead(307, { location: `http://${other.host}/` }).end())
    expect(await read(`http://${host}`)).toEqual(unreadable('answers with a redirect, which is not followed'))
    expect(other.seen).toEqual([])
  })

  test.each<[number, Record<string, string>, object]>([
    [404, {}, unreadable('has no such image or tag')],
    [403, {}, unreadable('lets nobody read this image without a credential, or does not have it')],
    [503, {}, unreadable('answered 503')],
    [429, { 'retry-after': '120' }, { ...unreadable('asks for fewer requests'), pauseSeconds: 120 }],
    [429, {}, { ...unreadable('asks for fewer requests'), pauseSeconds: 300 }],
  ])('%i', async (status, headers, expected) => {
    const { host } = await serve((_, response) => response.writeHead(status, headers).end())
    expect(await read(`http://${host}`)).toEqual(expected)
  })

  test('a registry that never ends its answer is left after the time', async () => {
    const { host } = await serve(({ method }, response) => {
      if (method === 'HEAD') return void response.writeHead(200).end()
      return void response.writeHead(200).write('{')
    })
    expect(await read(`http://${host}`, 200)).toEqual(unreadable('did not answer in time'))
  })

  test('a registry that is away: the code, never an address', async () => {
    const { host } = await serve((_, response) => response.destroy())
    expect(await read('http://127.0.0.1:1')).toEqual(unreadable('cannot be asked (ECONNREFUSED)'))
    expect(await read(`http://${host}`)).toMatchObject({ message: expect.stringMatching(/^cannot be asked \([A-Z_]+\)$/) })
  })

  test('without TLS nothing is sent to a registry that is not marked for it', async () => {
    const { host, seen } = await serve(named)
    expect(await read(host)).toMatchObject({ kind: 'unreadable' })
    expect(seen).toEqual([])
  })
})
