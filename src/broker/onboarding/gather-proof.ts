// Reads from GitHub, as the person, the facts that `prove` decides on. Reads only, and always afresh.
import { githubReasons, type InstallationFacts, type UserClient } from '../../github/index.ts'
import { AppError, isAppError } from '../../lib/errors.ts'
import type { ProofFacts } from './proof.ts'

export type ProofQuestion = { readonly appId: number; readonly personId: number; readonly installationId: number }

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

export async function gatherProof(client: UserClient, question: ProofQuestion): Promise<ProofFacts> {
  const installations = await client.installations()
  const installation = installations.find(({ id }) => id === question.installationId)
  const membership = await membershipIn(client, installation)
  return { appId: question.appId, personId: question.personId, installation, membership }
}
