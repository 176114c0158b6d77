// The API of builds: who reads what, as the tenant's own people, other tenants, and people who guess names; and what is sent of
// a log.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openTestStore, type TestStore } from '../../../../test/fixtures/databases.ts'
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'
import { remoteSync as remoteSyncKind } from '../../../api/apps/remote-sync.ts'
import { groups } from '../../../api/names.ts'
import type { IdentityClaims } from '../../../identity/verify-id-token.ts'
import type { KubeClient } from '../../../kube/client/client.ts'
import { systemClock } from '../../../lib/clock.ts'
import { AppError } from '../../../lib/errors.ts'
import { silentLog } from '../../../lib/testing/silent-log.ts'
import type { BuildOutcome } from '../../../store/builds/build-record.ts'
import { compressText } from '../../../store/builds/log-text.ts'
import { createWebServer, listen, type WebServer } from '../../../web/server.ts'
import { createVisibleBuilds } from '../../builds/visible-builds.ts'
import { type AccessQuestion, createAccessReviews } from '../../people/access-reviews.ts'
import { registerBuilds } from './builds.ts'

let store: TestStore
let server: WebServer
let port: number
/** `<user id> <namespace>/<name or *>` of what RBAC allows. */
let allowed: Set<string>
let asked: string[]
let remoteSyncs: Map<string, RemoteSync>

function remoteSync(namespace: string, name: string, uid: string, reason = 'Deployed'): void {
  const { apiVersion, kind } = remoteSyncKind
  const condition = {
    type: 'Ready',
    status: 'False',
    reason,
    message: '3rd of 5',
    lastTransitionTime: '',
    observedGeneration: 1,
  }
  const object = { apiVersion, kind, metadata: { namespace, name, uid }, status: { conditions: [condition] } }
  remoteSyncs.set(`${namespace}/${name}`, object as unknown as RemoteSync)
}

const kube = {
  create: async (
    _type: unknown,
    object: { readonly spec: { readonly user: string; readonly resourceAttributes: AccessQuestion } },
  ) => {
    const { user, resourceAttributes } = object.spec
    const { namespace = '*', name = '*', group, resource, subresource, verb } = resourceAttributes
    expect({ group, resource, subresource, verb }).toEqual({
      group: 'apps.sekisho.dev',
      resource: 'remotesyncs',
      subresource: 'log',
      verb: 'get',
    })
    const key = `${user.split('|')[2]} ${namespace}/`
    asked.push(`${key}${name}`)
    return { ...object, status: { allowed: allowed.has(`${key}*`) || allowed.has(`${key}${name}`) } }
  },
} as unknown as Pick<KubeClient, 'create'>

function person(userId: number, organisation: number): IdentityClaims {
  const host = 'github.com'
  const held = [groups.members(host, organisation)]
  const expiresAt = new Date(Date.now() + 600_000)
  return { subject: `github|${host}|${userId}`, host, userId, login: 'x', groups: held, tokenId: undefined, expiresAt }
}

beforeAll(async () => {
  store = await openTestStore({ dataFolder: 'memory://' })
})
afterAll(async () => {
  await server?.close()
  await store?.close()
})
beforeEach(async () => {
  await server?.close()
  allowed = new Set(['1 acme/*', '2 globex/*', '3 acme/web'])
  asked = []
  remoteSyncs = new Map()
  remoteSync('acme', 'shop', 'uid-shop')
  remoteSync('acme', 'web', 'uid-web')
  remoteSync('globex', 'shop', 'uid-globex')
  server = await createWebServer({ log: silentLog })
  const cache = {
    get: ({ namespace, name }: { namespace?: string; name: string }) => remoteSyncs.get(`${namespace}/${name}`),
    list: (namespace?: string) => [...remoteSyncs.values()].filter(item => item.metadata.namespace === namespace),
  }
  registerBuilds(server, {
    builds: createVisibleBuilds({
      kept: store.keptLogs,
      reviews: createAccessReviews({ kube, clock: systemClock }),
      remoteSyncs: cache,
    }),
    clock: systemClock,
    verifyIdToken: async token => {
      const userId = Number(/token-of-the-person-(\d)/.exec(token)?.[1])
      if (!userId) throw new AppError('unauthenticated', 'no')
      return person(userId, userId)
    },
  })
  port = await listen(server, { host: '127.0.0.1', port: 0 })
})

async function addBuild(
  namespace: string,
  owner: { readonly name: string; readonly uid: string },
  name: string,
  text = 'hello\nworld\n',
) {
  const id = randomUUID()
  const createdAt = new Date()
  await store.buildLogs.begin({
    ...{ id, namespace, buildNamespace: `${namespace}-build`, name, remoteSync: owner },
    ...{ commit: 'c'.repeat(40), attempt: 1, createdAt },
  })
  await write(id, 0, text)
  return id
}

/** The text begins at byte `at`; what lies between it and the text before is left out. */
async function write(id: string, revision: number, text: string, at = 0): Promise<void> {
  const content = compressText(Buffer.from(text))
  const put = [{ sequence: revision, step: 'build', firstByte: at, endByte: at + text.length, content }]
  const steps = [{ name: 'build', state: 'Running' }] as const
  await store.buildLogs.append(id, revision, {
    put,
    drop: [],
    position: {},
    steps,
    bytes: at + text.length,
    leftOut: 0,
    stored: 10,
  })
}

async function ask(userId: number | undefined, path: string, accept = '*/*') {
  const headers = { accept, ...(userId === undefined ? {} : { authorization: `Bearer token-of-the-person-${userId}` }) }
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/tenants/${path}`, { headers })
  const body = await answer.text()
  return { statusCode: answer.status, headers: answer.headers, body, json: () => JSON.parse(body) }
}

describe('who may read', () => {
  test('people whom RBAC lets get the log of the RemoteSync: all of them, or by its name', async () => {
    await addBuild('acme', { name: 'shop', uid: 'uid-shop' }, 'shop-11')
    await addBuild('acme', { name: 'web', uid: 'uid-web' }, 'web-11')
    expect((await ask(1, 'acme/builds')).json().builds.map((build: { name: string }) => build.name)).toEqual([
      'web-11',
      'shop-11',
    ])
    expect((await ask(1, 'acme/builds/shop-11')).json()).toMatchObject({ name: 'shop-11', outcome: null, logBytes: 12 })
    expect((await ask(1, 'acme/builds/shop/log')).body).toBe('hello\nworld\n')
    expect((await ask(3, 'acme/builds/web/log')).statusCode).toBe(200)
    expect((await ask(3, 'acme/builds?remoteSync=web')).json().builds).toHaveLength(1)
  })

  test('nobody else: not another tenant, not one of another RemoteSync, not a stranger, not without a token', async () => {
    await addBuild('acme', { name: 'shop', uid: 'uid-shop' }, 'shop-12')
    const missing = (await ask(2, 'acme/builds/there-is-none')).json().error.message
    for (const [who, path] of [
      [2, 'acme/builds'],
      [2, 'acme/builds/shop-12'],
      [2, 'acme/builds/shop/log'],
      [2, 'acme/builds/shop/log?follow=true'],
      [3, 'acme/builds'],
      [3, 'acme/builds/shop-12/log'],
      [4, 'acme/builds/shop-12/log'],
      [2, 'kube-system/builds'],
    ] as const) {
      const answer = await ask(who, path)
      expect([answer.statusCode, answer.json().error.message], path).toEqual([404, missing])
    }
    for (const path of ['acme/builds', 'acme/builds/shop-12', 'acme/builds/shop-12/log'])
      expect((await ask(undefined, path)).statusCode).toBe(401)
  })

  test('the name of a build of another tenant finds nothing in one’s own namespace', async () => {
    await addBuild('acme', { name: 'shop', uid: 'uid-shop' }, 'shop-13')
    expect((await ask(2, 'globex/builds/shop-13')).statusCode).toBe(404)
    expect((await ask(2, 'globex/builds/shop-13/log')).statusCode).toBe(404)
  })

  test('a build that does not exist is asked about like one that does: the time of the answer says nothing', async () => {
    await ask(2, 'acme/builds/nothing')
    expect(asked).toEqual(['2 acme/nothing'])
  })

  test('not the people of a tenant or RemoteSync that has the name of a former one', async () => {
    await addBuild('acme', { name: 'shop', uid: 'uid-former' }, 'shop-14')
    expect((await ask(1, 'acme/builds/shop-14/log')).statusCode).toBe(404)
    expect(
      (await ask(1, 'acme/builds?remoteSync=shop')).json().builds.map((build: { name: string }) => build.name),
    ).not.toContain('shop-14')
  })

  test.each(['../../etc', 'a%2Fb', "x'--", 'UPPER', 'x'.repeat(300)])(
    'the name %s is refused before anything is asked',
    async name => {
      expect([400, 404, 414]).toContain((await ask(1, `acme/builds/${name}/log`)).statusCode)
      expect(asked).toEqual([])
    },
  )
})

describe('what is sent', () => {
  const lines = (body: string) =>
    body
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line))

  test('plain text that no browser takes for anything else, with a sentence where a part is left out', async () => {
    const id = await addBuild('acme', { name: 'shop', uid: 'uid-shop' }, 'shop-21', '<script>alert(1)</script>\n')
    await write(id, 1, 'end\n', 1000)
    const answer = await ask(1, 'acme/builds/shop-21/log')
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(answer.body).toBe('<script>alert(1)</script>\n[974 bytes of the log are left out here]\nend\n')
  })

  test('a part from a byte or of the last lines', async () => {
    await addBuild('acme', { name: 'shop', uid: 'uid-shop' }, 'shop-22', 'one\ntwo\nthree\n')
    expect((await ask(1, 'acme/builds/shop-22/log?from=4')).body).toBe('two\nthree\n')
    expect((await ask(1, 'acme/builds/shop-22/log?tailLines=1')).body).toBe('three\n')
    expect((await ask(1, 'acme/builds/shop-22/log?tailLines=2')).body).toBe('two\nthree\n')
    expect((await ask(1, 'acme/builds/shop-22/log?tailLines=99')).body).toBe('one\ntwo\nthree\n')
    for (const query of ['from=-1', 'from=x', 'tailLines=0', 'tailLines=100000', 'follow=maybe'])
      expect((await ask(1, `acme/builds/shop-22/log?${query}`)).statusCode).toBe(400)
  })

  test('what is written while it is followed, and how the build ended', async () => {
    const id = await addBuild('acme', { name: 'shop', uid: 'uid-shop' }, 'shop-23', 'first\n')
    const answer = ask(1, 'acme/builds/shop-23/log?follow=true', 'application/x-ndjson')
    await new Promise(resolve => setTimeout(resolve, 200))
    await write(id, 1, 'second\n', 6)
    await store.buildLogs.end(id, { outcome: 'Failed' satisfies BuildOutcome, cause: 'no start command' })
    const events = lines((await answer).body).filter(({ kind }) => kind !== 'waiting')
    expect(events).toEqual([
      { kind: 'text', from: 0, end: 6, text: 'first\n' },
      { kind: 'text', from: 6, end: 13, text: 'second\n' },
      { kind: 'ended', endedAt: expect.any(String), outcome: 'Failed', cause: 'no start command' },
    ])
  })

  test('a follower whose right was taken away, or whose RemoteSync is gone, gets no more', async () => {
    await addBuild('acme', { name: 'shop', uid: 'uid-shop' }, 'shop-24', 'first\n')
    const answer = ask(1, 'acme/builds/shop-24/log?follow=true')
    await new Promise(resolve => setTimeout(resolve, 200))
    remoteSyncs.delete('acme/shop')
    expect((await answer).body).toBe('first\n')
  })

  test('a person follows four logs at once, and the places come back', async () => {
    const id = await addBuild('acme', { name: 'shop', uid: 'uid-shop' }, 'shop-25')
    const follow = () => ask(1, 'acme/builds/shop-25/log?follow=true')
    const four = [follow(), follow(), follow(), follow()]
    await new Promise(resolve => setTimeout(resolve, 300))
    expect((await follow()).statusCode).toBe(429)
    expect((await ask(1, 'acme/builds/shop-25/log')).statusCode).toBe(200)
    await store.buildLogs.end(id, { outcome: 'Succeeded' })
    for (const answer of await Promise.all(four)) expect(answer.statusCode).toBe(200)
    expect((await follow()).statusCode).toBe(200)
  })

  test('those that wait for their turn are in the list, with their places', async () => {
    remoteSync('acme', 'waiting', 'uid-waiting', 'Queued')
    expect((await ask(1, 'acme/builds')).json().queued).toEqual([{ remoteSync: 'waiting', commit: '', message: '3rd of 5' }])
    expect((await ask(1, 'acme/builds?remoteSync=shop')).json().queued).toEqual([])
  })
})
