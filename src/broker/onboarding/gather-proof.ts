// Reads from GitHub, as the person, the facts that `prove` decides on. Reads only, and always afresh.
import { githubReasons, type InstallationFacts, type UserDoor } from '../../github/index.ts'
import { AppError, isAppError } from '../../lib/errors.ts'
import type { ProofFacts } from './proof.ts'

export type ProofQuestion = { readonly appId: number; readonly personId: number; readonly installationId: number }

async function membershipIn(door: UserDoor, installation: InstallationFacts | undefined) {
  if (installation?.account.type !== 'Organization') return undefined
  try {
    return await door.organizationMembership(installation.account.login)
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

export async function gatherProof(door: UserDoor, question: ProofQuestion): Promise<ProofFacts> {
  const installations = await door.installations()
  const installation = installations.find(({ id }) => id === question.installationId)
  const membership = await membershipIn(door, installation)
  return { appId: question.appId, personId: question.personId, installation, membership }
}
