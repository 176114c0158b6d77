// People as the rest of the broker sees them: identity and groups, read from GitHub at that moment. The one place that turns a
// subject into groups. The groups of a token are never answered from memory; the last answer is kept for display only. A person
// without any role gets no token.
import { parseUserSubject, userSubject } from '../../api/names.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import { githubReasons, type RepositoryClient, type UserClient, type UserTokens } from '../../github/index.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError, isAppError } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { StoredUser, Users } from '../../store/users.ts'
import type { AuditReaders } from '../auditors/audit-readers.ts'
import type { BrokerGitHub } from '../github.ts'
import { boundGroups, groupsOf } from './groups.ts'
import type { HaltedPeople } from './halted-people.ts'
import type { PlatformAdmins } from './platform-admins.ts'
import { readMemberships } from './read-memberships.ts'
import { heldTenants, type Identity } from './tenant-access.ts'
import { freshUserToken, tokenFields } from './user-tokens.ts'

export type PeopleDeps = {
  readonly users: Users
  readonly github: BrokerGitHub
  readonly tenants: Cache<Tenant>
  readonly platformAdmins: PlatformAdmins
  readonly auditReaders: Pick<AuditReaders, 'ofAll'>
  readonly halted: Pick<HaltedPeople, 'refuse'>
  readonly clock: Clock
  readonly log: Log
}

export type PersonClaims = { readonly login: string; readonly groups: readonly string[] }

export type People = {
  /** Whether the person has signed in here before. */
  readonly exists: (subject: string) => Promise<boolean>
  /**
   * For tokens. Undefined when the person has to sign in again. Rejects with `forbidden` and the cure for a person without a
   * role in a tenant or on the platform (admin, auditor), and when GitHub or the API server does not answer.
   */
  readonly claims: (subject: string) => Promise<PersonClaims | undefined>
  /**
   * For pages: the groups by GitHub, or by its last answer during an outage. Rejects with `unauthenticated` when they have to
   * sign in again.
   */
  readonly shownGroups: (host: string, userId: number) => Promise<readonly string[]>
  /**
   * Stores the tokens of a sign-in. Resolves to the person that GitHub names for them. Rejects with `forbidden` for one who is
   * halted, and stores nothing.
   */
  readonly signedIn: (host: string, tokens: UserTokens) => Promise<{ readonly userId: number; readonly login: string }>
  /** The client to GitHub as that person. Rejects with `unauthenticated` when they have to sign in again. */
  readonly userClient: (host: string, userId: number) => Promise<UserClient>
  /** The same for repositories. */
  readonly repositoryClient: (host: string, userId: number) => Promise<RepositoryClient>
}

const noRole = () =>
  new AppError(
    'forbidden',
    'you have no role in any tenant of this platform: ask an owner of your GitHub organisation to onboard it or to give your team a role',
    { reason: 'NoRole' },
  )

/** GitHub rejects the person's tokens. Unlike during an outage, earlier answers must not be used. */
function signInIsOver(error: unknown): boolean {
  return isAppError(error, 'unauthenticated') || (isAppError(error) && error.reason === githubReasons.credentialRefused)
}

/** The people who signed in: their claims, and clients to GitHub with their tokens, which are refreshed when they expire. */
export function createPeople(deps: PeopleDeps): People {
  const { users, github, tenants, platformAdmins, auditReaders, halted, log } = deps

  const userClient = async (host: string, userId: number): Promise<UserClient> =>
    github.userClient(host, await freshUserToken(deps, host, userId))

  const storedUser = async (subject: string): Promise<StoredUser | undefined> => {
    const person = parseUserSubject(subject)
    return person && users.find(person.host, person.userId)
  }

  const currentGroups = async (host: string, userId: number): Promise<readonly string[]> => {
    const all = tenants.list()
    const facts = await readMemberships(await userClient(host, userId), host, all)
    const groups = groupsOf(facts, boundGroups(all))
    const user = await users.find(host, userId)
    if (user !== undefined && user.groups.join() !== groups.join())
      await users.withRefreshLock(host, userId, async () => {
        const latest = await users.find(host, userId)
        if (latest !== undefined) await users.save({ ...latest, groups })
      })
    return groups
  }

  /** A tenant counts from the moment that its object exists, ready or not. */
  const hasRole = async (identity: Identity): Promise<boolean> =>
    heldTenants(identity, tenants.list()).length > 0 ||
    (await platformAdmins.includes(identity)) ||
    (await auditReaders.ofAll(identity))

  return {
    userClient,
    repositoryClient: async (host, userId) => github.repositoryClient(host, await freshUserToken(deps, host, userId)),
    exists: async subject => (await storedUser(subject)) !== undefined,
    async claims(subject) {
      const person = parseUserSubject(subject)
      if (person !== undefined) halted.refuse(person.host, person.userId)
      const user = await storedUser(subject)
      if (user === undefined) return undefined
      try {
        const groups = await currentGroups(user.host, user.userId)
        if (!(await hasRole({ subject, groups }))) throw noRole()
        return { login: user.login, groups }
      } catch (error) {
        if (!signInIsOver(error)) throw error
        log.info({ subject }, 'GitHub rejected the tokens of a person')
        return undefined
      }
    },
    async shownGroups(host, userId) {
      try {
        return await currentGroups(host, userId)
      } catch (error) {
        if (signInIsOver(error)) throw new AppError('unauthenticated', 'your GitHub sign-in has ended: sign in again')
        if (!isAppError(error)) throw error
        log.info({ subject: userSubject(host, userId), code: error.code }, 'GitHub did not answer: showing the last known groups')
        return (await users.find(host, userId))?.groups ?? []
      }
    },
    async signedIn(host, tokens) {
      const { id: userId, login } = await github.userClient(host, tokens.accessToken).user()
      halted.refuse(host, userId)
      // A refresh, or a change of groups, writes back what it read: under the lock it cannot overwrite these tokens with older
      // ones.
      await users.withRefreshLock(host, userId, async () => {
        const former = await users.find(host, userId)
        await users.save({ host, userId, login, ...tokenFields(tokens), groups: former?.groups ?? [] })
      })
      return { userId, login }
    },
  }
}
