// Onboardings that wait for an owner's approval of the installation. GitHub says of which account only when an owner installs, by a webhook
// that names who asked. That webhook proves nothing: who asked is proved like anybody else, and who is no owner is refused.
import { isAppError } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { Onboarding } from '../../store/onboardings.ts'
import { intentData, intentOf } from './intent.ts'
import { type BeginDeps, beginOnboarding, type Onboarder } from './prove-binding.ts'

/** Not known yet; GitHub's ids begin at 1. */
const unknownAccountId = 0

/** Remembers that an owner was asked. No proof yet, so nothing can be made from it. */
export async function waitForApproval(deps: BeginDeps, person: Onboarder): Promise<Onboarding> {
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
  return deps.onboardings.begin({ host, accountId: unknownAccountId, userId: person.userId, data: intentData(intent), state })
}

export type ApprovalEvent = { readonly host: string; readonly requesterId: number; readonly installationId: number }

/** Called for `installation.created`. Who waits is proved: an owner goes on to confirm, everybody else is refused. */
export async function resumeWaiting(deps: BeginDeps & { readonly log: Log }, event: ApprovalEvent): Promise<number> {
  const waiting = (await deps.onboardings.unfinished()).filter(
    ({ state, host, userId }) => state === 'waiting-for-approval' && host === event.host && userId === event.requesterId,
  )
  for (const onboarding of waiting) await resumeOne(deps, onboarding, event.installationId)
  return waiting.length
}

async function resumeOne(deps: BeginDeps & { readonly log: Log }, onboarding: Onboarding, installationId: number): Promise<void> {
  const { boundBy } = intentOf(onboarding)
  try {
    await beginOnboarding(deps, { host: onboarding.host, userId: onboarding.userId, login: boundBy.login }, installationId)
  } catch (error) {
    // Refused or signed out: over. Anything else is thrown, so that the delivery is tried again.
    if (!isAppError(error, 'forbidden') && !isAppError(error, 'unauthenticated')) throw error
    deps.log.info({ onboarding: onboarding.id, code: error.code }, 'waiting onboarding ended without proof')
  }
  await deps.onboardings.advance(onboarding.id, 'abandoned')
}
