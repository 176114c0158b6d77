// Onboardings that wait until an owner approves the installation. GitHub names the account only when an owner installs, by a
// webhook that names the requester. That webhook proves nothing: the requester has to prove the binding like every other
// person. One who is not an owner, which is the usual case, finds on the page what happened and who has to continue.
import { type AppError, isAppError } from '../../../lib/errors.ts'
import type { SignedInPerson } from '../../sessions.ts'
import type { OnboardingRecord } from '../onboarding-records.ts'
import { beginOnboarding } from '../onboarding-requests.ts'
import type { OnboardingDeps } from '../prove-binding.ts'

/** Stands for an account that is not known yet: GitHub's ids begin at 1. */
const unknownAccountId = 0

/**
 * Remembers that an owner was asked. Without a proof nothing can be created from it. Rejects with `too_many_requests` as
 * `begin`.
 */
export async function waitForApproval(deps: OnboardingDeps, person: SignedInPerson): Promise<void> {
  const { name, endpoints } = deps.github.app()
  const { host } = endpoints
  const intent = {
    app: name,
    account: { host, id: unknownAccountId, login: 'unknown', type: 'Organization' as const },
    boundBy: { id: person.userId, login: person.login },
    teams: [],
  }
  const state = 'waiting-for-approval'
  await deps.onboardings.begin({ host, accountId: unknownAccountId, userId: person.userId, intent, state })
}

export type ApprovalEvent = { readonly host: string; readonly requesterId: number; readonly installationId: number }

/**
 * Called for `installation.created`: proves the binding for the requester's oldest request. An owner can then confirm; for
 * everybody else the record says that an owner has to onboard. Each event answers one request: several organisations may have
 * been asked.
 */
export async function resumeWaiting(deps: OnboardingDeps, { host, requesterId, installationId }: ApprovalEvent): Promise<void> {
  const own = await deps.onboardings.ofPerson(host, requesterId)
  const oldest = own.filter(({ state }) => state === 'waiting-for-approval').at(-1)
  if (oldest !== undefined) await resume(deps, oldest, installationId)
}

async function resume(deps: OnboardingDeps, record: OnboardingRecord, installationId: number): Promise<void> {
  const { id, host, userId, intent } = record
  const answered = { ...intent, approvedInstallationId: installationId }
  try {
    await beginOnboarding(deps, { host, userId, login: intent.boundBy.login }, installationId)
  } catch (error) {
    // Repeating the delivery changes nothing about these. Anything else is thrown, so that it is repeated.
    const isFinal = isAppError(error) && ['forbidden', 'unauthenticated', 'conflict', 'too_many_requests'].includes(error.code)
    if (!isFinal) throw error
    deps.log.info({ onboarding: id, code: error.code }, 'a request was approved on GitHub and the requester has to do something')
    const account = await installedOn(deps, record, installationId)
    const note = `an owner has installed the App${account === undefined ? '' : ` on ${account}`}. ${cureOf(error)}`
    return deps.onboardings.move(record, 'needs-owner', { note, intent: answered })
  }
  await deps.onboardings.move(record, 'abandoned')
}

function cureOf({ code, message }: AppError): string {
  if (code === 'forbidden')
    return 'Only an owner can onboard the organisation: ask one of them to sign in here and to choose it under "Onboard an account".'
  return code === 'unauthenticated' ? 'If you are an owner, choose the account below to continue.' : `To continue: ${message}.`
}

/** The login of the account, if the requester can see it on GitHub. For the text only. */
async function installedOn(
  { people, log }: OnboardingDeps,
  { id, host, userId }: OnboardingRecord,
  installationId: number,
): Promise<string | undefined> {
  try {
    const visible = await (await people.userClient(host, userId)).installations()
    return visible.find(one => one.id === installationId)?.account.login
  } catch (error) {
    if (!isAppError(error)) throw error
    log.info({ onboarding: id, code: error.code }, 'GitHub does not name the account of an installation')
    return undefined
  }
}
