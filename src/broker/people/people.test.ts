import { describe, expect, test } from 'vitest'
import { groups } from '../../api/names.ts'
import { type Tenant, tenant } from '../../api/tenancy/tenant.ts'
import { githubReasons, type UserClient, type UserTokens } from '../../github/index.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import { AppError } from '../../lib/errors.ts'
import { SecretString } from '../../lib/secret-string.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import type { BrokerGitHub } from '../github.ts'
import { createPeople } from './people.ts'
import { memoryUsers } from './testing/memory-users.ts'

const host = 'github.com'
const subject = 'github|github.com|1'
const owners = [groups.members(host, 7), groups.owners(host, 7)]
const clock = { now: () => new Date('2026-01-01T00:00:00Z'), sleep: async () => {} }

const acme: Tenant = {
  apiVersion: tenant.apiVersion,
  kind: tenant.kind,
  metadata: { name: 'acme' },
  spec: {
    account: { host, id: 7, login: 'acme', type: 'Organization' },
    namespace: 'acme',
    roles: [{ role: 'admin', subject: { type: 'Owners' } }],
  },
}

function tokens(name: string): UserTokens {
  return { accessToken: new SecretString(name), expiresAt: undefined, refreshToken: undefined, refreshTokenExpiresAt: undefined }
}

const nobody = { refuse: () => {} }

type Options = {
  readonly halted?: { readonly refuse: (host: string, userId: number) => void }
  readonly fail?: () => Error | undefined
  readonly tenants?: () => readonly Tenant[]
  readonly admin?: boolean
  readonly auditor?: () => boolean
}

/** GitHub for one owner of acme; `fail` makes the error with which it answers requests about memberships. */
function people(options: Options = {}) {
  const users = memoryUsers()
  const answer =
    <T>(value: T) =>
    async (): Promise<T> => {
      const error = options.fail?.()
      if (error !== undefined) throw error
      return value
    }
  const client = {
    user: async () => ({ id: 1, login: 'olivia' }),
    organizations: answer([{ id: 7, login: 'acme' }]),
    teams: answer([]),
    organizationMembership: answer({ state: 'active', role: 'admin', organizationId: 7, userId: 1 }),
  } as unknown as UserClient
  const github = { userClient: () => client } as unknown as BrokerGitHub
  const tenants = { list: options.tenants ?? (() => [acme]) } as unknown as Cache<Tenant>
  const platformAdmins = { includes: async () => options.admin ?? false }
  const auditReaders = { ofAll: async () => options.auditor?.() ?? false }
  const halted = options.halted ?? nobody
  return {
    users,
    people: createPeople({ users, github, tenants, platformAdmins, auditReaders, halted, clock, log: silentLog }),
  }
}

describe('groups for the pages', () => {
  test('are those that GitHub answers now, else those of its last answer', async () => {
    let error: Error | undefined
    const fixture = people({ fail: () => error })
    await fixture.people.signedIn(host, tokens('t1'))
    expect(await fixture.people.shownGroups(host, 1)).toEqual(owners)
    error = new AppError('unavailable', 'GitHub is away', { reason: githubReasons.unreachable })
    expect(await fixture.people.shownGroups(host, 1)).toEqual(owners)
    await expect(fixture.people.claims(subject)).rejects.toMatchObject({ code: 'unavailable' })
  })

  test('are not shown once GitHub rejects the tokens, whatever was known before', async () => {
    let error: Error | undefined
    const fixture = people({ fail: () => error })
    await fixture.people.signedIn(host, tokens('t1'))
    await fixture.people.shownGroups(host, 1)
    error = new AppError('upstream_failed', 'Bad credentials', { reason: githubReasons.credentialRefused })
    await expect(fixture.people.shownGroups(host, 1)).rejects.toMatchObject({ code: 'unauthenticated' })
    expect(await fixture.people.claims(subject)).toBeUndefined()
    await fixture.users.remove(host, 1)
    await expect(fixture.people.shownGroups(host, 1)).rejects.toMatchObject({ code: 'unauthenticated' })
  })
})

describe('a token', () => {
  const refused = { code: 'forbidden', message: expect.stringMatching(/no role in any tenant.*ask an owner/) }

  test('is for people with a role in a tenant: not before the tenant exists, and not after the role was taken', async () => {
    let tenants: readonly Tenant[] = []
    const fixture = people({ tenants: () => tenants })
    await fixture.people.signedIn(host, tokens('t1'))
    await expect(fixture.people.claims(subject)).rejects.toMatchObject(refused)
    tenants = [acme]
    expect(await fixture.people.claims(subject)).toEqual({ login: 'olivia', groups: owners })
    tenants = [{ ...acme, spec: { ...acme.spec, roles: [{ role: 'admin', subject: { type: 'User', id: 2 } }] } }]
    await expect(fixture.people.claims(subject)).rejects.toMatchObject(refused)
  })

  test('is for nobody who is halted, and neither is a sign-in, of which nothing is stored', async () => {
    let isHalted = false
    const refuse = (): void => {
      if (isHalted) throw new AppError('forbidden', 'you are halted', { reason: 'Halted' })
    }
    const fixture = people({ halted: { refuse } })
    await fixture.people.signedIn(host, tokens('t1'))
    isHalted = true
    await expect(fixture.people.claims(subject)).rejects.toMatchObject({ reason: 'Halted' })
    await expect(fixture.people.signedIn(host, tokens('t2'))).rejects.toMatchObject({ reason: 'Halted' })
    expect((await fixture.users.find(host, 1))?.accessToken.reveal()).toBe('t1')
    isHalted = false
    expect(await fixture.people.claims(subject)).toMatchObject({ login: 'olivia' })
  })

  test('is also for platform admins, who need no tenant', async () => {
    const fixture = people({ tenants: () => [], admin: true })
    await fixture.people.signedIn(host, tokens('t1'))
    expect(await fixture.people.claims(subject)).toEqual({ login: 'olivia', groups: [] })
  })

  test('is also for auditors of the platform, and not while the API server does not say who is one', async () => {
    let away = false
    const auditor = (): boolean => {
      if (away) throw new AppError('unavailable', 'the API server does not answer')
      return true
    }
    const fixture = people({ tenants: () => [], auditor })
    await fixture.people.signedIn(host, tokens('t1'))
    expect(await fixture.people.claims(subject)).toEqual({ login: 'olivia', groups: [] })
    away = true
    await expect(fixture.people.claims(subject)).rejects.toMatchObject({ code: 'unavailable' })
  })
})

test('a sign-in while groups are being stored keeps its own tokens', async () => {
  const { users, people: service } = people()
  await service.signedIn(host, tokens('before'))
  const noted = Promise.withResolvers<void>()
  // Reads the person before the sign-in and writes after it, as the storing of groups does.
  const slow = users.withRefreshLock(host, 1, async () => {
    const known = await users.find(host, 1)
    await noted.promise
    if (known !== undefined) await users.save({ ...known, groups: owners })
  })
  const signIn = service.signedIn(host, tokens('after'))
  // Lets the sign-in get as far as it can.
  await new Promise(resolve => setImmediate(resolve))
  noted.resolve()
  await Promise.all([slow, signIn])
  expect((await users.find(host, 1))?.accessToken.reveal()).toBe('after')
  expect((await users.find(host, 1))?.groups).toEqual(owners)
})
