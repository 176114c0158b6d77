// Whether a person owns the GitHub account of a tenant at this moment. GitHub is asked anew each time, as that person: a
// role in the tenant, or groups that are remembered, count for nothing here. Numeric ids decide; logins are for display
// only.
import type { Tenant } from '../../api/tenancy/tenant.ts'
import type { UserClient } from '../../github/index.ts'
import { AppError } from '../../lib/errors.ts'
import type { People } from '../people/people.ts'
import { activeMemberships } from '../people/read-memberships.ts'
import type { SignedInPerson } from '../sessions.ts'

/** `login` is the present one of the account; `client` reads GitHub as the owner. */
export type PresentOwner = { readonly client: UserClient; readonly login: string }

type Account = Tenant['spec']['account']

/**
 * Rejects with `forbidden` (reason NotOwner) for everybody else, with `unauthenticated` when the person has to sign in again, and
 * as the client when GitHub does not answer.
 */
export async function requirePresentOwner(
  people: Pick<People, 'userClient'>,
  { host, userId }: Pick<SignedInPerson, 'host' | 'userId'>,
  account: Account,
): Promise<PresentOwner> {
  // Ids are unique per host only.
  if (host !== account.host) throw notOwner(account)
  const client = await people.userClient(host, userId)
  if (account.type === 'User') {
    const user = await client.user()
    if (user.id !== account.id || user.id !== userId) throw notOwner(account)
    return { client, login: user.login }
  }
  const owned = (await activeMemberships(client, new Set([account.id]))).find(({ owner }) => owner)
  if (owned === undefined) throw notOwner(account)
  return { client, login: owned.login }
}

function notOwner({ login, type }: Account): AppError {
  const message =
    type === 'User'
      ? `only ${login} may do this`
      : `only present owners of ${login} on GitHub may do this; if it uses single sign-on, sign in to it on GitHub first`
  return new AppError('forbidden', message, { reason: 'NotOwner' })
}
