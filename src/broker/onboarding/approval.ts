// Onboardings that wait until an owner approves the installation. GitHub names the account only when an owner installs, by a webhook that names
// the requester. That webhook proves nothing: the requester has to prove the binding like anybody else, and is refused unless an owner.
import { isAppError } from '../../lib/errors.ts'
import type { SignedInPerson } from '../sessions.ts'
import type { OnboardingRecord } from './onboarding-records.ts'
import { beginOnboarding } from './onboarding-requests.ts'
import type { OnboardingDeps } from './prove-binding.ts'

/** Stands for an account that is not known yet: GitHub's ids begin at 1. */
const unknownAccountId = 0

/** Remembers that an owner was asked. Without a proof nothing can be created from it. */
export async function waitForApproval(deps: OnboardingDeps, person: SignedInPerson): Promise<void> {
  const { name, endpoints } = deps.github.app()
  const { host } = endpoints
  const intent = {
    app: name,
    account: { host, id: unknownAccountId, login: 'unknown', type: 'Organization' as const },
    boundBy: { id: person.userId, login: person.login },
    teams: [],
    confirmed: false,
  }
  const state = 'waiting-for-approval'
  await deps.onboardings.begin({ host, accountId: unknownAccountId, userId: person.userId, intent, state })
}

export type ApprovalEvent = { readonly host: string; readonly requesterId: number; readonly installationId: number }

/** Called for `installation.created`: proves every waiting onboarding of the requester. Owners go on to confirm, all others are refused. */
export async function resumeWaiting(deps: OnboardingDeps, { host, requesterId, installationId }: ApprovalEvent): Promise<void> {
  const waiting = (await deps.onboardings.unfinished()).filter(
    onboarding => onboarding.state === 'waiting-for-approval' && onboarding.host === host && onboarding.userId === requesterId,
  )
  for (const onboarding of waiting) await resume(deps, onboarding, installationId)
}

async function resume(
  deps: OnboardingDeps,
  { id, host, userId, intent }: OnboardingRecord,
  installationId: number,
): Promise<void> {
  try {
    await beginOnboarding(deps, { host, userId, login: intent.boundBy.login }, installationId)
  } catch (error) {
    // A refusal or an ended sign-in is final. Anything else is thrown, so that the delivery is retried.
    if (!isAppError(error, 'forbidden') && !isAppError(error, 'unauthenticated')) throw error
    deps.log.info({ onboarding: id, code: error.code }, 'waiting onboarding ended without proof')
  }
  await deps.onboardings.advance(id, 'abandoned')
}
