// The controller of Halts on a real store, with the API server and GitHub scripted: what is revoked and counted, in which order,
// and what a failure leaves.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { movableClock, openTestStore, type TestStore } from '../../../test/fixtures/databases.ts'
import type { Halt } from '../../api/github/halt.ts'
import type { Installation } from '../../api/github/installation.ts'
import type { RepositoryGrant } from '../../api/github/repository-grant.ts'
import { AppError } from '../../lib/errors.ts'
import { SecretString } from '../../lib/secret-string.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import { haltObject } from '../../policy/testing/halt-object.ts'
import { createTokenDesk, type TokenDeskDeps } from '../../services/token-desk/desk.ts'
import { grantObject, host, installationObject, runner } from '../../services/token-desk/testing/desk-objects.ts'
import { dryRunMilliseconds } from './decide.ts'
import { type HaltDeps, reconcileHalt } from './reconcile.ts'

const clock = movableClock()
let store: TestStore
beforeAll(async () => {
  store = await openTestStore({ dataFolder: 'memory://' }, clock)
})
afterAll(() => store?.close())

let count = 0
/** A namespace of its own with a halt, the object as the API server has it, and everything that was done, in order. */
function world(target: Halt['spec']['target'], spec: Partial<Halt['spec']> = {}) {
  count += 1
  const namespace = `t${count}`
  const uid = `halt-${count}`
  const given = haltObject(target, { namespace, spec })
  const object: Halt = {
    ...given,
    metadata: { ...given.metadata, uid, creationTimestamp: clock.now().toISOString(), finalizers: ['sekisho.dev/halt'] },
  }
  const state = {
    object: object as Halt | undefined,
    steps: [] as string[],
    grants: [] as RepositoryGrant[],
    installations: [] as Installation[],
    githubFails: false,
    auditFails: false,
  }
  const revocation = {
    async revokeAtGitHub(_api: string, token: SecretString) {
      if (state.githubFails) throw new AppError('unavailable', 'GitHub answered 502')
      state.steps.push(`revoke ${token.reveal()}`)
      return 'revoked' as const
    },
    isReady: () => false,
  }
  const desk = createTokenDesk({
    ...revocation,
    tokens: store.tokens,
    audit: store.audit,
    clock,
    log: silentLog,
  } as unknown as TokenDeskDeps)
  const deps: HaltDeps = {
    halts: { get: () => state.object },
    grants: { list: () => state.grants },
    installations: {
      get: () => ({ ...installationObject, metadata: { ...installationObject.metadata, namespace } }),
      list: () => state.installations,
    },
    tenants: { get: () => undefined },
    tenantOf: () => undefined,
    tokens: store.tokens,
    desk,
    client: {
      async delete() {
        state.steps.push('delete')
        state.object = undefined
      },
    } as unknown as HaltDeps['client'],
    status: {
      latest: cached => cached,
      async write(written, status) {
        state.steps.push(`status ${status.conditions?.[0]?.reason} left ${status.tokens?.left}`)
        state.object = { ...written, status }
        return state.object
      },
    },
    audit: {
      async appendOnce(record, isThere) {
        if (state.auditFails) throw new AppError('unavailable', 'the audit log is not writable')
        await store.audit.appendOnce(record, isThere)
      },
    },
    clock,
    log: silentLog,
  }
  const mint = async (name: string, change: Partial<Parameters<typeof store.tokens.intend>[0]> = {}): Promise<string> => {
    const id = await store.tokens.intend({
      cacheKey: `${namespace} ${name}`,
      installation: { host, appId: 1, installationId: 77 },
      api: 'http://x',
      grantUid: `${name}-uid`,
      grantName: name,
      subject: { ...runner, namespace },
      repositoryIds: [4001],
      permissions: { contents: 'read' },
      ...change,
    })
    const expiresAt = new Date(clock.now().getTime() + 3_600_000)
    const token = new SecretString(`${namespace}-${name}`)
    await store.tokens.recordMinted(id, { token, expiresAt, repositoryIds: change.repositoryIds ?? [4001], permissions: {} })
    return id
  }
  const run = () => reconcileHalt(deps, { key: { namespace, name: 'stop' } })
  const records = async (action: 'halt.began' | 'halt.lifted') =>
    (await store.audit.list({ namespace, action, limit: 100 })).map(({ actor, reason }) => ({ actor, reason }))
  return { namespace, state, mint, run, records, object }
}

const everything = { type: 'Everything' } as const

describe('a Halt', () => {
  beforeEach(() => clock.advance(7200))

  test('revokes what is live, says so, and records who halted, once', async () => {
    const { namespace, state, mint, run, records } = world(everything)
    await mint('a')
    await mint('b')
    await run()
    expect(state.steps).toEqual([
      'status Revoking left 2',
      ...['a', 'b'].map(name => `revoke ${namespace}-${name}`),
      'status Enforced left 0',
    ])
    expect(state.object?.status).toMatchObject({
      tokens: { revoked: 2, expired: 0, left: 0 },
      answeredAt: clock.now().toISOString(),
    })
    await run()
    expect(state.object?.status?.tokens).toEqual({ revoked: 2, expired: 0, left: 0 })
    expect(await records('halt.began')).toEqual([{ actor: 'github|github.localhost|1', reason: 'a token leaked' }])
  })

  test('goes on until GitHub answers, and says meanwhile what is left', async () => {
    const { state, mint, run } = world(everything)
    await mint('a')
    state.githubFails = true
    expect(await run()).toMatchObject({ kind: 'requeue' })
    expect(state.steps).toEqual(['status Revoking left 1', 'status GitHubUnreachable left 1'])
    state.githubFails = false
    clock.advance(600)
    expect(await run()).toEqual({ kind: 'done' })
    expect(state.object?.status?.tokens).toEqual({ revoked: 1, expired: 0, left: 0 })
  })

  test('counts what expired before GitHub answered', async () => {
    const { state, mint, run } = world(everything)
    await mint('a')
    state.githubFails = true
    await run()
    clock.advance(3600)
    await store.tokens.expire(clock.now())
    await run()
    expect(state.object?.status?.tokens).toEqual({ revoked: 0, expired: 1, left: 0 })
  })

  test('revokes while the audit log of its beginning cannot be written, and records it later', async () => {
    const { namespace, state, mint, run, records } = world(everything)
    await mint('a')
    state.auditFails = true
    await expect(run()).rejects.toMatchObject({ code: 'unavailable' })
    expect(state.steps).toContain(`revoke ${namespace}-a`)
    state.auditFails = false
    await run()
    expect(await records('halt.began')).toHaveLength(1)
  })

  test('of a tenant’s namespace leaves the tokens of others alone', async () => {
    const other = world(everything)
    await other.mint('a')
    const { state, run } = world(everything)
    await run()
    expect(state.steps).toEqual(['status Enforced left 0'])
    expect(await store.tokens.liveBy({ namespace: other.namespace })).toHaveLength(1)
  })

  test.each<[string, (namespace: string) => Halt['spec']['target'], readonly string[]]>([
    ['a grant', namespace => ({ type: 'Grant', grant: { namespace, name: 'a' } }), ['a']],
    ['a grant elsewhere', () => ({ type: 'Grant', grant: { namespace: 'globex', name: 'a' } }), []],
    ['a repository', () => ({ type: 'Repository', repository: { host, id: 4001 } }), ['a']],
    ['an installation', () => ({ type: 'Installation', installation: { host, id: 78 } }), ['b']],
    ['a person', () => ({ type: 'Person', person: { host, id: 1002 } }), ['a']],
  ])('of %s revokes what it is about', async (_what, targetOf, wanted) => {
    const { namespace, state, mint, run } = world(targetOf(`t${count + 1}`))
    await mint('a')
    await mint('b', { repositoryIds: [4002], installation: { host, appId: 1, installationId: 78 } })
    const requested = (name: string, person: number) =>
      grantObject({ name, metadata: { namespace }, spec: { requestedBy: `github|${host}|${person}` } })
    state.grants = [requested('a', 1002), requested('b', 1003)]
    await run()
    expect(state.steps.filter(step => step.startsWith('revoke'))).toEqual(wanted.map(name => `revoke ${namespace}-${name}`))
  })

  test('of an installation and its account revokes what a later installation of that account has', async () => {
    const { account } = installationObject.spec
    const { namespace, state, mint, run } = world({ type: 'Installation', installation: { host, id: 1, account: account.id } })
    const installed = (installationId: number, id: number): Installation => ({
      ...installationObject,
      spec: { ...installationObject.spec, installationId, account: { ...account, host, id } },
    })
    state.installations = [installed(77, account.id), installed(78, account.id + 1)]
    await mint('a')
    await mint('b', { installation: { host, appId: 1, installationId: 78 } })
    await run()
    expect(state.steps.filter(step => step.startsWith('revoke'))).toEqual([`revoke ${namespace}-a`])
  })

  test('of a token finds it by its hash, and says who had it before it is revoked', async () => {
    const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(`t${count + 1}-b`))
    const target = { type: 'Token', token: { hash: Buffer.from(hash).toString('base64') } } as const
    const { namespace, state, mint, run } = world(target)
    await mint('a')
    await mint('b')
    await run()
    expect(state.steps).toEqual(['status Revoking left 1', `revoke ${namespace}-b`, 'status Enforced left 0'])
    const subject = { namespace, grant: 'b', kind: 'ServiceAccount', name: 'runner' }
    expect(state.object?.status).toMatchObject({ subject, tokens: { revoked: 1, left: 0 } })
    // The token is gone by now, and its subject is still known.
    await run()
    expect(state.object?.status).toMatchObject({ subject })
  })

  test('that is lifted is recorded with the person and deleted, and revokes nothing', async () => {
    const { state, mint, run, records } = world(everything, { lifted: { by: 'github|github.localhost|2', reason: 'found' } })
    await mint('a')
    await run()
    expect(state.steps).toEqual(['delete'])
    expect(await records('halt.lifted')).toEqual([{ actor: 'github|github.localhost|2', reason: 'found' }])
  })

  test('whose lifting cannot be recorded stays', async () => {
    const { state, run } = world(everything, { lifted: { by: 'github|github.localhost|2', reason: 'found' } })
    state.auditFails = true
    await expect(run()).rejects.toMatchObject({ code: 'unavailable' })
    expect(state.steps).toEqual([])
  })

  test('as a dry run ends nothing, says what would end, and goes after ten minutes', async () => {
    const { state, mint, run, records } = world(everything, { dryRun: true })
    await mint('a')
    await run()
    await run()
    expect(state.steps).toEqual(['status DryRun left 1', 'status DryRun left 1'])
    clock.advance(dryRunMilliseconds / 1000)
    await run()
    expect(state.steps.at(-1)).toBe('delete')
    expect(await records('halt.began')).toEqual([])
  })
})
