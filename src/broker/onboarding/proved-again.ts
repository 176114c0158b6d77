// Proves an onboarding again that was proved some time ago: the person may have lost the organisation since, and the App other
// permissions.
import { AppError } from '../../lib/errors.ts'
import type { OnboardingRecord, ProvedIntent } from './onboarding-records.ts'
import { type OnboardingDeps, proveBinding } from './prove-binding.ts'

/**
 * Rejects as `proveBinding`; with `forbidden` when the installation is on another account by now. Teams that are gone are left
 * out.
 */
export async function provedAgain(
  deps: OnboardingDeps,
  { host, userId, accountId, installationId, intent: known }: OnboardingRecord<ProvedIntent>,
): Promise<ProvedIntent> {
  if (installationId === undefined) throw new AppError('forbidden', 'an owner has to approve the installation on GitHub first')
  const person = { host, userId, login: known.boundBy.login }
  const { client, intent } = await proveBinding(deps, person, installationId)
  if (intent.account.id !== accountId) throw new AppError('forbidden', 'the installation moved to another account: begin again')
  const exist = known.teams.length === 0 ? [] : await client.organizationTeams(intent.account)
  const teams = known.teams.filter(({ id }) => exist.some(team => team.id === id))
  return { ...known, ...intent, teams }
}
