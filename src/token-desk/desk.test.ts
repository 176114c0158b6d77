// The token desk on a real store, with the API server, the audit log and GitHub scripted: the order of its steps and what each failure leaves.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { movableClock, openTestStore } from '../../test/fixtures/databases.ts'
import type { Installation } from '../api/github/installation.ts'
import type { RepositoryGrant } from '../api/github/repository-grant.ts'
import type { MintedToken, MintRequest } from '../github/index.ts'
import type { KubeClient } from '../kube/client/client.ts'
import { AppError } from '../lib/errors.ts'
import { SecretString } from '../lib/secret-string.ts'
import { silentLog } from '../lib/testing/silent-log.ts'
import { verifyLog } from '../store/audit/testing/verify-log.ts'
import type { Store } from '../store/store.ts'
import { createTokenDesk, type TokenDeskDeps } from './desk.ts'
import type { AuditAppend } from './desk-audit.ts'
import { sweepOnce } from './sweep.ts'
import { grantObject, host, installationObject, ready, runner } from './testing/desk-objects.ts'

const clock = movableClock()
let store: Store
beforeAll(async () => {
  store = await openTestStore({ dataFolder: 'memory://' }, clock)
}, 120_000)
afterAll(() => store?.close())

let grantCount = 0
/** The environment of one test: its own grant (so its own cache keys), and everything the desk did, in order. */
function environment() {
  grantCount += 1
  const state = {
    grant: grantObject({ name: `grant-${grantCount}` }) as RepositoryGrant | undefined,
    installation: installationObject as Installation | undefined,
    steps: [] as string[],
    minted: [] as string[],
    revoked: [] as string[],
    answer: (request: MintRequest): Partial<MintedToken> => ({ repositoryIds: [...(request.repositoryIds ?? [])] }),
    mintFails: undefined as Error | undefined,
    revokeFails: false,
    suspended: false,
    auditFails: undefined as string | undefined,
    duringMint: async (): Promise<void> => {},
    tokensPerHour: 600,
  }
  const audit: AuditAppend = {
    async append(record) {
      if (state.auditFails === record.action) throw new AppError('unavailable', 'the audit log is not writable')
      state.steps.push(`audit ${record.action} ${record.outcome}`)
      await store.audit.append(record)
    },
  }
  const github = {
    refusal: () => undefined,
    async mint(request: MintRequest): Promise<MintedToken> {
      state.steps.push('mint')
      await state.duringMint()
      if (state.mintFails) throw state.mintFails
      const text = `ghs_${grantCount}_${state.minted.length}_${'x'.repeat(36)}`
      state.minted.push(text)
      const repositoryIds = [...(request.repositoryIds ?? [])]
      return {
        token: new SecretString(text),
        expiresAt: new Date(clock.now().getTime() + 3_600_000),
        repositoryIds,
        repositories: repositoryIds.map(id => ({ id, fullName: `acme/${id}` })),
        permissions: { ...request.permissions, metadata: 'read' },
        ...state.answer(request),
      }
    },
    async revoke(token: SecretString): Promise<void> {
      if (state.revokeFails) throw new AppError('unavailable', 'GitHub answered 502')
      state.steps.push('revoke')
      state.revoked.push(token.reveal())
    },
  }
  const client = {
    get: async (type: { readonly kind: string }) => (type.kind === 'RepositoryGrant' ? state.grant : state.installation),
  } as unknown as KubeClient
  const deps: TokenDeskDeps = {
    client,
    githubApps: {
      get: async () => ({ client: github as never, endpoints: { host, web: 'http://x', api: 'http://x' }, appId: 5001 }),
    },
    async revokeAtGitHub(_api, token) {
      if (state.suspended) return 'suspended'
      await github.revoke(token)
      return 'revoked'
    },
    isReady: () => !state.suspended,
    tokens: store.tokens,
    audit,
    clock,
    log: silentLog,
    tenantOf: () => ({ spec: { limits: { tokensPerHour: state.tokensPerHour } } }) as never,
  }
  const desk = createTokenDesk(deps)
  const { grant } = state
  if (grant === undefined) throw new Error('no grant')
  const subject = { ...runner }
  return { state, deps, desk, grant, request: { grant, subject, actor: 'system:serviceaccount:acme:runner' } }
}

describe('the token desk', () => {
  beforeEach(() => clock.advance(7200))

  test('takes its steps in the promised order', async () => {
    const { state, desk, request } = environment()
    const answer = await desk.request(request)
    expect(answer).toMatchObject({ repositories: [{ id: 4001, fullName: 'acme/shop' }], permissions: { contents: 'read' }, host })
    expect(answer.token.reveal()).toBe(state.minted[0])
    expect(state.steps).toEqual([
      'audit token.intended allowed',
      'mint',
      'audit token.minted allowed',
      'audit token.delivered allowed',
    ])
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
    clock.advance(3600 - 600)
    await desk.request(request)
    expect(state.minted).toHaveLength(1)
    clock.advance(1)
    await desk.request(request)
    expect(state.minted).toHaveLength(2)
  }, 60_000)

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

  test('refuses above the quota of the tenant, and allows again when the hour is over', async () => {
    const { state, desk, request } = environment()
    state.tokensPerHour = 2
    await desk.request(request)
    await desk.request({ ...request, subject: { ...runner, uid: 'second' } })
    const third = { ...request, subject: { ...runner, uid: 'third' } }
    await expect(desk.request(third)).rejects.toMatchObject({ code: 'too_many_requests', retryAfterSeconds: 60 })
    clock.advance(3601)
    await desk.request(third)
    expect(state.minted).toHaveLength(3)
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
