// Several Apps in one pool, installed on one organisation and on another, and one on another host that has the same names and
// numbers: which App makes the token of a workload when the limit of one is used up, when it is suspended, lacks a repository or
// is gone. The product's clients, controllers and token desk on a real API server; each request to GitHub is noted by its host.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { installApp, setSuspended } from '../../dev/github/actions/install-app.ts'
import type { RunningEmulator } from '../../dev/github/emulator.ts'
import { defaultSeed } from '../../dev/github/seed/default-seed.ts'
import { secretFiles } from '../../dev/github/seed/plant.ts'
import type { App, Installation as GitHubInstallation } from '../../dev/github/state/apps.ts'
import { startStockedEmulator } from '../../dev/github/testing/stocked-emulator.ts'
import { type ClusterGitHubApp, clusterGitHubApp } from '../../src/api/github/cluster-github-app.ts'
import { installation } from '../../src/api/github/installation.ts'
import { type RepositoryGrant, repositoryGrant } from '../../src/api/github/repository-grant.ts'
import { tenant } from '../../src/api/tenancy/tenant.ts'
import { createInstallationController } from '../../src/controllers/installation/index.ts'
import { createGitHubMeter } from '../../src/github/index.ts'
import { createManager } from '../../src/kube/manager.ts'
import { mergeConditions } from '../../src/kube/object/conditions.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { isAppError } from '../../src/lib/errors.ts'
import { silentLog } from '../../src/lib/testing/silent-log.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { createGitHubApps, type GitHubApps } from '../../src/services/token-desk/app-clients.ts'
import { readyReason, withFixture } from '../fixtures/application-fixture.ts'
import { openTestStore, type TestStore } from '../fixtures/databases.ts'
import { boundInstallation, put } from '../fixtures/put-object.ts'
import { type TenantFixture, withTenant } from '../fixtures/token-desk-fixture.ts'

const hosts = { here: 'github.localhost', away: 'away.localhost' } as const
const [first] = defaultSeed.apps
if (first === undefined) throw new Error('the seed has no App')
const seed = {
  ...defaultSeed,
  apps: [first, { ...first, id: 5002, botId: 1902, slug: 'sekisho-second', name: 'Sekisho (second)' }],
}

let folder: string
let store: TestStore
let github: RunningEmulator
let away: RunningEmulator
/** By the name of the ClusterGitHubApp. */
const apps = new Map<string, ClusterGitHubApp>()
const keys = new Map<string, string>()
/** Of `github`: of the first App on acme, of the second on acme and on globex. */
let named: GitHubInstallation
let second: GitHubInstallation
let foreign: GitHubInstallation

function installed(on: RunningEmulator, app: App | undefined, accountId: number): GitHubInstallation {
  const wanted = { accountId, installerId: 1001, repositorySelection: 'all', repositoryIds: [] } as const
  return installApp(on.context, app ?? expect.fail('no App'), wanted)
}

function addApp(name: string, host: string, on: RunningEmulator, app: App | undefined): void {
  if (app === undefined) throw new Error('no App')
  const spec = {
    host,
    endpoints: { web: on.url, api: on.apiUrl, insecure: true },
    appId: app.id,
    clientId: app.clientId,
    privateKeys: [{ secretName: name, key: 'private-key.pem' }],
    pool: 'acme',
  }
  const metadata = { name, uid: name, generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' }
  apps.set(name, { apiVersion: clusterGitHubApp.apiVersion, kind: clusterGitHubApp.kind, metadata, spec })
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sekisho-app-pools-'))
  const rateLimit = { authenticated: 150, anonymous: 60, enforced: true }
  github = await startStockedEmulator({ seed, stateFolder: join(folder, 'here'), rateLimit })
  away = await startStockedEmulator({ seed, stateFolder: join(folder, 'away') })
  store = await openTestStore({ dataFolder: 'memory://' })
  const [one, two] = github.context.state.apps
  ;[named, second, foreign] = [installed(github, one, 2001), installed(github, two, 2001), installed(github, two, 2002)]
  addApp('sekisho', hosts.here, github, one)
  addApp('second', hosts.here, github, two)
  const [, other] = away.context.state.apps
  installed(away, other, 2001)
  addApp('away', hosts.away, away, other)
  for (const [name, from, app] of [
    ['sekisho', 'here', one],
    ['second', 'here', two],
    ['away', 'away', other],
  ] as const)
    keys.set(name, await readFile(secretFiles(join(folder, from)).appKey(app?.slug ?? ''), 'utf8'))
})
afterAll(async () => {
  await github?.stop()
  await away?.stop()
  await store?.close()
  await rm(folder, { recursive: true, force: true })
})

type Pooled = TenantFixture & {
  readonly grant: RepositoryGrant
  /** Hosts that were asked, by the address. */
  readonly asked: Set<string>
  readonly add: (
    name: string,
    spec: { readonly app: string; readonly installationId: number; readonly account?: object },
  ) => Promise<void>
  readonly ask: () => Promise<{ readonly token: string; readonly installationId: number }>
  /** No token of before is delivered any more. */
  readonly end: () => Promise<void>
  readonly renew: () => Promise<number>
}

/** A tenant of acme with an approved grant, and a desk of its own that knows nothing yet. */
async function pooled(): Promise<Pooled> {
  const asked = new Set<string>()
  const noting: typeof fetch = (input, init) => {
    asked.add(new URL(input instanceof Request ? input.url : input).origin)
    return fetch(input, init)
  }
  const meter = createGitHubMeter(new Registry(), systemClock)
  const githubApps: GitHubApps = createGitHubApps({
    apps: { get: ({ name }) => apps.get(name), list: () => [...apps.values()] },
    async secretOf(name) {
      const data = { 'private-key.pem': Buffer.from(keys.get(name) ?? '').toString('base64') }
      return { kind: 'found', secret: { apiVersion: 'v1', kind: 'Secret', metadata: { name, resourceVersion: '1' }, data } }
    },
    ...{ isLeader: () => true, log: silentLog, clock: systemClock, meter, fetch: noting },
  })
  const on = { host: hosts.here, app: 'sekisho', githubApps, metered: { meter } }
  const fixture = await withTenant({ github, installationId: named.id, store, stop: async () => {}, on })
  const { client, namespace, desk } = fixture
  await fixture.applyTenant()
  await readyReason(client, tenant, { name: namespace }, 'NamespacesReady')
  await fixture.bind()
  await fixture.requestGrant('read-shop', 'dave')
  const grant = await readyReason(client, repositoryGrant, { namespace, name: 'read-shop' }, 'Approved')
  const ask: Pooled['ask'] = async () => {
    const subject = { kind: 'ServiceAccount', namespace, name: 'runner', uid: 'runner-uid' }
    const token = (await desk.request({ grant, subject, actor: 'test' })).token.reveal()
    const live = await store.tokens.liveBy({ grantUid: grant.metadata.uid ?? '', delivered: true })
    const row = live.find(one => one.token.reveal() === token) ?? expect.fail('the token is not in the registry')
    return { token, installationId: row.installation.installationId }
  }
  // GitHub limits revocations, too: such a token can be delivered no more, and is tried again until it expires.
  const end: Pooled['end'] = async () => {
    await desk.revokeBy({ grantUid: grant.metadata.uid ?? '' }, 'the test asks again').catch((error: unknown) => {
      if (!isAppError(error, 'unavailable')) throw error
    })
  }
  return {
    ...fixture,
    ...{ grant, asked, ask, end },
    async add(name, { app, installationId, account = {} }) {
      const of = { host: hosts.here, id: 2001, login: 'acme', ...account }
      const most = { contents: 'write', statuses: 'write' }
      await put(client, installation, { name, namespace }, { spec: boundInstallation(of, most, { app, installationId }) })
      const ready = { type: 'Ready', status: 'True', reason: 'Test', message: '' } as const
      const status = {
        conditions: mergeConditions([], [ready], 1, new Date()),
        permissions: { contents: 'write', metadata: 'read' },
      }
      await fixture.setStatus(installation, namespace, name, status)
    },
    async renew() {
      await end()
      return (await ask()).installationId
    },
  }
}

const statusWith = async (token: string): Promise<number> =>
  (await fetch(`${github.apiUrl}/repos/acme/shop`, { headers: { authorization: `Bearer ${token}` } })).status

/** A workload that asks until GitHub refuses. */
async function useUp(token: string): Promise<void> {
  for (let count = 0; count < 200; count++) if ((await statusWith(token)) === 403) return
  throw new Error('GitHub did not limit the workload')
}

beforeEach(() => {
  github.context.store.change(({ installations }) => {
    for (const one of installations) Object.assign(one, { suspendedAt: null, repositorySelection: 'all', repositoryIds: [] })
  })
})

test('a sibling that cannot be used is left out; nothing of another account or host is ever asked', async () => {
  const pool = await pooled()
  await pool.add('github-second', { app: 'second', installationId: second.id })
  // The App of the one that is named has been asked about the grant: the other has more left.
  await waitUntil('the cache has the sibling', async () => ((await pool.renew()) === second.id ? true : undefined))

  // Suspended on GitHub, which the platform does not know yet: made by the one that is named.
  setSuspended(github.context, second, 1001, true)
  expect(await pool.renew()).toBe(named.id)
  setSuspended(github.context, second, 1001, false)
  expect(await pool.renew()).toBe(second.id)
  github.context.store.change(() => Object.assign(second, { repositorySelection: 'selected', repositoryIds: [4002] }))
  expect(await pool.renew()).toBe(named.id)

  for (const [name, spec] of [
    ['github-foreign', { app: 'second', installationId: foreign.id, account: { id: 2002, login: 'acme' } }],
    ['github-away', { app: 'away', installationId: second.id, account: { host: hosts.away } }],
    ['github-lie', { app: 'away', installationId: second.id }],
  ] as const)
    await pool.add(name, spec)
  await pool.client.delete(installation, { namespace: pool.namespace, name: 'github-second' })
  expect(await pool.renew()).toBe(named.id)
  expect([...pool.asked]).toEqual([new URL(github.url).origin])
})

test('when the limit of one App is used up, grants go on with the other; what ends, ends at the App that made it', async () => {
  const pool = await pooled()
  const { token } = await pool.ask()
  await useUp(token)
  // Alone, the platform has nothing better.
  expect(await pool.renew()).toBe(named.id)
  await pool.add('github-second', { app: 'second', installationId: second.id })
  const next = await waitUntil('the cache has the sibling', async () => {
    await pool.end()
    const made = await pool.ask()
    return made.installationId === second.id ? made : undefined
  })
  expect(await statusWith(next.token)).toBe(200)
  expect((await pool.ask()).token).toBe(next.token)
  const object = `RepositoryGrant/${pool.namespace}/read-shop`
  const [delivered] = await store.audit.list({ action: 'token.delivered', object, limit: 1 })
  expect(delivered?.details).toMatchObject({ host: hosts.here, appId: 5002, installationId: second.id })

  // The Installation that is named ends: so does the grant, whoever made its tokens.
  await pool.client.delete(installation, { namespace: pool.namespace, name: 'github' })
  await waitUntil('its token is revoked', async () => ((await statusWith(next.token)) === 401 ? true : undefined))
  await expect(pool.ask()).rejects.toMatchObject({ code: 'forbidden' })
})

test('the controllers find the other App on the account, by the number of the account, as soon as it is in the pool', async () => {
  const fixture = await withFixture()
  const { client, namespace } = fixture
  const manager = createManager({ client: fixture.controllersClient, log: silentLog, clock: systemClock, random: Math.random })
  const shared = { client: manager.client, manager, events: { record: () => {} }, clock: systemClock, log: silentLog }
  const nothing = async (): Promise<void> => {}
  const pool = `pool-${namespace}`
  const nameOf = (name: string): string => `${name}-${namespace}`
  manager.add(
    createInstallationController({
      ...shared,
      githubApps: createGitHubApps({
        apps: manager.cache(clusterGitHubApp),
        async secretOf(name) {
          const data = { 'private-key.pem': Buffer.from(keys.get(name) ?? '').toString('base64') }
          return { kind: 'found', secret: { apiVersion: 'v1', kind: 'Secret', metadata: { name, resourceVersion: '1' }, data } }
        },
        ...{ isLeader: () => true, log: silentLog, clock: systemClock },
      }),
      desk: { revokeBy: async () => 0 },
      audit: { append: async () => undefined, appendOnce: nothing, list: async () => [] } as never,
      tokens: { intend: async () => 'x', recordMinted: nothing, markRevoked: nothing, abandon: nothing },
    }),
  )
  await manager.start()
  onTestFinished(() => manager.stop())
  const create = async (name: string) => {
    const spec = { ...apps.get(name)?.spec, pool }
    await put(client, clusterGitHubApp, { name: nameOf(name) }, { spec })
    onTestFinished(() => client.delete(clusterGitHubApp, { name: nameOf(name) }))
  }
  // That of the other App is used up by now.
  await create('second')
  const of = { host: hosts.here, id: 2001, login: 'acme' }
  const spec = boundInstallation(of, { contents: 'read' }, { app: nameOf('second'), installationId: second.id })
  await put(client, installation, { name: 'github', namespace }, { spec })
  const ready = await readyReason(client, installation, { name: 'github', namespace }, 'Verified')
  expect(ready.status?.otherApps).toBeUndefined()
  await create('sekisho')
  const found = await waitUntil('the other App is found', async () => {
    const { status } = (await client.get(installation, { name: 'github', namespace })) ?? {}
    return status?.otherApps
  })
  expect(found).toMatchObject([{ app: nameOf('sekisho'), installationId: named.id, permissions: { contents: 'write' } }])
})
