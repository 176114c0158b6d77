// Reads a membership as far as GitHub shows it. An organisation that requires single sign-on or suspended the App shows none;
// that is not an error, because a membership that cannot be read gives no right.
import type { OrganizationMembership, UserClient } from '../../github/index.ts'
import { isAppError } from '../../lib/errors.ts'

/** Undefined for a membership that GitHub does not show. Rejects when GitHub does not answer. */
export async function visibleMembership(client: UserClient, login: string): Promise<OrganizationMembership | undefined> {
  try {
    return await client.organizationMembership(login)
  } catch (error) {
    if (isAppError(error, 'forbidden')) return undefined
    throw error
  }
}
