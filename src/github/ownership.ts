// What a person is in an organisation, both known by their ids, although GitHub answers about memberships by logins only. A
// login may pass to another account between two requests: an answer that says no counts only when both logins are the same
// before and after it.
import { AppError } from '../lib/errors.ts'
import { sameJson } from '../lib/json/same-json.ts'
import type { OrganizationClient } from './clients/organization-membership.ts'

/** The present logins; undefined for what is not on GitHub any more. */
export type Names = { readonly organization: string | undefined; readonly person: string | undefined }

type Ids = { readonly organization: number; readonly person: number }

type Reader = {
  /** Reads the login of the person, and that of the organisation where it is not given. */
  readonly names: (organization: string | undefined) => Promise<Names>
  readonly membership: OrganizationClient['membership']
}

/** What somebody is who does not own the organisation. */
export const notOwner = {
  gone: 'is no longer on GitHub and cannot own',
  stranger: 'is no longer a member of',
  member: 'is no longer an owner of',
} as const

export type Ownership = 'owner' | keyof typeof notOwner

const maxTries = 3

/**
 * `login`: the last known one of the organisation.
 * @throws AppError `unavailable` when accounts are renamed faster than GitHub is asked: nothing was learned
 */
export async function ownership({ names, membership }: Reader, ids: Ids, login: string): Promise<Ownership> {
  let asked = await names(login)
  for (let tries = 0; tries < maxTries; tries++) {
    const role = await roleOf(membership, asked, ids)
    if (role !== undefined) return role
    const present = await names(undefined)
    if (sameJson(present, asked)) return present.person === undefined ? 'gone' : 'stranger'
    asked = present
  }
  throw new AppError(
    'unavailable',
    `the logins of organisation ${ids.organization} and person ${ids.person} change while they are checked`,
  )
}

/** Undefined where GitHub knows no membership of these two under these logins. Who is only invited is no member. */
async function roleOf(
  membership: Reader['membership'],
  { organization, person }: Names,
  ids: Ids,
): Promise<Exclude<Ownership, 'gone'> | undefined> {
  if (organization === undefined || person === undefined) return undefined
  const found = await membership(organization, person)
  if (found?.organizationId !== ids.organization || found.userId !== ids.person) return undefined
  if (found.state !== 'active') return 'stranger'
  return found.role === 'admin' ? 'owner' : 'member'
}
