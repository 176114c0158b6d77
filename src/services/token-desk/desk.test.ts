// The token desk on a real store, with the API server, the audit log and GitHub scripted: the order of its steps and what each
// failure leaves.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { movableClock, openTestStore, type TestStore } from '../../../test/fixtures/databases.ts'
import type { AuditAction } from '../../api/audit/audit-event.ts'
import type { Halt } from '../../api/github/halt.ts'
import type { RepositoryGrant } from '../../api/github/repository-grant.ts'
import type { MintRequest } from '../../github/index.ts'
import { AppError } from '../../lib/errors.ts'
import { haltObject } from '../../policy/testing/halt-object.ts'
import { verifyLog } from '../../store/audit/testing/verify-log.ts'
import { createTokenDesk } from './desk.ts'
import { sweepOnce } from './sweep.ts'
import { deskEnvironment } from './testing/desk-environment.ts'
import { host, installationObject, ready, runner } from './testing/desk-objects.ts'

const clock = movableClock()
let store: TestStore
beforeAll(async () => {
  store = await openTestStore({ dataFolder: 'memory://' }, clock)
})
afterAll(() => store?.close())

const environment = () => deskEnvironment(store, clock)

describe('the token desk', () => {
  beforeEach(() => clock.advance(7200))

  test('takes its steps in the promised order', async () => {
    const { state, desk, request } = environment()
    const answer = await desk.request(request)
    expect(answer).toMatchObject({
      repositories: [{ id: 4001, fullName: 'acme/shop' }],
      permissions: { contents: 'read' },
      endpoints: { host },
    })
    expect(answer.token.reveal()).toBe(state.minted[0])
    expect([answer.endpoints, answer.refs]).toEqual([{ host, web: 'http://x', api: 'http://x' }, undefined])
    expect(state.steps).toEqual([
      'audit token.intended allowed',
      'mint',
      'audit token.minted allowed',
      'audit token.delivered allowed',
    ])
  })

  test('says where the App of its own Installation is, whatever others of the host have, and the refs of the grant', async () => {
    const { state, deps, grant, request } = environment()
    const get = async (name: string) => ({
      ...(await deps.githubApps.get(name)),
      endpoints: { host, web: `http://${name}.test`, api: `http://${name}.test/api` },
    })
    const refs = ['refs/heads/release/*']
    state.grant = { ...grant, spec: { ...grant.spec, delivery: 'GitProxy', git: { refs } } }
    const desk = createTokenDesk({ ...deps, githubApps: { get } })
    const answer = await desk.request({ ...request, delivery: 'GitProxy' })
    const { app } = installationObject.spec
    expect([answer.endpoints.web, answer.endpoints.api]).toEqual([`http://${app}.test`, `http://${app}.test/api`])
    expect(answer.refs).toEqual(refs)
  })

  test('mints by ids and never without them', async () => {
    const { state, desk, request } = environment()
    let sent: MintRequest | undefined
    state.answer = mintRequest => {
      sent = mintRequest
      return {}
    }
    await desk.request(request)
    expect(sent).toEqual({ installationId: 77, repositoryIds: [4001], permissions: { contents: 'read' } })
  })

  test('sends GitHub no request when the audit log fails to append the intent', async () => {
    const { state, desk, request } = environment()
    state.auditFails = 'token.intended'
    await expect(desk.request(request)).rejects.toMatchObject({ code: 'unavailable' })
    expect(state.steps).toEqual([])
  })

  test('revokes the token when the audit log fails to append the outcome', async () => {
    const { state, desk, request } = environment()
    state.auditFails = 'token.minted'
    await expect(desk.request(request)).rejects.toMatchObject({ code: 'unavailable' })
    expect(state.revoked).toEqual(state.minted)
    expect(await store.tokens.liveBy({ grantUid: request.grant.metadata.uid ?? '' })).toEqual([])
  })

  test('delivers nothing when the audit log fails to append the delivery', async () => {
    const { state, desk, request } = environment()
    state.auditFails = 'token.delivered'
    await expect(desk.request(request)).rejects.toMatchObject({ code: 'unavailable' })
  })

  test.each([
    ['another repository', { repositoryIds: [4001, 4002] }],
    ['another permission', { permissions: { contents: 'write', metadata: 'read' } }],
  ])('revokes and refuses a token with %s', async (_case, wider) => {
    const { state, desk, request } = environment()
    state.answer = () => wider
    await expect(desk.request(request)).rejects.toMatchObject({ code: 'integrity_violation', reason: 'TokenWider' })
    expect(state.revoked).toEqual(state.minted)
    expect(state.steps.at(-1)).toBe('audit token.refused denied')
    expect(state.steps).not.toContain('audit token.delivered allowed')
  })

  test('leaves a wider token to the sweep when GitHub does not revoke it at once', async () => {
    const { state, deps, desk, request } = environment()
    state.answer = () => ({ repositoryIds: [1] })
    state.revokeFails = true
    await expect(desk.request(request)).rejects.toMatchObject({ reason: 'TokenWider' })
    expect(state.revoked).toEqual([])
    state.revokeFails = false
    await sweepOnce(deps)
    expect(state.revoked).toEqual(state.minted)
  })

  test('never delivers a wider token, also when the process ends before it is revoked', async () => {
    const { state, deps, desk, request } = environment()
    state.answer = () => ({ repositoryIds: [4001, 9] })
    state.revokeFails = true
    // As after a crash: whatever follows the first write of the token never happens.
    const crashed = (): Promise<never> => Promise.reject(new Error('the process ended'))
    const tokens = { ...store.tokens, markRevoking: crashed, markRevoked: crashed, abandon: crashed }
    await expect(createTokenDesk({ ...deps, tokens }).request(request)).rejects.toMatchObject({ reason: 'TokenWider' })
    const filter = { grantUid: request.grant.metadata.uid ?? '' }
    expect(await store.tokens.liveBy(filter)).toHaveLength(1)
    state.answer = () => ({})
    const next = await desk.request(request)
    expect(next.token.reveal()).toBe(state.minted[1])
    state.revokeFails = false
    await sweepOnce(deps)
    expect(state.revoked).toEqual([state.minted[0]])
  })

  test('revokes without the App and its key', async () => {
    const { state, deps, desk, request } = environment()
    await desk.request(request)
    const get = () => Promise.reject(new AppError('not_found', 'there is no ClusterGitHubApp sekisho'))
    const withoutApp = createTokenDesk({ ...deps, githubApps: { get } })
    await withoutApp.revokeBy({ grantUid: request.grant.metadata.uid ?? '' }, 'the App was deleted')
    expect(state.revoked).toEqual(state.minted)
  })

  test('a token of a suspended installation is said to be suspended, and is revoked when the suspension ends', async () => {
    const { state, deps, desk, request } = environment()
    await desk.request(request)
    const filter = { grantUid: request.grant.metadata.uid ?? '' }
    state.suspended = true
    // Not an error: nothing would change by trying again at once.
    expect(await desk.revokeBy(filter, 'the installation is suspended')).toBe(1)
    expect(await desk.revokeBy(filter, 'the installation is suspended')).toBe(1)
    for (let minute = 0; minute < 30; minute++) {
      clock.advance(60)
      await sweepOnce(deps)
    }
    expect(state.revoked).toEqual([])
    const failed = (await store.audit.list({ limit: 50, action: 'token.revoked' })).filter(
      ({ details, outcome }) => details['grantUid'] === filter.grantUid && outcome === 'failed',
    )
    expect(failed.map(({ reason }) => reason)).toEqual([expect.stringContaining('suspended')])
    state.suspended = false
    await sweepOnce(deps)
    expect(state.revoked).toEqual(state.minted)
  })

  test('the record of an end says whether GitHub revoked the token now or did not accept it before', async () => {
    const { deps, desk, request } = environment()
    const filter = { grantUid: request.grant.metadata.uid ?? '' }
    const answers = async () => {
      const entries = await store.audit.list({ limit: 50, action: 'token.revoked' })
      return entries.filter(({ details }) => details['grantUid'] === filter.grantUid).map(({ details }) => details['answer'])
    }
    await desk.request(request)
    await desk.revokeBy(filter, 'the grant was deleted')
    expect(await answers()).toEqual(['revoked'])
    await desk.request(request)
    await createTokenDesk({ ...deps, revokeAtGitHub: async () => 'invalid' }).revokeBy(filter, 'the grant was deleted')
    expect(await answers()).toEqual(['invalid', 'revoked'])
  })

  test('asks GitHub less and less often to revoke a token, and records when it expired unrevoked', async () => {
    const { state, deps, desk, request } = environment()
    let attempts = 0
    const revokeAtGitHub = async (): Promise<never> => {
      attempts += 1
      throw new AppError('unavailable', 'GitHub answered 502')
    }
    await desk.request(request)
    const filter = { grantUid: request.grant.metadata.uid ?? '' }
    const failing = { ...deps, revokeAtGitHub }
    await expect(createTokenDesk(failing).revokeBy(filter, 'the grant was deleted')).rejects.toMatchObject({
      code: 'unavailable',
    })
    for (let second = 0; second <= 3600; second += 15) {
      await sweepOnce(failing)
      clock.advance(15)
    }
    expect(attempts).toBeLessThanOrEqual(16)
    expect(attempts).toBeGreaterThanOrEqual(8)
    const recorded = (await store.audit.list({ limit: 50, action: 'token.revoked' })).filter(
      ({ details }) => details['grantUid'] === filter.grantUid,
    )
    expect(recorded.map(({ outcome, reason }) => `${outcome} ${reason}`)).toEqual([
      'failed it expired before GitHub revoked it',
      'failed the grant was deleted; GitHub did not revoke it yet: GitHub answered 502',
    ])
    expect(state.revoked).toEqual([])
  })

  test('mints once for a hundred equal concurrent requests, and reuses the token while it is active', async () => {
    const { state, desk, request } = environment()
    const answers = await Promise.all(Array.from({ length: 100 }, () => desk.request(request)))
    expect(new Set(answers.map(answer => answer.token.reveal())).size).toBe(1)
    expect(state.minted).toHaveLength(1)
  })

  test.each([
    ['ServiceAccount', 'runner', 15 * 60, 5 * 60],
    ['RemoteSync', 'shop', 60 * 60, 10 * 60],
  ])('a token of a %s (%s) lives for %i seconds and is delivered again while %i are left', async (kind, name, life, minimum) => {
    const { state, deps, desk, request } = environment()
    const of = { ...request, subject: { ...runner, kind, name } }
    const { expiresAt } = await desk.request(of)
    expect(expiresAt).toEqual(new Date(clock.now().getTime() + life * 1000))
    clock.advance(life - minimum)
    await desk.request(of)
    expect(state.minted).toHaveLength(1)
    clock.advance(1)
    await desk.request(of)
    expect(state.minted).toHaveLength(2)
    await sweepOnce(deps)
    expect(state.revoked).toEqual([])
  })

  test('a token of a workload is revoked at GitHub when its fifteen minutes are over, with that cause, and delivered no more', async () => {
    const { state, deps, desk, request } = environment()
    await desk.request(request)
    clock.advance(15 * 60 - 1)
    await sweepOnce(deps)
    expect(state.revoked).toEqual([])
    clock.advance(1)
    await sweepOnce(deps)
    expect(state.revoked).toEqual(state.minted)
    const [entry] = await rowsOf(request.grant.metadata.uid ?? '', 'token.revoked')
    expect(entry?.details).toMatchObject({
      cause: 'its life is over: that of a workload, or the one that a policy says',
      answer: 'revoked',
    })
    await desk.request(request)
    expect(state.minted).toHaveLength(2)
  })

  test('a policy says how long a token lives, up and down: the answer says so, it is revoked then, and is not delivered near its end', async () => {
    const { state, deps, desk, request, grant } = environment()
    const lives = (seconds: number): void => {
      state.grant = {
        ...grant,
        status: { ...grant.status, tokenLifetimes: [{ kind: 'ServiceAccount', name: 'runner', seconds }] },
      }
    }
    lives(120)
    const { expiresAt } = await desk.request(request)
    expect(expiresAt).toEqual(new Date(clock.now().getTime() + 120_000))
    clock.advance(80)
    await desk.request(request)
    expect(state.minted).toHaveLength(1)
    clock.advance(1)
    await desk.request(request)
    expect(state.minted).toHaveLength(2)
    clock.advance(39)
    await sweepOnce(deps)
    expect(state.revoked).toEqual(state.minted.slice(0, 1))
    // What was made for a shorter or a longer time is not delivered as the other.
    lives(3600)
    expect((await desk.request(request)).expiresAt).toEqual(new Date(clock.now().getTime() + 3_600_000))
    expect(state.minted).toHaveLength(3)
    lives(60)
    expect((await desk.request(request)).expiresAt).toEqual(new Date(clock.now().getTime() + 60_000))
    expect(state.minted).toHaveLength(4)
  })

  test('a time of another subject of the grant says nothing about this one', async () => {
    const { state, desk, request, grant } = environment()
    const tokenLifetimes = [{ kind: 'RemoteSync' as const, name: 'runner', seconds: 60 }]
    state.grant = { ...grant, status: { ...grant.status, tokenLifetimes } }
    expect((await desk.request(request)).expiresAt).toEqual(new Date(clock.now().getTime() + 900_000))
  })

  test('delivers different tokens for different subjects, recreated subjects, permissions and repositories', async () => {
    const { state, desk, request, grant } = environment()
    await desk.request(request)
    await desk.request({ ...request, subject: { ...runner, uid: 'recreated' } })
    await desk.request({ ...request, subject: { ...runner, kind: 'RemoteSync', name: 'shop' } })
    state.grant = { ...grant, spec: { ...grant.spec, permissions: { contents: 'write' } } }
    await desk.request(request)
    state.grant = { ...grant, status: { ...grant.status, repositories: [{ id: 4002, name: 'acme/secret-plans' }] } }
    await desk.request(request)
    expect(state.minted).toHaveLength(5)
  })

  test('refuses a workload that is not a subject, audits that and sends GitHub no request', async () => {
    const { state, desk, request } = environment()
    await expect(desk.request({ ...request, subject: { ...runner, name: 'other' } })).rejects.toMatchObject({
      reason: 'NotASubject',
    })
    expect(state.steps).toEqual(['audit token.refused denied'])
    const [entry] = await store.audit.list({ limit: 1 })
    expect(entry).toMatchObject({ action: 'token.refused', outcome: 'denied', details: { check: 'NotASubject' } })
  })

  const rowsOf = async (grantUid: string, action: AuditAction) =>
    (await store.audit.list({ limit: 200, action })).filter(({ details }) => details['grantUid'] === grantUid)

  test('a delivery of a token that exists reads the grant and the Installation once each, and nothing else', async () => {
    const { state, desk, request } = environment()
    await desk.request(request)
    // Before the mint and before the delivery.
    expect(state.reads).toBe(4)
    await desk.request(request)
    expect(state.reads).toBe(6)
  })

  test('a thousand deliveries of one token are ten records and their number', async () => {
    const { state, desk, request, counted } = environment()
    for (let delivery = 0; delivery < 1000; delivery++) await desk.request(request)
    await counted.flush(true)
    const rows = await rowsOf(request.grant.metadata.uid ?? '', 'token.delivered')
    expect(rows.map(({ details }) => details['count'])).toEqual([990, ...Array.from({ length: 10 }, () => undefined)])
    expect(state.minted).toHaveLength(1)
    // Ten minutes later the next delivery is a record of its own, before the token leaves.
    clock.advance(600)
    await desk.request(request)
    expect(await rowsOf(request.grant.metadata.uid ?? '', 'token.delivered')).toHaveLength(12)
  })

  test('a thousand refusals by one check are two records with their number, and a thousand others are bounded', async () => {
    const { state, deps, desk, request, counted } = environment()
    const stranger = { ...request, subject: { ...runner, name: 'other' } }
    for (let attempt = 0; attempt < 1000; attempt++)
      await expect(desk.request(stranger)).rejects.toMatchObject({ code: 'forbidden' })
    await counted.flush(true)
    expect(state.steps).toEqual(['audit token.refused denied', 'audit token.refused denied'])
    const [last] = await store.audit.list({ limit: 1 })
    expect(last).toMatchObject({ action: 'token.refused', details: { check: 'NotASubject', count: 999 } })
    state.steps.length = 0
    const gone = createTokenDesk({ ...deps, cached: { ...deps.cached, grants: { get: () => undefined } } })
    state.grant = undefined
    for (let name = 0; name < 1000; name++) {
      const grant = { metadata: { namespace: 'acme', name: `grant-${name}`, uid: `${name}` } }
      await expect(gone.request({ ...request, grant })).rejects.toMatchObject({ reason: 'GrantNotFound' })
    }
    await counted.flush(true)
    expect(state.steps).toHaveLength(22)
  })

  test('the API server decides where the caches are behind', async () => {
    const { state, desk, request, grant } = environment()
    state.cachedGrant = { ...grant, status: { ...grant.status, decision: 'Denied' } as NonNullable<RepositoryGrant['status']> }
    await desk.request(request)
    expect(state.minted).toHaveLength(1)
    state.cachedGrant = grant
    state.grant = { ...grant, metadata: { ...grant.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
    await expect(desk.request(request)).rejects.toMatchObject({ reason: 'GrantEnding' })
    await expect(desk.request({ ...request, subject: { ...runner, uid: 'second' } })).rejects.toMatchObject({
      reason: 'GrantEnding',
    })
    expect(state.minted).toHaveLength(1)
    expect(state.revoked).toEqual(state.minted)
  })

  test('never delivers by an older grant of the caches', async () => {
    const { state, desk, request, grant } = environment()
    const status = { ...grant.status, repositories: [{ id: 4002, name: 'acme/other' }] } as NonNullable<RepositoryGrant['status']>
    state.cachedGrant = grant
    state.grant = { ...grant, status }
    await expect(desk.request(request)).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: 1 })
    expect(state.minted).toEqual([])
  })

  test('a token under a grant that was not checked for hours has it checked soon', async () => {
    const { state, desk, request, grant } = environment()
    state.grant = {
      ...grant,
      status: { ...grant.status, checkedAt: '2025-01-01T00:00:00Z' } as NonNullable<RepositoryGrant['status']>,
    }
    await desk.request(request)
    await desk.request(request)
    expect(state.steps.filter(step => step.startsWith('wake'))).toEqual([`wake ${grant.metadata.name}`])
  })

  test('how long GitHub asks to wait reaches whoever asks', async () => {
    const { state, desk, request } = environment()
    state.mintFails = new AppError('too_many_requests', 'secondary rate limit', { reason: 'RateLimited', retryAfterSeconds: 137 })
    await expect(desk.request(request)).rejects.toMatchObject({ code: 'too_many_requests', retryAfterSeconds: 137 })
  })

  test('refuses above the quota of the tenant, and allows again when the hour is over', async () => {
    const { state, desk, request } = environment()
    state.tokensPerHour = 2
    await desk.request(request)
    clock.advance(600)
    await desk.request({ ...request, subject: { ...runner, uid: 'second' } })
    const third = { ...request, subject: { ...runner, uid: 'third' } }
    // The first of the two leaves the hour then, and not a second before.
    await expect(desk.request(third)).rejects.toMatchObject({ code: 'too_many_requests', retryAfterSeconds: 3000 })
    clock.advance(2999)
    await expect(desk.request(third)).rejects.toMatchObject({ code: 'too_many_requests', retryAfterSeconds: 1 })
    clock.advance(1)
    await desk.request(third)
    expect(state.minted).toHaveLength(3)
  })

  test('of twenty pods over the quota of their tenant each is told when to ask again, and another tenant is not concerned', async () => {
    const [acme, globex] = [environment(), environment()]
    const grant = { ...globex.grant, metadata: { ...globex.grant.metadata, namespace: 'globex' } }
    globex.state.grant = grant
    globex.state.installation = { ...installationObject, metadata: { ...installationObject.metadata, namespace: 'globex' } }
    globex.state.tokensPerHour = 1
    const twenty = Array.from({ length: 20 }, (_none, at) => ({ ...runner, uid: `pod-${at}` }))
    const answers = await Promise.allSettled([
      ...twenty.map(pod => globex.desk.request({ ...globex.request, grant, subject: { ...pod, namespace: 'globex' } })),
      ...twenty.map(subject => acme.desk.request({ ...acme.request, subject })),
    ])
    const refused = answers.filter(answer => answer.status === 'rejected')
    expect(refused.map(({ reason }) => reason)).toEqual(
      Array.from({ length: 19 }, () => expect.objectContaining({ code: 'too_many_requests', retryAfterSeconds: 3600 })),
    )
    expect([globex.state.minted.length, acme.state.minted.length]).toEqual([1, 20])
  })

  test('while nobody signs as the App, live tokens go on until their end, nothing new is intended, and no quota is used', async () => {
    const { state, desk, request } = environment()
    await desk.request(request)
    state.tokensPerHour = 2
    state.mintRefused = new AppError('unavailable', 'the signer of the GitHub App cannot be reached', { retryAfterSeconds: 7 })
    const other = { ...request, subject: { ...runner, uid: 'second' } }
    for (let asked = 0; asked < 5; asked++)
      await expect(desk.request(other)).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: 7 })
    expect((await desk.request(request)).token.reveal()).toBe(state.minted[0])
    clock.advance(901)
    await expect(desk.request(request)).rejects.toMatchObject({ code: 'unavailable' })
    expect(state.steps.filter(step => step.startsWith('audit token.intended'))).toHaveLength(1)
    state.mintRefused = undefined
    await desk.request(other)
  })

  test('a tenant without any tokens is told to ask again in an hour', async () => {
    const { state, desk, request } = environment()
    state.tokensPerHour = 0
    await expect(desk.request(request)).rejects.toMatchObject({ reason: 'QuotaExceeded', retryAfterSeconds: 3600 })
  })

  type State = ReturnType<typeof environment>['state']
  test.each([
    [
      'the grant was deleted',
      (state: State) => {
        state.grant = undefined
      },
    ],
    [
      'the Installation stopped being ready',
      (state: State) => {
        state.installation = { ...installationObject, status: { conditions: [ready('False')] } }
      },
    ],
  ])('delivers nothing when, during the mint, %s', async (_case, change) => {
    const { state, desk, request } = environment()
    state.duringMint = async () => change(state)
    await expect(desk.request(request)).rejects.toMatchObject({ code: 'forbidden' })
    expect(state.revoked).toEqual(state.minted)
  })

  test.each<[string, Halt['spec']['target']]>([
    ['everything', { type: 'Everything' }],
    ['the repository', { type: 'Repository', repository: { host, id: 4001 } }],
    ['the person', { type: 'Person', person: { host, id: 1002 } }],
    ['the installation', { type: 'Installation', installation: { host, id: 77 } }],
  ])('delivers no token that is minted while somebody halts %s, and no other one until it is lifted', async (_case, target) => {
    const { state, desk, request } = environment()
    state.duringMint = async () => void state.halts.push(haltObject(target))
    const refusal = { code: 'forbidden', reason: 'Halted', message: expect.stringContaining('Halt sekisho-system/stop') }
    await expect(desk.request(request)).rejects.toMatchObject(refusal)
    expect([state.minted.length, state.revoked]).toEqual([1, state.minted])
    await expect(desk.request(request)).rejects.toMatchObject(refusal)
    expect(state.minted).toHaveLength(1)
    state.duringMint = async () => {}
    state.halts = []
    await desk.request(request)
    expect(state.minted).toHaveLength(2)
  })

  test('a Halt of one subject takes nothing from another one under the same grant', async () => {
    const { state, desk, request, grant } = environment()
    const sync = { kind: 'RemoteSync', namespace: 'acme', name: 'shop', uid: 'shop-uid' }
    await desk.request(request)
    await desk.request({ ...request, subject: sync })
    const subject = { namespace: 'acme', grant: grant.metadata.name, kind: 'ServiceAccount', name: 'runner' }
    state.halts = [haltObject({ type: 'Token', token: { hash: 'x' } }, { status: { subject } })]
    await expect(desk.request(request)).rejects.toMatchObject({ reason: 'Halted' })
    await desk.request({ ...request, subject: sync })
    expect(state.revoked).toEqual([state.minted[0]])
  })

  test('revokes every token of a grant and delivers none of them again', async () => {
    const { state, desk, request } = environment()
    await desk.request(request)
    await desk.request({ ...request, subject: { ...runner, uid: 'second' } })
    expect(await desk.revokeBy({ grantUid: request.grant.metadata.uid ?? '' }, 'the grant was deleted')).toBe(2)
    expect(state.revoked.sort()).toEqual(state.minted.sort())
    expect(await desk.revokeBy({ grantUid: request.grant.metadata.uid ?? '' }, 'again')).toBe(0)
    await desk.request(request)
    expect(state.minted).toHaveLength(3)
  })

  test('retries a token that GitHub did not revoke, and delivers it to nobody meanwhile', async () => {
    const { state, deps, desk, request } = environment()
    await desk.request(request)
    state.revokeFails = true
    const filter = { grantUid: request.grant.metadata.uid ?? '' }
    await expect(desk.revokeBy(filter, 'the grant was deleted')).rejects.toMatchObject({ code: 'unavailable' })
    expect(await store.tokens.liveBy(filter)).toHaveLength(1)
    state.revokeFails = false
    clock.advance(20)
    await sweepOnce(deps)
    expect(state.revoked).toEqual(state.minted)
    expect(await store.tokens.liveBy(filter)).toEqual([])
  })

  test('records an outcome for an intent whose process ended', async () => {
    const { deps, request } = environment()
    const id = await store.tokens.intend({
      cacheKey: 'orphan',
      installation: { host, appId: 5001, installationId: 77 },
      api: 'http://x',
      grantUid: request.grant.metadata.uid ?? '',
      grantName: request.grant.metadata.name,
      subject: runner,
      repositoryIds: [4001],
      permissions: { contents: 'read' },
    })
    clock.advance(301)
    await sweepOnce(deps)
    const [entry] = await store.audit.list({ limit: 1 })
    expect(entry).toMatchObject({ action: 'token.refused', outcome: 'failed', details: { token: id } })
    expect(await store.tokens.orphans(clock.now())).toEqual([])
  })

  test('a leader that is deposed during its sweep leaves the rest to the next', async () => {
    const { deps, request } = environment()
    const orphan = (): Promise<string> =>
      store.tokens.intend({
        cacheKey: 'orphan',
        installation: { host, appId: 5001, installationId: 77 },
        api: 'http://x',
        grantUid: request.grant.metadata.uid ?? '',
        grantName: request.grant.metadata.name,
        subject: runner,
        repositoryIds: [4001],
        permissions: { contents: 'read' },
      })
    await Promise.all([orphan(), orphan()])
    clock.advance(301)
    let rounds = 0
    await sweepOnce(deps, () => {
      rounds += 1
      return rounds === 1
    })
    expect(await store.tokens.orphans(clock.now())).toHaveLength(1)
    await sweepOnce(deps)
    expect(await store.tokens.orphans(clock.now())).toEqual([])
  })

  test('audits why GitHub refused, and leaves no intent open', async () => {
    const { state, desk, request } = environment()
    state.mintFails = new AppError('too_many_requests', 'GitHub answered 429', { retryAfterSeconds: 30 })
    await expect(desk.request(request)).rejects.toMatchObject({ retryAfterSeconds: 30 })
    expect(state.steps.at(-1)).toBe('audit token.refused failed')
    clock.advance(301)
    expect(await store.tokens.orphans(clock.now())).toEqual([])
  })

  test('never writes a token into the audit log, and the log verifies', async () => {
    const entries = await store.audit.list({ limit: 1000 })
    expect(entries.length).toBeGreaterThan(20)
    expect(JSON.stringify(entries)).not.toMatch(/gh[a-z]_\w/)
    expect(await verifyLog(store.audit)).toMatchObject({ ok: true })
  })
})
