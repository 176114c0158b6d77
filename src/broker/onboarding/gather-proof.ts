// Reads from GitHub, as the person, the facts that `prove` decides on. It must never answer from memory.
import { githubReasons, type InstallationFacts, type UserClient } from '../../github/index.ts'
import { AppError, isAppError } from '../../lib/errors.ts'
import type { ProofFacts } from './proof.ts'

export type ProofRequest = { readonly appId: number; readonly personId: number; readonly installationId: number }

async function membershipIn(client: UserClient, installation: InstallationFacts | undefined) {
  if (installation?.account.type !== 'Organization') return undefined
  try {
    return await client.organizationMembership(installation.account.login)
  } catch (error) {
    if (isAppError(error) && error.reason === githubReasons.singleSignOnNeeded)
      throw new AppError(
        'forbidden',
        `${installation.account.login} uses single sign-on: open it on GitHub, sign in there, and try again`,
        { reason: 'SingleSignOnNeeded' },
      )
    if (isAppError(error, 'forbidden')) return undefined
    throw error
  }
}

/**
 * Rejects with `forbidden` and the cure when single sign-on hides the organisation; a membership that GitHub does not show is
 * undefined.
 */
export async function gatherProof(client: UserClient, request: ProofRequest): Promise<ProofFacts> {
  const installations = await client.installations()
  const installation = installations.find(({ id }) => id === request.installationId)
  const membership = await membershipIn(client, installation)
  return { appId: request.appId, personId: request.personId, installation, membership }
}
