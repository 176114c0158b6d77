// Onboardings of accounts that are not listed: a platform admin approves or refuses them. An approval proves the requester's
// binding again before anything is created, because days may have passed; both decisions are in the audit log before they
// count.
import type { AuditRecord } from '../../../api/audit/audit-event.ts'
import { userSubject } from '../../../api/names.ts'
import { AppError, isAppError } from '../../../lib/errors.ts'
import { type OnboardingRecord, type ProvedIntent, provedRecord } from '../onboarding-records.ts'
import type { OnboardingDeps } from '../prove-binding.ts'
import { provedAgain } from '../proved-again.ts'

type Decision = { readonly id: string; readonly actor: string }

async function waitingRecord(deps: OnboardingDeps, id: string): Promise<OnboardingRecord> {
  const record = await deps.onboardings.find(id)
  if (record === undefined) throw new AppError('not_found', 'there is no such onboarding')
  if (record.state === 'waiting-for-admin') return record
  throw new AppError('conflict', `this onboarding does not wait for a platform admin: it is ${record.state}`)
}

/**
 * The onboarding goes on. Rejects with `not_found`; with `conflict` when it does not wait, when the requester has to sign in
 * again, and when the requester cannot prove the binding any more, which ends it.
 */
export async function approveOnboarding(deps: OnboardingDeps, { id, actor }: Decision): Promise<void> {
  const record = provedRecord(await waitingRecord(deps, id))
  const intent = { ...(await proofForApproval(deps, record)), confirmedAt: deps.clock.now().toISOString() }
  await deps.audit.append(decisionRecord(record, actor, 'approved by a platform admin'))
  await deps.onboardings.move(record, 'confirmed', { intent })
}

async function proofForApproval(
  deps: OnboardingDeps,
  record: OnboardingRecord & { readonly intent: ProvedIntent },
): Promise<ProvedIntent> {
  const { login } = record.intent.boundBy
  try {
    return await provedAgain(deps, record)
  } catch (error) {
    if (isAppError(error, 'unauthenticated'))
      throw new AppError('conflict', `${login} has to sign in on the pages again before this can be approved`)
    if (!isAppError(error, 'forbidden')) throw error
    await deps.onboardings.move(record, 'refused', { note: `it could not be approved: ${error.message}` })
    throw new AppError('conflict', `the onboarding has ended: ${login} cannot prove the binding any more (${error.message})`)
  }
}

/** Ends the onboarding; the requester reads the reason. Rejects with `not_found` and `conflict` as `approveOnboarding`. */
export async function refuseOnboarding(
  deps: OnboardingDeps,
  { id, actor, reason }: Decision & { readonly reason: string | undefined },
): Promise<void> {
  const record = await waitingRecord(deps, id)
  const because = reason === undefined || reason === '' ? '' : `: ${reason}`
  await deps.audit.append({ ...decisionRecord(record, actor, `refused by a platform admin${because}`), outcome: 'denied' })
  await deps.onboardings.move(record, 'refused', { note: `a platform admin refused it${because}` })
}

function decisionRecord({ id, installationId, intent }: OnboardingRecord, actor: string, reason: string): AuditRecord {
  const { account, boundBy } = intent
  return {
    action: 'onboarding.decided',
    actor,
    object: `GitHubInstallation/${installationId ?? 0}`,
    outcome: 'allowed',
    reason,
    details: {
      onboarding: id,
      host: account.host,
      accountId: account.id,
      accountLogin: account.login,
      person: userSubject(account.host, boundBy.id),
    },
  }
}
