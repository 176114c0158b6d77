// Two GitHub hosts at once: an App and an installation on each, with the same ids, logins and names of repositories. The
// product's clients, controllers and token desk serve both; servers in front of the two hosts note every credential that
// arrives. None of one host ever arrives at the other.
import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { createServer, request as forward, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RunningEmulator, startEmulator } from '../../dev/github/emulator.ts'
import { install, signIn } from '../../dev/github/testing/people.ts'
import { startStockedEmulator } from '../../dev/github/testing/stocked-emulator.ts'
import { type ClusterGitHubApp, clusterGitHubApp } from '../../src/api/github/cluster-github-app.ts'
import { installation } from '../../src/api/github/installation.ts'
import { repositoryGrant } from '../../src/api/github/repository-grant.ts'
import { tenant } from '../../src/api/tenancy/tenant.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { reservePort } from '../../src/lib/testing/reserved-port.ts'
import { silentLog } from '../../src/lib/testing/silent-log.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { createGitHubApps, type GitHubApps } from '../../src/services/token-desk/app-clients.ts'
import { tokenRoutes } from '../../src/services/token-desk/server/routes.ts'
import { sweepOnce } from '../../src/services/token-desk/sweep.ts'
import { createWebServer } from '../../src/web/server.ts'
import { readyReason } from '../fixtures/application-fixture.ts'
import { openTestStore, type TestStore } from '../fixtures/databases.ts'
import { type TenantFixture, withTenant } from '../fixtures/token-desk-fixture.ts'

type Host = {
  readonly host: string
  /** The name of its ClusterGitHubApp. */
  readonly app: string
  readonly github: RunningEmulator
  readonly installationId: number
  readonly key: KeyObject
  /** What the server in front of it saw. */
  readonly seen: Seen
  readonly stop: () => Promise<void>
}

type Seen = { readonly minted: Set<string>; readonly tokens: Set<string>; readonly jwts: Set<string> }

/** Passes every request on, and notes the credentials of requests and the tokens that were minted. */
function listening(target: () => string, seen: Seen): Server {
  return createServer((request, response) => {
    const [scheme = '', value = ''] = (request.headers.authorization ?? '').split(' ')
    const plain = scheme.toLowerCase() === 'basic' ? (Buffer.from(value, 'base64').toString().split(':')[1] ?? '') : value
    if (plain.startsWith('ghs_')) seen.tokens.add(plain)
    else if (plain.split('.').length === 3) seen.jwts.add(plain)
    const { hostname, port } = new URL(target())
    const { url: path, method, headers } = request
    const passed = forward({ hostname, port, path, method, headers }, answer => {
      const pieces: Buffer[] = []
      answer.on('data', (piece: Buffer) => pieces.push(piece))
      answer.on('end', () => {
        const body = Buffer.concat(pieces)
        if (path?.endsWith('/access_tokens') && answer.statusCode === 201)
          seen.minted.add((JSON.parse(body.toString()) as { readonly token: string }).token)
        response.writeHead(answer.statusCode ?? 502, answer.headers).end(body)
      })
    })
    passed.on('error', () => response.destroy())
    request.pipe(passed)
  })
}

async function startHost(host: string, start: typeof startEmulator): Promise<Host> {
  const seen: Seen = { minted: new Set(), tokens: new Set(), jwts: new Set() }
  const port = await reservePort()
  const front = listening(() => `http://127.0.0.1:${port}`, seen)
  await new Promise<void>(resolve => front.listen(0, '127.0.0.1', resolve))
  const publicUrl = `http://127.0.0.1:${(front.address() as AddressInfo).port}`
  const setupUrl = 'http://127.0.0.1:9/setup'
  const github = await start({ port, publicUrl, app: { setupUrl } })
  const browser = await signIn(github, 'olivia')
  browser.stops.push(setupUrl)
  const end = await install(github, browser, 2001, { repositoryIds: 'all' })
  return {
    ...{ host, app: host.replaceAll('.', '-'), github, seen, key: createPublicKey(github.app.privateKeyPem) },
    installationId: Number(new URL(end.url).searchParams.get('installation_id')),
    async stop() {
      await github.stop()
      front.closeAllConnections()
      await new Promise(resolve => front.close(resolve))
    },
  }
}

function appOf({ host, app: name, github }: Host): ClusterGitHubApp {
  return {
    apiVersion: clusterGitHubApp.apiVersion,
    kind: clusterGitHubApp.kind,
    metadata: { name, uid: name, generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: {
      host,
      endpoints: { web: github.url, api: github.apiUrl, insecure: true },
      appId: github.app.id,
      clientId: github.app.clientId,
      privateKeys: [{ secretName: name, key: 'private-key.pem' }],
    },
  }
}

let store: TestStore
let hosts: readonly [Host, Host]
const apps = new Map<string, ClusterGitHubApp>()
let githubApps: GitHubApps
beforeAll(async () => {
  store = await openTestStore({ dataFolder: 'memory://' })
  // The second one has a key of its own.
  hosts = [await startHost('github.example', startStockedEmulator), await startHost('ghes.example', startEmulator)]
  for (const host of hosts) apps.set(host.app, appOf(host))
  const log = silentLog
  githubApps = createGitHubApps({
    apps: { get: ({ name }) => apps.get(name), list: () => [...apps.values()] },
    async secretOf(name) {
      const pem = hosts.find(({ app }) => app === name)?.github.app.privateKeyPem ?? ''
      const data = { 'private-key.pem': Buffer.from(pem).toString('base64') }
      return { kind: 'found', secret: { apiVersion: 'v1', kind: 'Secret', metadata: { name, resourceVersion: '1' }, data } }
    },
    ...{ isLeader: () => true, log, clock: systemClock },
  })
})
afterAll(async () => {
  await Promise.all((hosts ?? []).map(({ stop }) => stop()))
  await store?.close()
})

async function tenantOn({ host, app, github, installationId }: Host): Promise<TenantFixture> {
  const fixture = await withTenant({ github, installationId, store, stop: async () => {}, on: { host, app, githubApps } })
  await fixture.applyTenant()
  await readyReason(fixture.client, tenant, { name: fixture.namespace }, 'NamespacesReady')
  await fixture.bind()
  return fixture
}

const subjectIn = ({ namespace }: TenantFixture) => ({ kind: 'ServiceAccount', namespace, name: 'runner', uid: 'runner-uid' })

/** None of the other host's tokens, and no App JWT by another key than the host's own. */
function expectOwnCredentialsOnly(): void {
  for (const [at, { seen, key }] of hosts.entries()) {
    const other = hosts[1 - at]?.seen
    expect([...seen.tokens].filter(token => other?.minted.has(token))).toEqual([])
    expect([...seen.tokens].filter(token => !seen.minted.has(token))).toEqual([])
    const foreign = [...seen.jwts].filter(jwt => {
      const [head, body, signature = ''] = jwt.split('.')
      return !verify('RSA-SHA256', Buffer.from(`${head}.${body}`), key, Buffer.from(signature, 'base64url'))
    })
    expect(foreign).toEqual([])
  }
}

test('the same ids and names on two hosts: each tenant has tokens of its own host, which no other host ever receives', async () => {
  const [first, second] = [await tenantOn(hosts[0]), await tenantOn(hosts[1])]
  const both = [first, second] as const
  expect(hosts[0].installationId).toBe(hosts[1].installationId)
  expect(hosts[0].github.app).toMatchObject({ id: hosts[1].github.app.id })
  for (const fixture of both) await fixture.requestGrant('read-shop', 'dave')
  const grants = await Promise.all(
    both.map(({ client, namespace }) => readyReason(client, repositoryGrant, { namespace, name: 'read-shop' }, 'Approved')),
  )
  expect(grants.map(({ status }) => status?.repositories)).toEqual([
    [{ id: 4001, name: 'acme/shop' }],
    [{ id: 4001, name: 'acme/shop' }],
  ])

  // One desk, asked for both at once and in turns.
  const ask = (at: number) => {
    const [fixture, grant] = [both[at], grants[at]]
    if (fixture === undefined || grant === undefined) throw new Error('two tenants')
    return first.desk.request({ grant, subject: subjectIn(fixture), actor: 'test' })
  }
  const taken = await Promise.all(Array.from({ length: 20 }, (_, index) => ask(index % 2)))
  for (const [index, { endpoints, token }] of taken.entries()) {
    expect(endpoints.host).toBe(hosts[index % 2]?.host)
    expect(hosts[index % 2]?.seen.minted.has(token.reveal())).toBe(true)
  }
  expect(new Set(taken.map(({ token }) => token.reveal())).size).toBe(2)
  for (const { seen } of hosts) expect([seen.tokens.size, seen.jwts.size]).not.toContain(0)
  expectOwnCredentialsOnly()

  // git of one tenant asks for the other host.
  const server = await createWebServer({ log: silentLog, requestsPerMinute: 'unlimited' })
  const identify = async () => ({
    subject: subjectIn(second),
    username: 'test',
    from: { pod: { name: 'p', uid: 'p' }, address: '' },
  })
  await server.register(tokenRoutes({ desk: first.desk, identify }))
  const credential = async (host: string) => {
    const url = '/v1/git-credential?grant=read-shop'
    const headers = { 'content-type': 'text/plain', authorization: 'Bearer a.b.c' }
    return server.inject({ method: 'POST', url, headers, payload: `protocol=http\nhost=${host}\npath=acme/shop.git\n\n` })
  }
  const [own, foreign] = [new URL(hosts[1].github.url).host, new URL(hosts[0].github.url).host]
  expect((await credential(own)).body).toContain(`password=${taken[1]?.token.reveal()}`)
  const refused = await credential(foreign)
  expect([refused.statusCode, refused.body.includes('ghs_')]).toEqual([403, false])
  await server.close()

  // What ends on one host ends there alone, also when its App is gone, and by the sweep of a replica that knows nothing of it.
  const works = async (at: 0 | 1) => {
    const headers = { authorization: `Bearer ${taken[at]?.token.reveal()}` }
    return (await fetch(`${hosts[at].github.apiUrl}/repos/acme/shop`, { headers })).status
  }
  await first.client.delete(repositoryGrant, { namespace: first.namespace, name: 'read-shop' })
  await waitUntil('the token of the first host is revoked', async () => ((await works(0)) === 401 ? true : undefined))
  expect(await works(1)).toBe(200)
  const app = apps.get(hosts[1].app)
  apps.delete(hosts[1].app)
  await second.desk.revokeBy({ namespace: second.namespace }, 'the test ends')
  for (const { sweep } of second.replicas) await sweepOnce(sweep)
  expect(await works(1)).toBe(401)
  if (app !== undefined) apps.set(hosts[1].app, app)
  expectOwnCredentialsOnly()
})

test('an Installation that names an App of another host gets no token from either', async () => {
  const fixture = await tenantOn(hosts[1])
  await fixture.requestGrant('read-shop', 'dave')
  const { client, namespace } = fixture
  const grant = await readyReason(client, repositoryGrant, { namespace, name: 'read-shop' }, 'Approved')
  const bound = await client.get(installation, { namespace, name: 'github' })
  if (bound === undefined) throw new Error('no Installation')
  const before = hosts.map(({ seen }) => seen.minted.size)
  // As if somebody had got around the API: the App of the first host for an account of the second.
  const crossed = { ...bound, spec: { ...bound.spec, app: hosts[0].app } }
  await client.delete(installation, { namespace, name: 'github' })
  await waitUntil('the Installation is gone', async () =>
    (await client.get(installation, { namespace, name: 'github' })) === undefined ? true : undefined,
  )
  const { apiVersion, kind, spec } = crossed
  await client.apply(
    installation,
    { apiVersion, kind, metadata: { name: 'github', namespace }, spec },
    { fieldManager: 'test', force: true },
  )
  const conditions = (bound.status?.conditions ?? []).map(condition => ({ ...condition, observedGeneration: 1 }))
  await fixture.setStatus(installation, namespace, 'github', { conditions, permissions: { metadata: 'read' } })
  await expect(fixture.desk.request({ grant, subject: subjectIn(fixture), actor: 'test' })).rejects.toMatchObject({
    code: 'forbidden',
  })
  // Nor is the other host asked in the name of a person who has the same id there.
  await fixture.requestGrant('another', 'dave')
  await readyReason(client, repositoryGrant, { namespace, name: 'another' }, 'GitHubUnreachable')
  expect(hosts.map(({ seen }, at) => seen.minted.size - (before[at] ?? 0))).toEqual([0, 0])
  expectOwnCredentialsOnly()
})
