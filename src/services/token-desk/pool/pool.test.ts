// Grants whose Installation has a sibling: which App makes the token, what it keeps to, and who is no sibling.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { movableClock, openTestStore, type TestStore } from '../../../../test/fixtures/databases.ts'
import type { Installation } from '../../../api/github/installation.ts'
import { githubReasons, type MintRequest, signerRefused } from '../../../github/index.ts'
import { AppError } from '../../../lib/errors.ts'
import { SecretString } from '../../../lib/secret-string.ts'
import { haltObject } from '../../../policy/testing/halt-object.ts'
import type { InstallationIdentity } from '../../../store/token-registry.ts'
import type { GitHubApp } from '../app-clients.ts'
import { createTokenDesk } from '../desk.ts'
import { deskEnvironment } from '../testing/desk-environment.ts'
import { host, installationObject, ready } from '../testing/desk-objects.ts'

const clock = movableClock()
let store: TestStore
beforeAll(async () => {
  store = await openTestStore({ dataFolder: 'memory://' }, clock)
})
afterAll(() => store?.close())

const endpoints = { host, web: 'http://x', api: 'http://x' }
const named: Installation = {
  ...installationObject,
  status: { ...installationObject.status, permissions: { contents: 'write', statuses: 'write', metadata: 'read' } },
}
/** Of the App `second`, on the same account. */
const sibling = (change: Partial<Installation['spec']> = {}, more: Partial<Installation> = {}): Installation => ({
  ...named,
  metadata: { ...named.metadata, name: 'github-second', uid: 'second-uid' },
  spec: { ...named.spec, app: 'second', installationId: 88, ...change },
  ...more,
})

type Fails = (request: MintRequest) => AppError | undefined

/** Two Apps of a pool, and what is left to each. */
function pooled(others: readonly Installation[] = [sibling()], apps: Readonly<Record<string, Partial<GitHubApp>>> = {}) {
  const environment = deskEnvironment(store, clock)
  const { state, deps } = environment
  state.installation = named
  const left = new Map<number, number>()
  const said = new Map<number, number>()
  const fails = new Map<number, Fails>()
  const minted: MintRequest[] = []
  const paced = new Set<number>()
  const clientOf = (id: number) => ({
    mintRefusal: (installation: number) =>
      paced.has(installation) ? new AppError('too_many_requests', 'paced', { reason: githubReasons.paced }) : undefined,
    async mint(request: MintRequest) {
      minted.push(request)
      const error = fails.get(request.installationId)?.(request)
      if (error) throw error
      const token = new SecretString(`ghs_${id}_${minted.length}_${request.installationId}_${Math.random()}${'x'.repeat(30)}`)
      const repositoryIds = [...(request.repositoryIds ?? [])]
      const repositories = repositoryIds.map(repository => ({ id: repository, fullName: `acme/${repository}` }))
      const expiresAt = new Date(clock.now().getTime() + 3_600_000)
      return { token, expiresAt, repositoryIds, repositories, permissions: { ...request.permissions, metadata: 'read' } }
    },
    async revoke() {},
  })
  const all: Record<string, GitHubApp> = {
    sekisho: { client: clientOf(1) as never, endpoints, appId: 5001, pool: 'acme', ...apps['sekisho'] },
    second: { client: clientOf(2) as never, endpoints, appId: 5002, pool: 'acme', ...apps['second'] },
  }
  const fresh = { others: [named, ...others] }
  const list = async (type: { readonly kind: string }, options: { readonly namespace?: string }) =>
    type.kind === 'Installation' ? fresh.others : (deps.client.list as (...all: unknown[]) => Promise<unknown>)(type, options)
  const meter = {
    leftOf: ({ installationId }: InstallationIdentity) => left.get(installationId) ?? 1,
    ofInstallation: (_host: string, installationId: number) => () => {
      const now = said.get(installationId)
      if (now !== undefined) left.set(installationId, now)
    },
  }
  const desk = createTokenDesk({
    ...deps,
    client: { get: deps.client.get, list: list as never },
    cached: { ...deps.cached, installations: { get: () => named, list: () => fresh.others } },
    githubApps: {
      async get(name) {
        const app = all[name]
        if (app === undefined) throw new AppError('not_found', `there is no ClusterGitHubApp ${name}`)
        return app
      },
    },
    meter,
    fetch: async () => Response.json({}),
  })
  /** Whose token it is: of the installation with that id. */
  const ask = async (): Promise<number> => Number((await desk.request(environment.request)).token.reveal().split('_')[3])
  const rows = () => store.tokens.liveBy({ grantUid: environment.grant.metadata.uid ?? '' })
  return { ...environment, desk, ask, left, said, fails, minted, paced, rows, fresh, all }
}

const refusal =
  (reason: string, code: ConstructorParameters<typeof AppError>[0] = 'too_many_requests') =>
  () =>
    new AppError(code, reason, { reason })

describe('which member makes the token', () => {
  test('the one that is named while nothing is known, then the one with the most left', async () => {
    expect(await pooled().ask()).toBe(77)
    const used = pooled()
    used.left.set(77, 0.4).set(88, 0.6)
    expect(await used.ask()).toBe(88)
  })

  test('its App is in the registry and in the log: the token is found and revoked by it', async () => {
    const { ask, left, rows, desk, grant } = pooled()
    left.set(77, 0)
    expect(await ask()).toBe(88)
    expect((await rows()).map(({ installation }) => installation)).toEqual([{ host, appId: 5002, installationId: 88 }])
    const records = await store.audit.list({ limit: 20, object: `RepositoryGrant/acme/${grant.metadata.name}` })
    for (const action of ['token.intended', 'token.minted', 'token.delivered'])
      expect(records.find(record => record.action === action)?.details).toMatchObject({ appId: 5002, installationId: 88 })
    const end = (appId: number, installationId: number) =>
      desk.revokeBy({ namespace: 'acme', installation: { host, appId, installationId } }, 'the Installation ended')
    await end(5001, 77)
    expect(await rows()).toHaveLength(1)
    await end(5002, 88)
    expect(await rows()).toEqual([])
  })

  test('a live token is used again, whoever has more left meanwhile; one that can do nothing is not', async () => {
    const { ask, left, minted } = pooled()
    expect(await ask()).toBe(77)
    left.set(77, 0.1)
    expect([await ask(), minted.length]).toEqual([77, 1])
    left.set(77, 0)
    expect([await ask(), await ask(), minted.length]).toEqual([88, 88, 2])
  })

  test('when nothing is left anywhere, the one that is named, whose refusal is said', async () => {
    const { ask, left, fails, minted } = pooled()
    left.set(77, 0).set(88, 0)
    fails.set(77, refusal(githubReasons.rateLimited))
    await expect(ask()).rejects.toMatchObject({ code: 'too_many_requests', reason: 'RateLimited' })
    expect(minted.map(({ installationId }) => installationId)).toEqual([77])
  })

  test('what a new token says is left counts: one that can do nothing is revoked, and the next makes another', async () => {
    const { ask, said, minted, rows, state } = pooled()
    said.set(77, 0)
    expect(await ask()).toBe(88)
    expect(minted.map(({ installationId }) => installationId)).toEqual([77, 88])
    expect((await rows()).map(({ installation }) => installation.installationId)).toEqual([88])
    expect(state.revoked.map(token => token.split('_')[3])).toEqual(['77'])
  })

  test.each([
    ['a limit of GitHub', githubReasons.rateLimited],
    ['the pace of the platform', githubReasons.paced],
  ])('%s moves on once', async (_case, reason) => {
    const { ask, fails, minted } = pooled()
    fails.set(77, refusal(reason))
    expect(await ask()).toBe(88)
    const both = pooled()
    both.fails.set(77, refusal(reason)).set(88, refusal(reason))
    await expect(both.ask()).rejects.toMatchObject({ reason })
    expect([minted.length, both.minted.length]).toEqual([2, 2])
  })

  test('one that is not asked now is passed over without a request', async () => {
    const { ask, paced, minted } = pooled()
    paced.add(77)
    expect([await ask(), minted.length]).toEqual([88, 1])
  })

  test.each([
    ['lacks the repository', refusal(githubReasons.repositoryNotAccessible, 'not_found'), true],
    ['lacks the permission', refusal(githubReasons.permissionNotGranted, 'forbidden'), true],
    ['is suspended', refusal(githubReasons.suspended, 'forbidden'), false],
    ['has a key that GitHub refuses', refusal(githubReasons.credentialRefused, 'upstream_failed'), false],
    ['has a key server that refuses', refusal(signerRefused, 'invalid_configuration'), false],
  ])('a sibling that %s is left for the one that is named', async (_case, fails, isRemembered) => {
    const pool = pooled()
    pool.left.set(77, 0.5)
    pool.fails.set(88, fails)
    expect(await pool.ask()).toBe(77)
    const before = pool.minted.length
    await pool.desk.revokeBy({ grantUid: pool.grant.metadata.uid ?? '' }, 'again')
    expect(await pool.ask()).toBe(77)
    expect(pool.minted.length - before).toBe(isRemembered ? 1 : 2)
    clock.advance(601)
    await pool.desk.revokeBy({ grantUid: pool.grant.metadata.uid ?? '' }, 'again')
    pool.fails.clear()
    expect(await pool.ask()).toBe(88)
  })

  test.each([
    ['the repository', githubReasons.repositoryNotAccessible, 'not_found'],
    ['the permission', githubReasons.permissionNotGranted, 'forbidden'],
    ['its place: it is suspended', githubReasons.suspended, 'forbidden'],
    ['nothing that is known: there was no answer', githubReasons.unreachable, 'unavailable'],
  ] as const)('the one that is named lost %s: no other makes the token', async (_case, reason, code) => {
    const { ask, fails, minted } = pooled()
    fails.set(77, refusal(reason, code))
    // Neither now nor when the workload asks again.
    for (const _again of [1, 2]) await expect(ask()).rejects.toMatchObject({ code, reason })
    expect(minted.map(({ installationId }) => installationId)).toEqual([77, 77])
  })

  test('the named one is limited and the sibling lacks the repository: the workload learns of the limit, and may ask again', async () => {
    const { ask, paced, fails } = pooled()
    paced.add(77)
    fails.set(88, refusal(githubReasons.repositoryNotAccessible, 'not_found'))
    await expect(ask()).rejects.toMatchObject({ code: 'too_many_requests', reason: githubReasons.paced })
    const used = pooled()
    used.fails.set(77, refusal(githubReasons.rateLimited)).set(88, refusal(githubReasons.suspended, 'forbidden'))
    await expect(used.ask()).rejects.toMatchObject({ code: 'too_many_requests' })
  })

  test('what the platform itself uses is made by the App of the named Installation alone', async () => {
    const { desk, request, left } = pooled()
    left.set(77, 0)
    const subject = { kind: 'RemoteSync', namespace: 'acme', name: 'shop', uid: 'shop-uid' }
    expect((await desk.request({ ...request, subject })).token.reveal()).toContain('_77_')
  })
})

describe('who is no sibling, though nothing is left to the one that is named', () => {
  const other = { account: { ...named.spec.account, id: 2002 } }
  const away = { account: { ...named.spec.account, host: 'other.example' } }
  const few = {
    ceiling: { repositories: 'Selected' as const, repositoryIds: [4002], permissions: { contents: 'write' as const } },
  }
  const low = { ceiling: { repositories: 'All' as const, permissions: { statuses: 'write' as const } } }
  const ending = { metadata: { ...sibling().metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
  const elsewhere = { metadata: { ...sibling().metadata, namespace: 'globex' } }
  const cases: readonly [string, Installation, Readonly<Record<string, Partial<GitHubApp>>>?][] = [
    ['an Installation of another account, though it has the same login', sibling(other)],
    ['an account with the same number on another host', sibling(away)],
    ['an Installation in another namespace', sibling({}, elsewhere)],
    ['one whose ceiling lacks the repository', sibling(few)],
    ['one whose ceiling lacks the permission', sibling(low)],
    [
      'one to which GitHub does not give the permission',
      sibling({}, { status: { ...named.status, permissions: { statuses: 'write' } } }),
    ],
    ['one whose permissions are not known', sibling({}, { status: installationObject.status ?? {} })],
    ['one that is not ready', sibling({}, { status: { ...named.status, conditions: [ready('False')] } })],
    [
      'one for which somebody answered who does not stand in any more',
      sibling({}, { status: { ...named.status, standIn: { id: 1002, login: 'dave' } } }),
    ],
    ['one that is being deleted', sibling({}, ending)],
    ['an App without a pool', sibling({ app: 'third' }), { third: {} }],
    ['an App of another pool', sibling(), { second: { pool: 'other' } }],
    ['an App on another host', sibling(), { second: { endpoints: { ...endpoints, host: 'other.example' } } }],
    ['an App at another address', sibling(), { second: { endpoints: { ...endpoints, api: 'http://elsewhere' } } }],
    ['the same App once more', sibling({ app: 'sekisho' })],
    ['an App that cannot be used', sibling({ app: 'gone' })],
  ]
  test.each(cases)('%s', async (_case, one, apps = {}) => {
    const { ask, left, minted } = pooled([one], apps)
    left.set(77, 0)
    expect(await ask()).toBe(77)
    expect(minted.map(({ installationId }) => installationId)).toEqual([77])
  })

  test('one that is halted; a Halt of the account, or of the one that is named, ends all', async () => {
    const halted = pooled()
    halted.left.set(77, 0)
    const target = { type: 'Installation', installation: { host, id: 88 } } as const
    halted.state.halts = [haltObject(target)]
    expect(await halted.ask()).toBe(77)
    for (const installation of [
      { host, id: 88, account: 2001 },
      { host, id: 77 },
    ]) {
      halted.state.halts = [haltObject({ type: 'Installation', installation })]
      await expect(halted.ask()).rejects.toMatchObject({ code: 'forbidden', reason: 'Halted' })
    }
  })

  test('one that ends while its token lives: nobody gets that token any more', async () => {
    const { ask, left, fresh, minted } = pooled()
    left.set(77, 0.5)
    expect(await ask()).toBe(88)
    fresh.others = [named]
    expect([await ask(), minted.length]).toEqual([77, 2])
  })

  test('one that ends during the mint: its token is not delivered', async () => {
    const { ask, left, fresh, fails } = pooled()
    left.set(77, 0.5)
    fails.set(88, () => {
      fresh.others = [named]
      return undefined
    })
    await expect(ask()).rejects.toMatchObject({ code: 'unavailable' })
    expect(await ask()).toBe(77)
  })
})
