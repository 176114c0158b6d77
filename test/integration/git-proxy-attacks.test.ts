// What workloads and a git server in GitHub's place may try against the git proxy: each is bounded, and what should not go on is
// cut.
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { halt } from '../../src/api/github/halt.ts'
import { repositoryGrant } from '../../src/api/github/repository-grant.ts'
import { memoryInUse } from '../../src/lib/testing/memory-in-use.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { flushPacket, packetLine } from '../../src/services/packet-lines.ts'
import { type GitProxyFixture, withGitProxy } from '../fixtures/git-proxy-fixture.ts'
import { openRequest, pushBody, rawPush, rawRequest, shop } from '../fixtures/git-proxy-requests.ts'
import { put } from '../fixtures/put-object.ts'
import { type DeskEnvironment, startDeskEnvironment } from '../fixtures/token-desk-fixture.ts'

let environment: DeskEnvironment
beforeAll(async () => {
  environment = await startDeskEnvironment()
})
afterAll(() => environment?.stop())

const zero = '0'.repeat(40)
const one = '1'.repeat(40)
const pack = Buffer.concat([Buffer.from('PACK'), Buffer.of(0, 0, 0, 2, 0, 0, 0, 0)])

/** A git server in GitHub's place, and what it was sent. */
function recorder(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const requests: { readonly url: string; readonly headers: IncomingMessage['headers']; body: string }[] = []
  const standIn = (request: IncomingMessage, response: ServerResponse): void => {
    const seen = { url: request.url ?? '', headers: request.headers, body: '' }
    requests.push(seen)
    request.on('data', (piece: Buffer) => {
      seen.body += piece.toString('latin1')
    })
    answer(request, response)
  }
  return { requests, standIn }
}

const reporting = (request: IncomingMessage, response: ServerResponse): void => {
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'application/x-git-receive-pack-result' })
    response.end(`${packetLine('unpack ok\n')}${packetLine('ok refs/heads/a\n')}${flushPacket}`)
  })
}

async function opened(answer: (request: IncomingMessage, response: ServerResponse) => void = reporting) {
  const { requests, standIn } = recorder(answer)
  const fixture = await withGitProxy(environment, { standIn })
  await fixture.approve('write-shop')
  return { fixture, requests, token: await fixture.identity() }
}

const records = (fixture: GitProxyFixture, action: 'git.pushed' | 'git.push-intended') =>
  environment.store.audit.list({ namespace: fixture.namespace, action, limit: 200 })

describe('a workload', () => {
  test('that is nobody is asked who it is, and costs GitHub nothing', async () => {
    const { fixture, requests, token } = await opened()
    for (const [grant, bearer] of [
      ['write-shop', 'junk'],
      ['../other', token],
      ['Write-Shop', token],
      ['', ''],
    ] as const) {
      const answer = await rawRequest(fixture, bearer, { grant, method: 'GET', path: '/info/refs?service=git-upload-pack' })
      expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, 'Basic realm="Sekisho", charset="UTF-8"'])
    }
    expect(requests).toEqual([])
  })

  test('does not choose what GitHub is asked for beside git', async () => {
    const { fixture, requests, token } = await opened()
    const paths = [
      '/info/refs',
      '/info/refs?service=git-upload-archive',
      '/info/refs?service=git-upload-pack&x=1',
      '/HEAD',
      '/objects/info/packs',
      '/info/lfs/objects/batch',
      '/../../x/info/refs?service=git-upload-pack',
      '/git-upload-archive',
    ]
    for (const path of paths) {
      const { status } = await rawRequest(fixture, token, { method: 'GET', path })
      expect([400, 404]).toContain(status)
    }
    expect(
      (await rawRequest(fixture, token, { path: '/git-upload-pack', headers: { 'content-type': 'text/plain' }, body: 'x' }))
        .status,
    ).toBe(400)
    const old = await rawRequest(fixture, token, {
      ...{ method: 'GET', path: '/info/refs?service=git-upload-pack' },
      headers: { 'git-protocol': 'version=1' },
    })
    expect([old.status, old.text]).toEqual([400, expect.stringContaining('protocol version 2')])
    expect(requests).toEqual([])
  })

  test('has no header passed on, and the token is a header of one request to the configured host', async () => {
    const { fixture, requests, token } = await opened()
    const headers = { cookie: 'a=b', 'x-github-sudo': 'yes', forwarded: 'for=1.2.3.4', 'accept-language': 'de' }
    const answer = await rawRequest(fixture, token, {
      ...{ path: '/git-receive-pack', headers },
      body: pushBody([`${zero} ${one} refs/heads/a`], pack),
    })
    expect(answer.status).toBe(200)
    const [seen] = requests
    expect(Object.keys(seen?.headers ?? {}).sort()).toEqual(
      ['accept', 'authorization', 'connection', 'content-type', 'host', 'transfer-encoding', 'user-agent'].sort(),
    )
    expect(seen?.url).toBe('/acme/shop.git/git-receive-pack')
    expect(Buffer.from(seen?.headers.authorization?.slice(6) ?? '', 'base64').toString()).toMatch(/^x-access-token:ghs_/)
    expect(JSON.stringify(answer)).not.toContain('ghs_')
  })

  test('pushes a second list of refs behind the first, and GitHub gets neither', async () => {
    const { fixture, requests, token } = await opened()
    const second = pushBody([`${zero} ${one} refs/pull/1/head`], pack)
    const answer = await rawPush(fixture, token, [`${zero} ${one} refs/heads/a`], second)
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('no pack after its list')])
    const deleting = await rawPush(fixture, token, [`${one} ${zero} refs/heads/a`], second)
    expect([deleting.status, deleting.text]).toEqual([400, expect.stringContaining('more than their list')])
    expect(requests).toEqual([])
    expect(await records(fixture, 'git.push-intended')).toEqual([])
  })

  test('pushes refs that its grant does not name: GitHub hears nothing, and the log says which', async () => {
    const { fixture, requests, token } = await opened()
    await fixture.approve('release-shop', { git: { refs: ['refs/heads/release/*'] } })
    const push = (...refs: readonly string[]) =>
      rawRequest(fixture, token, {
        ...{ grant: 'release-shop', path: '/git-receive-pack' },
        body: pushBody(
          refs.map(ref => `${zero} ${one} ${ref}`),
          pack,
        ),
      })
    const refused = await push('refs/heads/release/1', 'refs/heads/main')
    expect([refused.status, refused.text]).toEqual([200, expect.stringContaining('spec.git.refs has refs/heads/release/*')])
    expect(requests).toEqual([])
    const { namespace } = fixture
    expect(await environment.store.audit.list({ namespace, action: 'git.refused', limit: 10 })).toMatchObject([
      { details: { check: 'RefNotAllowed', ref: 'refs/heads/main' } },
    ])
    expect((await push('refs/heads/release/1')).status).toBe(200)
    expect(requests).toHaveLength(1)
  })

  test('sends a pack of 20 MiB behind a ref that is refused: nothing reaches GitHub, and memory stays flat', async () => {
    const { fixture, requests, token } = await opened()
    const { sent, answer } = openRequest(fixture, token, { path: '/git-receive-pack' })
    const list = pushBody([`${zero} ${one} refs/pull/1/head`], pack)
    const piece = Buffer.alloc(1024 * 1024, 'x')
    const held = () => memoryInUse().arrayBuffers
    const before = held()
    let most = before
    sent.write(list)
    for (let count = 0; count < 20; count++) {
      if (!sent.write(piece)) await once(sent, 'drain')
      most = Math.max(most, held())
    }
    sent.end()
    const { status, text } = await answer
    expect([status, text]).toEqual([200, expect.stringContaining('only branches')])
    expect(requests).toEqual([])
    // Client and proxy are one process here.
    expect(most - before).toBeLessThan(10 * 1024 * 1024)
  })

  test('pushes 100,000 refs and is told how many may be', async () => {
    const { fixture, requests, token } = await opened()
    const commands = Array.from({ length: 100_000 }, (_none, at) => `${zero} ${one} refs/heads/${at}`)
    const answer = await rawPush(fixture, token, commands, pack)
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('more than 100 refs in one push')])
    expect(requests).toEqual([])
  })

  test('pushes more refs than its tenant may, and others are not concerned', async () => {
    const { fixture, token } = await opened()
    const push = (from: number) =>
      rawPush(
        fixture,
        token,
        Array.from({ length: 90 }, (_none, at) => `${zero} ${one} refs/heads/${from + at}`),
        pack,
      )
    expect([(await push(0)).status, (await push(100)).status]).toEqual([200, 200])
    const refused = await push(200)
    expect([refused.status, Number(refused.headers['retry-after'])]).toEqual([429, expect.any(Number)])
  })

  test('sends a bomb: what it unpacks to is bounded, and so is what unpacks to nothing', async () => {
    const { fixture, token } = await opened((request, response) => {
      request.on('end', () => response.end())
    })
    const command = packetLine('command=fetch\n')
    const encoded = { path: '/git-upload-pack', headers: { 'content-encoding': 'gzip' } }
    const bomb = gzipSync(Buffer.concat([Buffer.from(command), Buffer.alloc(64 * 1024 * 1024)]))
    expect(bomb.length).toBeLessThan(100_000)
    const answer = await rawRequest(fixture, token, { ...encoded, body: bomb })
    expect([answer.status, answer.text]).toEqual([413, expect.stringContaining('larger than 16 MiB')])
    const junk = await rawRequest(fixture, token, { ...encoded, body: Buffer.from('not gzip at all') })
    expect([junk.status, junk.text]).toEqual([400, expect.stringContaining('not gzip')])
    const brotli = await rawRequest(fixture, token, { ...encoded, headers: { 'content-encoding': 'br' }, body: 'x' })
    expect(brotli.status).toBe(400)
    const push = await rawRequest(fixture, token, {
      ...{ path: '/git-receive-pack', headers: { 'content-encoding': 'gzip' } },
      body: gzipSync(pushBody([`${zero} ${one} refs/heads/a`], pack)),
    })
    expect([push.status, push.text]).toEqual([400, expect.stringContaining('must not be compressed')])
  })

  test.each([
    [
      'a negotiation without end',
      Buffer.concat([Buffer.from(packetLine('command=fetch\n')), Buffer.from(packetLine(`have ${one}\n`).repeat(400_000))]),
      413,
    ],
    ['a command that does not read', Buffer.from(packetLine('command=push\n')), 400],
    ['no command', Buffer.from('0001'), 400],
    ['an older protocol', Buffer.from(packetLine(`want ${one}\n`)), 400],
  ])('sends %s', async (_case, body, status) => {
    const { fixture, token } = await opened((request, response) => {
      request.on('end', () => response.end())
    })
    expect((await rawRequest(fixture, token, { path: '/git-upload-pack', body })).status).toBe(status)
  })

  test('sends headers that are too large', async () => {
    const { fixture, token } = await opened()
    const asked = {
      method: 'GET' as const,
      path: '/info/refs?service=git-upload-pack',
      headers: { 'x-filler': 'x'.repeat(40_000) },
    }
    expect((await rawRequest(fixture, token, asked)).status).toBe(431)
  })
})

/** Writes as fast as it is read. Resolves to the bytes that were taken when the connection is closed. */
async function endlessly(response: ServerResponse): Promise<number> {
  let bytes = 0
  const piece = Buffer.alloc(64 * 1024)
  while (!response.destroyed) {
    bytes += piece.length
    if (!response.write(piece)) await Promise.race([once(response, 'drain'), once(response, 'close')])
  }
  return bytes
}

describe('a server in GitHub’s place', () => {
  test('that refuses with an answer without end: the connection is closed, and next to nothing of it is read', async () => {
    const taken = Promise.withResolvers<number>()
    const { fixture, token } = await opened((_request, response) => {
      taken.resolve(endlessly(response.writeHead(403)))
    })
    const got = await rawRequest(fixture, token, { method: 'GET', path: '/info/refs?service=git-upload-pack' })
    expect(got.status).toBe(403)
    expect(await taken.promise).toBeLessThan(16 * 1024 * 1024)
  })

  test.each<readonly [string, (request: IncomingMessage, response: ServerResponse) => void, number, string]>([
    [
      'redirects',
      (_request, response) => response.writeHead(301, { location: 'http://127.0.0.1:9/x' }).end(),
      503,
      'another address',
    ],
    ['refuses', (_request, response) => response.writeHead(403).end('no'), 403, 'GitHub refused'],
    ['does not know the repository', (_request, response) => response.writeHead(404).end(), 403, 'GitHub refused'],
    ['fails', (_request, response) => response.writeHead(500).end(), 503, 'status 500'],
    [
      'answers with a page',
      (_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<b>'),
      503,
      'not of git’s protocol',
    ],
    [
      'answers compressed',
      (_request, response) =>
        response
          .writeHead(200, { 'content-type': 'application/x-git-upload-pack-advertisement', 'content-encoding': 'gzip' })
          .end(),
      503,
      'not of git’s protocol',
    ],
    // What it says beside the refusal is not read.
    ...[401, 403, 429].map(
      status =>
        [
          `refuses with ${status} and never ends`,
          (_request: IncomingMessage, response: ServerResponse) => void endlessly(response.writeHead(status)),
          status === 429 ? 503 : 403,
          status === 429 ? 'limits the rate' : 'GitHub refused',
        ] as const,
    ),
    ['hangs up', request => request.socket.destroy(), 503, 'cannot be reached'],
  ])('that %s: the workload is told, and sees no token', async (what, answer, status, text) => {
    const { fixture, requests, token } = await opened(answer)
    const got = await rawRequest(fixture, token, { method: 'GET', path: '/info/refs?service=git-upload-pack' })
    expect([got.status, got.text]).toEqual([status, expect.stringContaining(text)])
    // A token that is new may not be known everywhere yet.
    expect(requests).toHaveLength(/^refuses( with 40[13] .*)?$/.test(what) ? 4 : 1)
    expect(JSON.stringify(got)).not.toMatch(/ghs_|127\.0\.0\.1/)
  })

  test('that ends a push without a report: the log says that it is not known', async () => {
    const { fixture, token } = await opened((request, response) => {
      request.on('end', () => response.writeHead(200, { 'content-type': 'application/x-git-receive-pack-result' }).end())
    })
    await rawPush(fixture, token, [`${zero} ${one} refs/heads/a`], pack)
    expect(await records(fixture, 'git.pushed')).toMatchObject([{ outcome: 'failed', details: { ref: 'refs/heads/a' } }])
  })

  test('that breaks off in the middle of a push: the client sees no end, and the log says that it is not known', async () => {
    const { fixture, token } = await opened((request, response) => {
      request.once('data', () => {
        response.writeHead(200, { 'content-type': 'application/x-git-receive-pack-result' })
        response.write(packetLine('unpack ok\n'), () => request.socket.destroy())
      })
    })
    await expect(rawPush(fixture, token, [`${zero} ${one} refs/heads/a`], pack)).rejects.toThrow()
    const ended = () => records(fixture, 'git.pushed')
    const found = await waitUntil('the end is recorded', async () => ((await ended()).length > 0 ? ended() : undefined))
    expect(found).toMatchObject([{ outcome: 'failed' }])
  })
})

describe('a transfer', () => {
  /** A clone of which GitHub has sent the first bytes, and sends more for as long as it is read. */
  async function endless() {
    const begun = Promise.withResolvers<void>()
    const made = await opened((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-result' })
      const timer = setInterval(() => response.write(packetLine('\u0002working\n')), 20)
      response.once('close', () => clearInterval(timer))
      begun.resolve()
    })
    const { sent, answer } = openRequest(made.fixture, made.token, { path: '/git-upload-pack' })
    sent.end(packetLine('command=fetch\n'))
    await begun.promise
    return { ...made, answer }
  }

  test('is cut when its grant is deleted', async () => {
    const { fixture, answer } = await endless()
    await fixture.client.delete(repositoryGrant, { namespace: fixture.namespace, name: 'write-shop' })
    await expect(answer).rejects.toThrow()
  })

  test('is cut by a Halt', async () => {
    const { fixture, answer } = await endless()
    const spec = {
      target: { type: 'Grant', grant: { namespace: fixture.namespace, name: 'write-shop' } },
      reason: 'a test halts it',
      requestedBy: 'github|github.localhost|1001',
    }
    await put(fixture.client, halt, { name: 'stop', namespace: fixture.namespace }, { spec })
    await expect(answer).rejects.toThrow()
  })

  test('whose client is silent within its list of refs ends with its grant, and no push is recorded', async () => {
    const { fixture, token } = await opened()
    const { namespace } = fixture
    const { sent, answer } = openRequest(fixture, token, { path: '/git-receive-pack' })
    sent.write('00')
    await waitUntil('the token is delivered', async () => {
      const delivered = await environment.store.audit.list({ namespace, action: 'token.delivered', limit: 1 })
      return delivered.length > 0 ? true : undefined
    })
    await fixture.client.delete(repositoryGrant, { namespace, name: 'write-shop' })
    await expect(answer).rejects.toThrow()
    expect(await records(fixture, 'git.push-intended')).toEqual([])
  })

  test('of a push that is cut is recorded as unknown, and nothing comes after it', async () => {
    const { fixture, token, requests } = await opened(() => {})
    const { sent, answer } = openRequest(fixture, token, { path: '/git-receive-pack' })
    sent.write(pushBody([`${zero} ${one} refs/heads/a`], pack))
    await waitUntil('GitHub has the list', async () => (requests[0]?.body.includes('refs/heads/a') ? true : undefined))
    expect(await records(fixture, 'git.push-intended')).toHaveLength(1)
    await fixture.client.delete(repositoryGrant, { namespace: fixture.namespace, name: 'write-shop' })
    const got = await waitUntil('the push is recorded', async () => {
      const found = await records(fixture, 'git.pushed')
      return found.length > 0 ? found : undefined
    })
    expect(got).toMatchObject([{ outcome: 'failed' }])
    sent.destroy()
    await answer.catch(() => undefined)
  })
})

test('a repository that was renamed is found by its id, under both names', async () => {
  const fixture = await withGitProxy(environment)
  await fixture.approve('write-shop', {}, [{ id: 4001, name: 'acme/former-name' }])
  const git = await fixture.pod('write-shop')
  expect(await git.run('ls-remote', shop(fixture, 'acme/former-name'))).toMatchObject({ ok: true })
  expect(await git.run('ls-remote', shop(fixture, 'ACME/Shop'))).toMatchObject({ ok: true })
})
