// What a person requests of an onboarding: to begin it, to see it, to confirm it. Nothing is created in the cluster before the person has seen
// the roles and confirmed; the proof is then made once more.
import type { UserClient } from '../../github/index.ts'
import { AppError } from '../../lib/errors.ts'
import type { SignedInPerson } from '../sessions.ts'
import { type ChosenTeam, type OnboardingRecord, type ProvedOnboarding, provedRecord } from './onboarding-records.ts'
import { type OnboardingDeps, proveBinding } from './prove-binding.ts'

type Account = OnboardingRecord['intent']['account']

/** Proves and remembers; the person then confirms. Resolves to the id of the onboarding. Rejects as `proveBinding`. */
export async function beginOnboarding(deps: OnboardingDeps, person: SignedInPerson, installationId: number): Promise<string> {
  const { intent } = await proveBinding(deps, person, installationId)
  const { host, id: accountId } = intent.account
  return deps.onboardings.begin({ host, accountId, installationId, userId: person.userId, intent, state: 'proved' })
}

/** An onboarding of this person, whatever its state. Rejects with `not_found` for another person's. */
export async function ownOnboarding(deps: OnboardingDeps, person: SignedInPerson, id: string): Promise<OnboardingRecord> {
  const onboarding = await deps.onboardings.find(id)
  if (onboarding?.userId === person.userId && onboarding.host === person.host) return onboarding
  throw new AppError('not_found', 'there is no such onboarding: begin again at /onboard')
}

/** An onboarding of this person that waits for confirmation. Rejects with `not_found` for any other. */
export async function openOnboarding(deps: OnboardingDeps, person: SignedInPerson, id: string): Promise<ProvedOnboarding> {
  const onboarding = await ownOnboarding(deps, person, id)
  if (onboarding.state === 'proved' && !onboarding.intent.confirmed) return provedRecord(onboarding)
  throw new AppError('not_found', 'this onboarding does not wait for confirmation: begin again at /onboard')
}

/** Proves again, checks the chosen teams against GitHub, and confirms. Rejects with `invalid_request` for a team of another organisation. */
export async function confirmOnboarding(
  deps: OnboardingDeps,
  person: SignedInPerson,
  { id, accountId, installationId }: OnboardingRecord,
  teamIds: readonly number[],
): Promise<void> {
  if (installationId === undefined)
    throw new AppError('conflict', 'an owner has to approve the installation on GitHub before you can confirm')
  const { client, intent } = await proveBinding(deps, person, installationId)
  if (intent.account.id !== accountId)
    throw new AppError('conflict', 'the installation moved to another account: begin again at /onboard')
  const teams = await chosenTeams(client, intent.account, teamIds)
  await deps.onboardings.advance(id, 'proved', { ...intent, teams, confirmed: true })
}

async function chosenTeams(client: UserClient, account: Account, ids: readonly number[]): Promise<readonly ChosenTeam[]> {
  if (ids.length === 0) return []
  if (account.type !== 'Organization') throw new AppError('invalid_request', 'team must be empty: only organisations have teams')
  const known = new Map((await client.organizationTeams(account)).map(team => [team.id, team]))
  return [...new Set(ids)].map(id => {
    const team = known.get(id)
    if (team !== undefined) return { id: team.id, slug: team.slug }
    throw new AppError('invalid_request', `team ${id} is not a team of ${account.login}: reload the page and choose again`)
  })
}
