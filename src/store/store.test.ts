import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { databases, movableClock, openTestStore, type TestDatabase, type TestStore } from '../../test/fixtures/databases.ts'
import { SecretString } from '../lib/secret-string.ts'
import type { OidcLookup, OidcPayload } from './oidc-records.ts'
import { hashedToken, type TokenIntent } from './token-registry.ts'

const secret = (text: string): SecretString => new SecretString(text)

describe.each(databases)('the store on $name', ({ start }) => {
  const clock = movableClock()
  let place: TestDatabase
  let store: TestStore
  const inSeconds = (seconds: number): Date => new Date(clock.now().getTime() + seconds * 1000)

  beforeAll(async () => {
    place = await start()
    store = await openTestStore(place.location, clock)
  })
  afterAll(async () => {
    await store?.close()
    await place?.stop()
  })

  describe('the token registry', () => {
    let counter = 0
    const intent = (change: Partial<TokenIntent> = {}): TokenIntent => {
      counter += 1
      return {
        cacheKey: `key-${counter}`,
        installation: { host: 'github.localhost', appId: 1, installationId: 1000 + counter },
        api: 'https://github.localhost/api/v3',
        grantUid: `grant-${counter}`,
        grantName: 'read-shop',
        subject: { kind: 'ServiceAccount', namespace: `tenant-${counter}`, name: 'runner', uid: 'uid-1' },
        repositoryIds: [10, 20],
        permissions: { contents: 'read' },
        ...change,
      }
    }
    const minted = (token: string, seconds = 3600) => ({
      token: secret(token),
      expiresAt: inSeconds(seconds),
      repositoryIds: [10, 20],
      permissions: { contents: 'read', metadata: 'read' },
    })

    test('finds a minted token, with what GitHub answered, while enough of its life is left', async () => {
      const request = intent()
      const id = await store.tokens.intend(request)
      expect(await store.tokens.findLive(request.cacheKey, 600)).toBeUndefined()
      await store.tokens.recordMinted(id, minted('ghs_first'))
      const live = await store.tokens.findLive(request.cacheKey, 600)
      expect(live).toMatchObject({ ...request, id, permissions: { contents: 'read', metadata: 'read' } })
      expect(live?.token.reveal()).toBe('ghs_first')
      clock.advance(3001)
      expect(await store.tokens.findLive(request.cacheKey, 600)).toBeUndefined()
      expect(await store.tokens.findLive(request.cacheKey, 500)).toMatchObject({ id })
    })

    test('counts the tokens that may be alive, by what is known of their end', async () => {
      const before = await store.tokens.counts()
      const mint = async (revoking?: string): Promise<string> => {
        const id = await store.tokens.intend(intent())
        await store.tokens.recordMinted(id, minted('ghs_counted', 900), revoking)
        return id
      }
      for (const revoking of [undefined, undefined, 'it ended']) await mint(revoking)
      await store.tokens.deferRevocation(await mint('it ended'), { retryAt: inSeconds(60), suspended: true })
      await store.tokens.intend(intent())
      const { live, revoking, suspended } = await store.tokens.counts()
      expect([live - before.live, revoking - before.revoking, suspended - before.suspended]).toEqual([2, 1, 1])
      clock.advance(901)
      expect((await store.tokens.counts()).revoking).toBe(0)
    })

    test('deletes the ciphertext of a token that expired, and keeps its row for the quota', async () => {
      const request = intent()
      const id = await store.tokens.intend(request)
      await store.tokens.recordMinted(id, minted('ghs_expired'))
      const revoking = intent()
      await store.tokens.recordMinted(await store.tokens.intend(revoking), minted('ghs_unrevoked'), 'it was wider')
      await store.tokens.expire(clock.now())
      expect(await store.tokens.hasLive({ grantUid: request.grantUid })).toBe(true)
      clock.advance(3600)
      const unrevoked = await store.tokens.expiredUnrevoked()
      expect(unrevoked.map(({ grantUid }) => grantUid)).toContain(revoking.grantUid)
      await store.tokens.expire(clock.now())
      expect(await store.tokens.expiredUnrevoked()).toEqual([])
      // The database holds no ciphertext in any other state than minted and revoking (`tokens_sealed_while_alive`).
      await expect(store.tokens.recordDelivered(id)).rejects.toMatchObject({ code: 'conflict' })
      const quota = { limit: 1, since: inSeconds(-7200) }
      expect(await store.tokens.intendWithin(request, quota)).toBeUndefined()
      clock.advance(7200)
      await store.tokens.deleteExpired(clock.now())
    })

    test('does not find a revoked token, and refuses to deliver it', async () => {
      const request = intent()
      const id = await store.tokens.intend(request)
      await store.tokens.recordMinted(id, minted('ghs_gone'))
      await store.tokens.recordDelivered(id)
      await store.tokens.markRevoked(id, 'grant deleted')
      expect(await store.tokens.findLive(request.cacheKey, 0)).toBeUndefined()
      expect(await store.tokens.liveBy({ grantUid: request.grantUid })).toEqual([])
      await expect(store.tokens.recordDelivered(id)).rejects.toThrow('revoked before')
    })

    test('accepts one outcome for an intent', async () => {
      const id = await store.tokens.intend(intent())
      await store.tokens.recordMinted(id, minted('ghs_one'))
      await expect(store.tokens.recordMinted(id, minted('ghs_two'))).rejects.toThrow('no open intent')
    })

    test('finds live tokens by installation, grant, repository, namespace and hash, and by all of them together', async () => {
      const request = intent()
      const id = await store.tokens.intend(request)
      await store.tokens.recordMinted(id, minted('ghs_found'))
      const { installation, grantUid } = request
      const { namespace } = request.subject
      const ids = async (filter: Parameters<TestStore['tokens']['liveBy']>[0]) =>
        (await store.tokens.liveBy(filter)).map(row => row.id)
      expect(await ids({ installation })).toEqual([id])
      expect(await ids({ grantUid })).toEqual([id])
      expect(await ids({ namespace })).toEqual([id])
      expect(await ids({ namespace, hashedToken: hashedToken(new SecretString('ghs_found')) })).toEqual([id])
      expect(await ids({ namespace, hashedToken: hashedToken(new SecretString('ghs_other')) })).toEqual([])
      expect(await ids({ installation, grantUid, namespace, repositoryId: 20 })).toEqual([id])
      expect(await ids({ grantUid, repositoryId: 30 })).toEqual([])
      expect(await ids({ installation: { ...installation, host: 'github.com' } })).toEqual([])
      expect(await ids({ installation: { ...installation, appId: 2 } })).toEqual([])
      await expect(store.tokens.liveBy({})).rejects.toThrow('at least one')
    })

    test('reports intents that never had an outcome, and counts intents for the quota', async () => {
      const request = intent()
      const since = new Date(clock.now().getTime() - 1)
      const id = await store.tokens.intend(request)
      clock.advance(120)
      expect((await store.tokens.orphans(inSeconds(-60))).map(row => row.id)).toContain(id)
      await store.tokens.abandon(id, 'swept')
      expect((await store.tokens.orphans(inSeconds(-60))).map(row => row.id)).not.toContain(id)
      const another = (limit: number, counted: Date) =>
        store.tokens.intendWithin(intent({ subject: request.subject }), { limit, since: counted })
      expect(await another(1, since)).toBeUndefined()
      // Counted are the last 120 s and one millisecond, of which the one intent is the first.
      const freeAt = await store.tokens.quotaFreeAt(request.subject.namespace, { limit: 1, since })
      expect(freeAt).toEqual(new Date(clock.now().getTime() + 1))
      expect(await store.tokens.quotaFreeAt(request.subject.namespace, { limit: 2, since })).toEqual(clock.now())
      expect(await another(2, since)).toBeDefined()
      expect(await another(1, clock.now())).toBeDefined()
    })

    test('accepts exactly as many concurrent intents of a namespace as its quota allows', async () => {
      const { subject } = intent()
      const since = new Date(clock.now().getTime() - 1)
      const tries = Array.from({ length: 12 }, () => store.tokens.intendWithin(intent({ subject }), { limit: 5, since }))
      const ids = (await Promise.all(tries)).filter(id => id !== undefined)
      expect(ids).toHaveLength(5)
      expect(await store.tokens.intendWithin(intent(), { limit: 5, since })).toBeDefined()
    })

    test('stores a token whose revocation began for a retry, and never delivers it', async () => {
      const request = intent()
      const id = await store.tokens.intend(request)
      await store.tokens.recordMinted(id, minted('ghs_going'))
      await store.tokens.markRevoking([id], 'grant deleted')
      expect(await store.tokens.findLive(request.cacheKey, 0)).toBeUndefined()
      await expect(store.tokens.recordDelivered(id)).rejects.toThrow('revoked before')
      expect((await store.tokens.liveBy({ grantUid: request.grantUid })).map(row => row.token.reveal())).toEqual(['ghs_going'])
      expect((await store.tokens.revoking()).map(row => row.id)).toContain(id)
      await store.tokens.markRevoked(id, 'grant deleted')
      expect((await store.tokens.revoking()).map(row => row.id)).not.toContain(id)
    })

    test('revokes every minted token once when the clock is set back, not for synchronisation or a step forward', async () => {
      const foundAfter = async (seconds: number): Promise<boolean> => {
        const request = intent()
        await store.tokens.recordMinted(await store.tokens.intend(request), minted('ghs_clock', 10_000))
        clock.advance(seconds)
        return (await store.tokens.findLive(request.cacheKey, 0)) !== undefined
      }
      for (const seconds of [60, -20, 3600, -30]) expect(await foundAfter(seconds), `${seconds} s`).toBe(true)
      expect(await foundAfter(-1)).toBe(false)
      expect(await foundAfter(0)).toBe(true)
      expect(await foundAfter(-3600)).toBe(false)
      expect(await foundAfter(5)).toBe(true)
      clock.advance(3600)
    })

    test('deletes rows whose token has expired and that the quota no longer counts', async () => {
      const id = await store.tokens.intend(intent())
      await store.tokens.recordMinted(id, minted('ghs_old', 60))
      expect(await store.tokens.deleteExpired(inSeconds(61))).toBe(0)
      expect(await store.tokens.deleteExpired(inSeconds(3 * 3600))).toBeGreaterThan(0)
    })
  })

  describe('the inbox', () => {
    const delivery = (deliveryId: string, body = '{}') => ({
      deliveryId,
      event: 'push',
      host: 'github.localhost',
      receivedAt: clock.now(),
      body: Buffer.from(body),
    })

    test('says of each delivery of a group whether it is a duplicate, also of one in the same group', async () => {
      for (const id of ['m1', 'm3']) await store.inbox.receive(delivery(id))
      // The first is being written while the others arrive: they are one group.
      const sent = ['first', 'm0', 'm1', 'm2', 'm3', 'm4', 'm4']
      const received = await Promise.all(sent.map(id => store.inbox.receive(delivery(id))))
      expect(received).toEqual(['stored', 'stored', 'duplicate', 'stored', 'duplicate', 'stored', 'duplicate'])
      const rows = await store.inbox.claim(100)
      const ids = rows.map(({ deliveryId }) => deliveryId).toSorted()
      expect(ids).toEqual(['first', 'm0', 'm1', 'm2', 'm3', 'm4'])
      for (const row of rows) await store.inbox.markHandled(row.id, 'woken')
    })

    test('stores a delivery once, byte for byte', async () => {
      const bytes = Buffer.from([0, 255, 10, 13, 34])
      expect(await store.inbox.receive({ ...delivery('a'), body: bytes, action: 'opened' })).toBe('stored')
      expect(await store.inbox.receive(delivery('a', 'another body'))).toBe('duplicate')
      expect(await store.inbox.receive({ ...delivery('a'), host: 'github.com' })).toBe('stored')
      const rows = await store.inbox.claim(10)
      expect(rows.map(row => [row.host, row.deliveryId, row.attempts])).toEqual(
        expect.arrayContaining([
          ['github.localhost', 'a', 1],
          ['github.com', 'a', 1],
        ]),
      )
      const mine = rows.find(row => row.host === 'github.localhost')
      expect(mine?.action).toBe('opened')
      expect(mine?.body.equals(bytes)).toBe(true)
      for (const row of rows) await store.inbox.markHandled(row.id, 'woken')
    })

    test('stores many concurrent deliveries, each with its own bytes, and equal ones once', async () => {
      const bodyOf = (number: number) => Buffer.alloc(number * 37, number % 251)
      const many = Array.from({ length: 300 }, (_, number) => ({ ...delivery(`many-${number}`), body: bodyOf(number) }))
      const answers = await Promise.all([...many, ...many.slice(0, 50)].map(one => store.inbox.receive(one)))
      expect(answers.filter(answer => answer === 'stored')).toHaveLength(300)
      const rows = await store.inbox.claim(500)
      expect(new Set(rows.map(row => row.deliveryId)).size).toBe(300)
      for (const row of rows) expect(row.body.equals(bodyOf(Number(row.deliveryId.slice(5))))).toBe(true)
      await Promise.all(rows.map(row => store.inbox.markHandled(row.id, 'ignored')))
      expect(await store.inbox.claim(10)).toEqual([])
    })

    test('a text that the database cannot store does not make other deliveries fail', async () => {
      const answers = await Promise.all([
        store.inbox.receive(delivery('good')),
        store.inbox.receive({ ...delivery('bad'), action: 'open\0ed\ud800' }),
      ])
      expect(answers).toEqual(['stored', 'stored'])
      const rows = await store.inbox.claim(10)
      expect(rows.find(row => row.deliveryId === 'bad')?.action).toBe('open\uFFFDed\uFFFD')
      await Promise.all(rows.map(row => store.inbox.markHandled(row.id, 'ignored')))
    })

    test('leases a delivery to one claimant, and to another when the lease has ended', async () => {
      await store.inbox.receive(delivery('b'))
      const claims = await Promise.all([store.inbox.claim(10), store.inbox.claim(10), store.inbox.claim(10)])
      expect(claims.flat().map(row => row.deliveryId)).toEqual(['b'])
      expect(await store.inbox.claim(10)).toEqual([])
      clock.advance(61)
      const [again] = await store.inbox.claim(10)
      expect(again).toMatchObject({ deliveryId: 'b', attempts: 2 })
      await store.inbox.markHandled(again?.id ?? '', 'ignored')
      clock.advance(61)
      expect(await store.inbox.claim(10)).toEqual([])
    })

    test('leases a released delivery again after the wait, oldest first', async () => {
      await store.inbox.receive(delivery('c'))
      clock.advance(1)
      await store.inbox.receive(delivery('d'))
      const [first, second] = await store.inbox.claim(10)
      expect([first?.deliveryId, second?.deliveryId]).toEqual(['c', 'd'])
      await store.inbox.release(first?.id ?? '', 5)
      await store.inbox.markHandled(second?.id ?? '', 'woken')
      expect(await store.inbox.claim(10)).toEqual([])
      clock.advance(6)
      const [again] = await store.inbox.claim(10)
      expect(again?.deliveryId).toBe('c')
      await store.inbox.markHandled(again?.id ?? '', 'woken')
      expect(await store.inbox.deleteHandledBefore(inSeconds(1))).toBeGreaterThan(0)
      expect(await store.inbox.receive(delivery('c'))).toBe('stored')
    })

    test('says how many deliveries wait, and since when the oldest does', async () => {
      const before = await store.inbox.backlog()
      await store.inbox.receive(delivery('waiting'))
      const after = await store.inbox.backlog()
      expect(after.depth).toBe(before.depth + 1)
      expect(after.oldest?.getTime()).toBeLessThanOrEqual(clock.now().getTime())
      for (const { id } of await store.inbox.claim(500)) await store.inbox.markHandled(id, 'woken')
      clock.advance(3600)
      for (const { id } of await store.inbox.claim(500)) await store.inbox.markHandled(id, 'woken')
      expect(await store.inbox.backlog()).toEqual({ depth: 0 })
    })
  })

  describe('sessions', () => {
    test('returns the data of a sign-in once, also to concurrent callers', async () => {
      const state = await store.sessions.createLoginState({ data: { verifier: 'v' }, expiresAt: inSeconds(600) })
      const takes = await Promise.all(Array.from({ length: 8 }, () => store.sessions.takeLoginState(state.reveal())))
      expect(takes.filter(taken => taken !== undefined)).toEqual([{ verifier: 'v' }])
      expect(await store.sessions.takeLoginState('never made')).toBeUndefined()
      expect(await store.sessions.takeLoginState('')).toBeUndefined()
    })

    test('returns nothing for an expired sign-in', async () => {
      const state = await store.sessions.createLoginState({ data: 'late', expiresAt: inSeconds(10) })
      clock.advance(10)
      expect(await store.sessions.takeLoginState(state.reveal())).toBeUndefined()
    })

    test('finds a session until it is revoked or expires', async () => {
      const session = {
        host: 'github.localhost',
        userId: 2 ** 40,
        login: 'olivia',
        data: { csrf: 'x' },
        expiresAt: inSeconds(100),
      }
      const one = await store.sessions.create(session)
      const two = await store.sessions.create(session)
      expect(await store.sessions.find(one.reveal())).toMatchObject(session)
      await store.sessions.revoke(one.reveal())
      expect(await store.sessions.find(one.reveal())).toBeUndefined()
      expect(await store.sessions.find(two.reveal())).toMatchObject({ login: 'olivia' })
      clock.advance(100)
      expect(await store.sessions.find(two.reveal())).toBeUndefined()
      expect(await store.sessions.deleteExpired(clock.now())).toBeGreaterThan(0)
    })

    test('revokes all sessions of one person only', async () => {
      const base = { host: 'github.localhost', login: 'x', data: null, expiresAt: inSeconds(100) }
      const mine = await store.sessions.create({ ...base, userId: 501 })
      const other = await store.sessions.create({ ...base, userId: 502 })
      await store.sessions.create({ ...base, userId: 502 })
      expect((await store.sessions.people()).filter(({ userId }) => userId > 500)).toEqual([
        { host: 'github.localhost', userId: 501, login: 'x', sessions: 1 },
        { host: 'github.localhost', userId: 502, login: 'x', sessions: 2 },
      ])
      await store.sessions.create({ ...base, userId: 502, expiresAt: clock.now() })
      expect(await store.sessions.countOf('github.localhost', 502)).toBe(2)
      expect(await store.sessions.countOf('github.example.com', 502)).toBe(0)
      expect(await store.sessions.revokeAllOf('github.localhost', 501)).toBe(1)
      expect(await store.sessions.find(mine.reveal())).toBeUndefined()
      expect(await store.sessions.find(other.reveal())).toBeDefined()
    })
  })

  describe('onboardings', () => {
    let person = 100
    const intent = (change: object = {}) => {
      person += 1
      const host = 'github.localhost'
      return { host, accountId: 10, userId: person, state: 'proved' as const, data: { login: 'acme' }, ...change }
    }
    const begin = (change: object = {}) => store.onboardings.begin(intent(change))

    test('are counted by state while they have not ended', async () => {
      const before = (await store.onboardings.counts()).get('waiting-for-admin') ?? 0
      const { id } = await begin()
      await store.onboardings.advance(id, 'waiting-for-admin')
      const counts = await store.onboardings.counts()
      expect(counts.get('waiting-for-admin')).toBe(before + 1)
      expect([...counts.keys()]).not.toContain('finished')
      await store.onboardings.advance(id, 'refused')
      expect((await store.onboardings.counts()).get('waiting-for-admin')).toBe(before)
    })

    test('are stored and advance until they are finished', async () => {
      const begun = await begin({ state: 'waiting-for-approval' })
      const proved = await store.onboardings.advance(begun.id, 'proved', {
        installationId: 77,
        data: { login: 'acme', roles: [] },
      })
      expect(proved).toMatchObject({ state: 'proved', installationId: 77, data: { login: 'acme', roles: [] } })
      expect(await store.onboardings.active()).toEqual([])
      await store.onboardings.advance(begun.id, 'confirmed')
      expect(await store.onboardings.active()).toMatchObject([{ id: begun.id, state: 'confirmed' }])
      await store.onboardings.advance(begun.id, 'finished')
      expect(await store.onboardings.active()).toEqual([])
      expect(await store.onboardings.find(begun.id)).toMatchObject({ state: 'finished', installationId: 77 })
      expect(await store.onboardings.find('no-uuid')).toBeUndefined()
      await expect(store.onboardings.advance('00000000-0000-4000-8000-000000000000', 'proved')).rejects.toThrow('no such')
    })

    test('of two decisions one counts', async () => {
      const { id } = await begin()
      const decisions = await Promise.allSettled(
        (['confirmed', 'refused'] as const).map(state => store.onboardings.advance(id, state, { from: 'proved' })),
      )
      expect(decisions.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
      expect(decisions.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'conflict' } })
    })

    test('that wait are bounded for a person, also when they begin at once, and never hide the active ones', async () => {
      const of = { userId: 7 }
      const attempts = await Promise.allSettled(
        Array.from({ length: 12 }, (_, index) => begin({ ...of, accountId: 20 + index, state: 'waiting-for-approval' })),
      )
      expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(5)
      expect(attempts.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'too_many_requests' } })
      const other = await begin()
      await store.onboardings.advance(other.id, 'tenant-written')
      expect((await store.onboardings.active()).map(({ id }) => id)).toContain(other.id)
      expect((await store.onboardings.active()).map(({ state }) => state)).not.toContain('waiting-for-approval')
      const [newest] = await store.onboardings.ofPerson('github.localhost', 7)
      await store.onboardings.advance(newest?.id ?? '', 'abandoned')
      await begin(of)
    })

    test('that are proved again for the same account replace the earlier one, and ended ones are forgotten', async () => {
      const of = { userId: 8 }
      for (let round = 0; round < 30; round += 1) {
        const { id } = await begin(of)
        if (round % 2 === 0) await store.onboardings.advance(id, 'refused')
      }
      const own = await store.onboardings.ofPerson('github.localhost', 8)
      expect(own.filter(({ state }) => state === 'proved')).toHaveLength(1)
      for (let round = 0; round < 20; round += 1) await store.onboardings.advance((await begin(of)).id, 'finished')
      expect((await store.onboardings.ofPerson('github.localhost', 8)).length).toBeLessThanOrEqual(22)
    })

    test('end when nobody acts in time, and are deleted later', async () => {
      const { id } = await begin()
      await store.onboardings.advance(id, 'waiting-for-admin')
      expect((await store.onboardings.waitingForAdmin()).map(one => one.id)).toEqual([id])
      const later = inSeconds(1)
      expect(await store.onboardings.abandon('waiting-for-admin', clock.now())).toBe(0)
      expect(await store.onboardings.abandon('waiting-for-admin', later)).toBe(1)
      expect(await store.onboardings.find(id)).toMatchObject({ state: 'abandoned' })
      expect(await store.onboardings.deleteEndedBefore(later)).toBeGreaterThan(0)
      expect(await store.onboardings.find(id)).toBeUndefined()
    })
  })

  describe('OIDC records', () => {
    const upsert = (model: string, id: string, payload: OidcPayload, lookup: OidcLookup = {}): Promise<void> =>
      store.oidc.upsert({ model, id, payload, expiresAt: inSeconds(60), lookup })

    test('are found by id, user code and uid of their model, until they expire', async () => {
      const payload = { accountId: 'github|h|1', scope: 'openid' }
      await upsert('DeviceCode', 'id-1', payload, { userCode: 'ABCD', grantId: 'g1', uid: 'u1' })
      expect(await store.oidc.find('DeviceCode', 'id-1')).toEqual({ payload })
      expect(await store.oidc.findByUserCode('DeviceCode', 'ABCD')).toEqual({ payload })
      expect(await store.oidc.findByUid('DeviceCode', 'u1')).toEqual({ payload })
      expect(await store.oidc.find('AccessToken', 'id-1')).toBeUndefined()
      await upsert('DeviceCode', 'id-1', { scope: 'changed' }, { userCode: 'ABCD' })
      expect(await store.oidc.findByUserCode('DeviceCode', 'ABCD')).toEqual({ payload: { scope: 'changed' } })
      clock.advance(60)
      expect(await store.oidc.find('DeviceCode', 'id-1')).toBeUndefined()
      expect(await store.oidc.deleteExpired(clock.now())).toBe(1)
    })

    test('are consumed by one caller, and show when', async () => {
      await upsert('AuthorizationCode', 'code', { a: 1 })
      const consumed = await Promise.all([1, 2, 3].map(() => store.oidc.consume('AuthorizationCode', 'code')))
      expect(consumed.filter(Boolean)).toHaveLength(1)
      expect(await store.oidc.find('AuthorizationCode', 'code')).toEqual({
        payload: { a: 1 },
        consumed: Math.floor(clock.now().getTime() / 1000),
      })
      await store.oidc.destroy('AuthorizationCode', 'code')
      expect(await store.oidc.find('AuthorizationCode', 'code')).toBeUndefined()
    })

    test('are used again by the last who marks them, while nothing of the grant was used since', async () => {
      const token = (id: string) => upsert('RefreshToken', id, {}, { grantId: 'family' })
      const since = clock.now()
      await token('parent')
      const first = await store.oidc.consume('RefreshToken', 'parent')
      await token('child')
      const [a, b] = await Promise.all([1, 2].map(() => store.oidc.consumeAgain('RefreshToken', 'parent', since)))
      expect(new Set([first, a, b].map(mark => mark?.getTime())).size).toBe(3)
      const last = new Date(Math.max(a?.getTime() ?? 0, b?.getTime() ?? 0))
      for (const mark of [first, a, b])
        expect(await store.oidc.isConsumedAt('RefreshToken', 'parent', mark ?? since)).toBe(mark?.getTime() === last.getTime())
      expect(await store.oidc.retireOthers('RefreshToken', 'parent', 'family')).toBe(true)
      expect(await store.oidc.find('RefreshToken', 'child')).toEqual({ payload: {}, consumed: 1 })
      expect(await store.oidc.consume('RefreshToken', 'child')).toBeUndefined()
      expect(await store.oidc.consumeAgain('RefreshToken', 'child', since)).toBeUndefined()
      await token('second')
      clock.advance(1)
      await store.oidc.consume('RefreshToken', 'second')
      expect(await store.oidc.retireOthers('RefreshToken', 'parent', 'family')).toBe(false)
      expect(await store.oidc.consumeAgain('RefreshToken', 'parent', clock.now())).toBeUndefined()
      expect(await store.oidc.consumeAgain('RefreshToken', 'unused', since)).toBeUndefined()
    })

    test('are all deleted when their grant is revoked', async () => {
      for (const model of ['AccessToken', 'RefreshToken']) await upsert(model, 'r', {}, { grantId: 'g2' })
      await upsert('RefreshToken', 'other', {}, { grantId: 'g3' })
      await store.oidc.revokeByGrantId('g2')
      expect(await store.oidc.find('AccessToken', 'r')).toBeUndefined()
      expect(await store.oidc.find('RefreshToken', 'r')).toBeUndefined()
      expect(await store.oidc.find('RefreshToken', 'other')).toBeDefined()
    })

    test('are listed and deleted by person, whatever their grant', async () => {
      const [account, another] = ['github|h|1', 'github|h|12']
      for (const [model, id] of [
        ['Session', 's'],
        ['Grant', 'g4'],
        ['Grant', 'g5'],
        ['RefreshToken', 'r4'],
      ] as const)
        await upsert(model, id, {}, { account, grantId: id })
      await upsert('Grant', 'g6', {}, { account: another })
      await store.oidc.upsert({ model: 'Grant', id: 'old', payload: {}, expiresAt: clock.now(), lookup: { account } })
      expect(await store.oidc.signIns()).toEqual([
        { account, count: 2 },
        { account: another, count: 1 },
      ])
      expect(await store.oidc.countOf(account)).toBe(2)
      expect(await store.oidc.endAllOf(account)).toBe(2)
      expect(await store.oidc.countOf(account)).toBe(0)
      expect(await store.oidc.signIns()).toEqual([{ account: another, count: 1 }])
      for (const [model, id] of [
        ['Session', 's'],
        ['Grant', 'g5'],
        ['RefreshToken', 'r4'],
      ] as const)
        expect(await store.oidc.find(model, id)).toBeUndefined()
      expect(await store.oidc.find('Grant', 'g6')).toBeDefined()
    })
  })

  describe('users and keys', () => {
    test('store a person’s tokens and groups, and delete them', async () => {
      const user = {
        host: 'github.localhost',
        userId: 9,
        login: 'dave',
        accessToken: secret('ghu_a'),
        accessTokenExpiresAt: inSeconds(100),
        refreshToken: secret('ghr_b'),
        groups: ['github|github.localhost|org|1|members'],
      }
      await store.users.save(user)
      await store.users.save({ ...user, login: 'dave2' })
      const found = await store.users.find('github.localhost', 9)
      expect(found).toMatchObject({ login: 'dave2', groups: user.groups, accessTokenExpiresAt: user.accessTokenExpiresAt })
      expect([found?.accessToken.reveal(), found?.refreshToken?.reveal()]).toEqual(['ghu_a', 'ghr_b'])
      await store.users.remove('github.localhost', 9)
      expect(await store.users.find('github.localhost', 9)).toBeUndefined()
    })

    test('let one caller at a time refresh, and the next after a failure', async () => {
      let inside = 0
      let most = 0
      const work = async (): Promise<void> => {
        inside += 1
        most = Math.max(most, inside)
        await store.users.find('github.localhost', 9)
        inside -= 1
      }
      await Promise.all(Array.from({ length: 10 }, () => store.users.withRefreshLock('github.localhost', 9, work)))
      expect(most).toBe(1)
      await expect(store.users.withRefreshLock('github.localhost', 9, () => Promise.reject(new Error('no')))).rejects.toThrow(
        'no',
      )
      expect(await store.users.withRefreshLock('github.localhost', 9, async () => 'next')).toBe('next')
    })

    test('create a key once', async () => {
      let made = 0
      const make = async (): Promise<SecretString> => {
        made += 1
        return secret(`key-${made}`)
      }
      const first = await store.keys.getOrCreate('signing', make)
      const second = await store.keys.getOrCreate('signing', make)
      expect([first.reveal(), second.reveal(), made]).toEqual(['key-1', 'key-1', 1])
    })
  })
})
