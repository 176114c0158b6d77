// A membership as far as GitHub shows it: an organisation that hides behind single sign-on, or suspended the App, shows none.
// Never an error for those: nobody gains anything from a membership that cannot be read.
import type { OrganizationMembership, UserClient } from '../../github/index.ts'
import { isAppError } from '../../lib/errors.ts'

export async function visibleMembership(client: UserClient, login: string): Promise<OrganizationMembership | undefined> {
  try {
    return await client.organizationMembership(login)
  } catch (error) {
    if (isAppError(error, 'forbidden')) return undefined
    throw error
  }
}
