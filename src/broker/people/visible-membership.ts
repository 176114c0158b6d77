// A membership as far as GitHub shows it: an organisation that hides behind single sign-on, or suspended the App, shows none.
// Never an error for those: nobody gains anything from a membership that cannot be read.
import type { OrganizationMembership, UserDoor } from '../../github/index.ts'
import { isAppError } from '../../lib/errors.ts'

export async function visibleMembership(door: UserDoor, login: string): Promise<OrganizationMembership | undefined> {
  try {
    return await door.organizationMembership(login)
  } catch (error) {
    if (isAppError(error, 'forbidden')) return undefined
    throw error
  }
}
