// People on pages of a tenant, with the groups of their token: remembered for a minute, because such pages are loaded again
// every few seconds, and groups come from GitHub, whose limit is per hour and person.
import { BoundedMap } from '../../../lib/bounded-map.ts'
import { AppError, isAppError } from '../../../lib/errors.ts'
import type { BrokerContext } from '../../context.ts'
import type { Identity } from '../../people/tenant-access.ts'
import type { Person } from '../../sessions.ts'

const groupsMilliseconds = 60_000
const maxPeople = 5000

/** The identity of a person as the API server sees it. Rejects when GitHub does not say it. */
export type Identities = (person: Person) => Promise<Identity>

// Memory (people on pages of a tenant): person → groups of their token
//   life: a minute
//   bound: 5,000, the oldest forgotten first
//   freshness: its end
//   replicas: each; what the groups may do is asked each time
/** A person who left a group is seen in it for a minute at most; what the group may do is asked each time. */
export function createIdentities({ people, clock }: Pick<BrokerContext, 'people' | 'clock'>): Identities {
  const known = new BoundedMap<{ readonly groups: readonly string[]; readonly until: number }>(maxPeople)
  return async ({ subject }) => {
    const now = clock.now().getTime()
    const held = known.get(subject)
    if (held !== undefined && held.until > now) return { subject, groups: held.groups }
    // As for a token, and unlike on other pages: while GitHub does not answer, nobody acts by a membership that may be over.
    const claims = await people.claims(subject)
    if (claims === undefined) throw new AppError('unauthenticated', 'your GitHub sign-in has ended: sign in again')
    known.set(subject, { groups: claims.groups, until: now + groupsMilliseconds })
    return { subject, groups: claims.groups }
  }
}

/** Whether the person is known and not halted, and has no role in any tenant. */
export function hasNoRole(error: unknown): error is AppError {
  return isAppError(error, 'forbidden') && error.reason === 'NoRole'
}

/** The groups of somebody without a role in any tenant. Throws every other error. */
export function noGroups(error: unknown): { readonly groups: readonly string[] } {
  if (hasNoRole(error)) return { groups: [] }
  throw error
}

/** Whoever has no role in a tenant is asked about by the user name: RBAC may have given rights to it, as to a platform admin. */
export function orByName(identityOf: Identities): Identities {
  return async person => ({ subject: person.subject, ...(await identityOf(person).catch(noGroups)) })
}
