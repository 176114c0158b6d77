// The Secrets of a grant over a cluster and a desk in memory: what is made, renewed, made again, refused and removed, in which
// order, and what is left when the process ends at any of its writes.
import { describe, expect, test } from 'vitest'
import { type Secret, secrets } from '../../../api/builtin/index.ts'
import type { RepositoryGrant } from '../../../api/github/repository-grant.ts'
import type { ObjectKey, ResourceType } from '../../../api/resource.ts'
import { KubeError } from '../../../kube/client/errors.ts'
import { AppError } from '../../../lib/errors.ts'
import { SecretString } from '../../../lib/secret-string.ts'
import type { TokenRequest } from '../../../services/token-desk/token-desk.ts'
import { type EndingToken, hashedToken } from '../../../store/token-registry.ts'
import { type DeliveryDeps, keepSecrets, removeSecrets } from './keep-secrets.ts'

const minute = 60_000
const name = 'ghtok-sekisho-app-shop.read-shop'

function grant(changes: object = {}): RepositoryGrant {
  return {
    apiVersion: 'github.sekisho.dev/v1alpha1',
    kind: 'RepositoryGrant',
    metadata: { name: 'read-shop', namespace: 'acme', uid: 'uid-g' },
    spec: { delivery: 'Secret', subjects: [{ kind: 'Application', name: 'shop' }], ...changes },
    status: { applications: [{ name: 'shop', uid: 'uid-shop' }] },
  } as unknown as RepositoryGrant
}

type Held = { readonly id: string; readonly token: SecretString; readonly subject: TokenRequest['subject']; until: number }

/** A cluster with Secrets and ServiceAccounts, and a desk whose tokens live fifteen minutes and are reused for ten. */
function world() {
  let now = Date.parse('2026-01-01T12:00:00Z')
  let made = 0
  let writesLeft = Number.POSITIVE_INFINITY
  const found = new Map<string, Secret>()
  const accounts = new Map<string, string>()
  const live: Held[] = []
  const requests: TokenRequest[] = []
  const log: string[] = []
  const refusals: { desk?: AppError; cluster?: KubeError } = {}
  const spend = (what: string): void => {
    if (writesLeft-- <= 0) throw new Error(`the process ended before it could ${what}`)
    log.push(what)
  }
  const deps: DeliveryDeps = {
    clock: { now: () => new Date(now) } as DeliveryDeps['clock'],
    client: {
      async get(type: ResourceType, key: ObjectKey) {
        if (type.kind !== secrets.kind) return accounts.has(key.name) ? { metadata: { uid: accounts.get(key.name) } } : undefined
        return found.get(key.name)
      },
      async apply(_type: ResourceType, object: Secret) {
        if (refusals.cluster) throw refusals.cluster
        const before = found.get(object.metadata.name)
        if (object.metadata.uid !== before?.metadata.uid) throw new KubeError('conflict', { status: 409, reason: 'Conflict' })
        spend(before === undefined ? 'create the Secret' : 'write the Secret')
        const { resourceVersion: _, ...metadata } = object.metadata
        const stored = { ...object, metadata: { ...metadata, uid: before?.metadata.uid ?? `uid-${++made}` } }
        found.set(object.metadata.name, stored)
        return stored
      },
      async delete(_type: ResourceType, key: ObjectKey) {
        spend('delete the Secret')
        found.delete(key.name)
      },
    } as unknown as DeliveryDeps['client'],
    desk: {
      async request(request: TokenRequest) {
        requests.push(request)
        if (refusals.desk) throw refusals.desk
        const { subject } = request
        const reused = live.find(one => one.subject.uid === subject.uid && one.until - 5 * minute > now)
        if (!reused) spend('mint')
        const id = `t${++made}`
        const held = reused ?? { id, token: new SecretString(`ghs_${id}`), subject, until: now + 15 * minute }
        if (!reused) live.push(held)
        const { token, until } = held
        const ends = { expiresAt: new Date(until), renewFrom: new Date(until - 5 * minute) }
        return { ...ends, token, repositories: [{ id: 1, fullName: 'acme/shop' }], permissions: {} }
      },
      async revokeBy({ id }: { readonly id?: string }) {
        spend('revoke')
        const at = live.findIndex(one => one.id === id)
        if (at >= 0) live.splice(at, 1)
        return 1
      },
    } as unknown as DeliveryDeps['desk'],
    tokens: {
      hasLive: async ({ hashedToken: hash }) => live.some(({ token, until }) => hashedToken(token) === hash && until > now),
      liveBy: async () => live.map(one => ({ ...one, ending: undefined })) as unknown as readonly EndingToken[],
    },
  }
  const held = (of = name): string | undefined => {
    const password = found.get(of)?.data?.['password']
    return password === undefined ? undefined : Buffer.from(password, 'base64').toString('utf8')
  }
  return {
    deps,
    found,
    accounts,
    live,
    log,
    requests,
    refusals,
    held,
    pass: (minutes: number) => {
      now += minutes * minute
    },
    endAfter: (writes: number) => {
      writesLeft = writes
    },
    keep: (of = grant()) => keepSecrets(deps, of),
  }
}

describe('a grant that is ready', () => {
  test('has a Secret before a token is made, and then the token of its subject in it', async () => {
    const { keep, held, log, requests, live } = world()
    const { condition, again } = await keep()
    expect(condition).toMatchObject({ status: 'True', reason: 'SecretWritten', message: expect.stringContaining(name) })
    expect(log).toEqual(['create the Secret', 'mint', 'write the Secret'])
    expect(requests).toMatchObject([
      { delivery: 'Secret', subject: { kind: 'Application', namespace: 'acme', name: 'shop', uid: 'uid-shop' } },
    ])
    expect(held()).toBe(live[0]?.token.reveal())
    expect(again).toBeLessThanOrEqual(2 * minute)
  })

  test('writes nothing again while the token is good, and asks for none', async () => {
    const { keep, log, requests, pass } = world()
    await keep()
    pass(9)
    await keep()
    expect([log.length, requests.length]).toEqual([3, 1])
  })

  test('has another token well before the end, while the one of before goes on for who read it', async () => {
    const { keep, held, pass, live, log } = world()
    await keep()
    const before = held()
    pass(11)
    await keep()
    expect(held()).not.toBe(before)
    expect(live.map(({ token }) => token.reveal())).toContain(before)
    expect(log.slice(3)).toEqual(['mint', 'write the Secret'])
  })

  test.each<[string, (it: ReturnType<typeof world>) => void]>([
    ['deleted', it => it.found.delete(name)],
    [
      'changed',
      it => {
        const secret = it.found.get(name)
        if (secret) it.found.set(name, { ...secret, data: { ...secret.data, password: 'eA==', more: 'eA==' } })
      },
    ],
  ])('has another token, and the one of before is revoked, when its Secret was %s', async (_what, happens) => {
    const it = world()
    await it.keep()
    const before = it.held() ?? ''
    happens(it)
    expect((await it.keep()).condition.status).toBe('True')
    expect(it.held()).toMatch(/^ghs_/)
    expect(it.held()).not.toBe(before)
    expect(it.live.map(({ token }) => token.reveal())).toEqual([it.held()])
    expect(it.found.get(name)?.data).not.toHaveProperty('more')
  })

  test('has another token when its own was revoked', async () => {
    const { keep, held, live } = world()
    await keep()
    const before = held()
    live.splice(0)
    await keep()
    expect(held()).not.toBe(before)
    expect(live).toHaveLength(1)
  })

  test('adopts no Secret of that name, and asks for no token for it', async () => {
    const { keep, found, requests } = world()
    const foreign = { apiVersion: 'v1', kind: 'Secret', metadata: { name, uid: 'uid-f' }, data: { password: 'eA==' } }
    found.set(name, foreign)
    expect((await keep()).condition).toMatchObject({
      status: 'False',
      reason: 'NameTaken',
      message: expect.stringContaining('delete'),
    })
    expect(found.get(name)).toEqual(foreign)
    expect(requests).toEqual([])
  })

  test('asks for no token that the cluster does not take', async () => {
    const { keep, refusals, requests } = world()
    refusals.cluster = new KubeError('exceeded quota: secrets', { status: 403, reason: 'Forbidden' })
    expect((await keep()).condition).toMatchObject({ status: 'False', reason: 'RefusedByCluster' })
    expect(requests).toEqual([])
  })

  test('keeps the Secret while GitHub does not answer, and says so', async () => {
    const { keep, held, pass, refusals } = world()
    await keep()
    const before = held()
    pass(11)
    refusals.desk = new AppError('unavailable', 'GitHub does not answer', { retryAfterSeconds: 90 })
    const { condition, again } = await keep()
    expect(condition).toMatchObject({ status: 'False', reason: 'TokenNotIssued', message: expect.stringContaining('GitHub') })
    expect([held(), again]).toEqual([before, 90_000])
  })

  test('loses the Secret at once when the desk refuses', async () => {
    const { keep, found, pass, refusals } = world()
    await keep()
    pass(11)
    refusals.desk = new AppError('forbidden', 'the grant is not approved', { reason: 'GrantNotApproved' })
    expect((await keep()).condition.reason).toBe('TokenNotIssued')
    expect(found.size).toBe(0)
  })

  test('a subject that the desk refuses loses its own Secret, and the other one keeps its token, whatever their order', async () => {
    for (const subjects of [
      ['ci', 'flux'],
      ['flux', 'ci'],
    ]) {
      const { keep, accounts, held, found, refusals } = world()
      const both = grant({ subjects: subjects.map(of => ({ kind: 'ServiceAccount', name: of })) })
      for (const of of subjects) accounts.set(of, `uid-${of}`)
      await keep(both)
      const before = held('ghtok-flux.read-shop')
      found.delete('ghtok-ci.read-shop')
      refusals.desk = new AppError('forbidden', 'halted', { reason: 'Halted' })
      expect((await keep(both)).condition.reason).toBe('TokenNotIssued')
      expect([[...found.keys()], held('ghtok-flux.read-shop')]).toEqual([['ghtok-flux.read-shop'], before])
    }
  })

  test('has a Secret for each subject, and goes on for one when another is gone', async () => {
    const { keep, accounts, held, found, live } = world()
    const both = grant({ subjects: ['ci', 'flux'].map(of => ({ kind: 'ServiceAccount', name: of })) })
    accounts.set('flux', 'uid-flux')
    expect((await keep(both)).condition).toMatchObject({ reason: 'SubjectNotFound', message: expect.stringContaining('ci') })
    expect(held('ghtok-flux.read-shop')).toBeDefined()
    accounts.set('ci', 'uid-ci')
    expect((await keep(both)).condition.status).toBe('True')
    expect(held('ghtok-ci.read-shop')).not.toBe(held('ghtok-flux.read-shop'))
    accounts.delete('ci')
    await keep(both)
    expect([...found.keys()]).toEqual(['ghtok-flux.read-shop'])
    expect(live.map(({ subject }) => subject.name)).toEqual(['flux'])
  })
})

test.each([0, 1, 2])(
  'a process that ends after %i writes leaves no token that the next run does not use or revoke',
  async writes => {
    const { keep, endAfter, held, live } = world()
    endAfter(writes)
    await expect(keep()).rejects.toThrow('the process ended')
    endAfter(Number.POSITIVE_INFINITY)
    expect((await keep()).condition.status).toBe('True')
    expect(live.map(({ token }) => token.reveal())).toEqual([held()])
  },
)

test('of a grant that ended the Secrets go, and those of others stay', async () => {
  const { deps, keep, found } = world()
  await keep()
  const foreign = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'ghtok-ci.read-shop', uid: 'uid-f' } }
  found.set('ghtok-ci.read-shop', foreign)
  const subjects = [
    { kind: 'Application', name: 'shop' },
    { kind: 'ServiceAccount', name: 'ci' },
  ]
  await removeSecrets(deps, grant({ subjects }))
  expect([...found.values()]).toEqual([foreign])
})
