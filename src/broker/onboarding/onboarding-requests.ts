// What a person requests of an onboarding: to begin it, to see it, to confirm it, to withdraw it. Nothing is created in the
// cluster before the person has seen the roles and confirmed; the proof is then made once more, and the audit log has the
// record first.
import type { AuditRecord } from '../../api/audit/audit-event.ts'
import { userSubject } from '../../api/names.ts'
import type { UserClient } from '../../github/index.ts'
import { AppError, isAppError } from '../../lib/errors.ts'
import type { SignedInPerson } from '../sessions.ts'
import { answeredRequests, type Bound } from './approval/answered-requests.ts'
import type { Candidate } from './candidates.ts'
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
  if (onboarding.state === 'proved') return provedRecord(onboarding)
  throw new AppError('not_found', 'this onboarding does not wait for confirmation: begin again at /onboard')
}

/**
 * Proves again, checks the chosen teams against GitHub, and confirms. Resolves to `waiting-for-admin` when a platform admin has
 * to approve the account first. Rejects with `invalid_request` for a team of another organisation, and with `conflict` when
 * such a request waits already.
 */
export async function confirmOnboarding(
  deps: OnboardingDeps,
  person: SignedInPerson,
  record: OnboardingRecord,
  teamIds: readonly number[],
): Promise<'confirmed' | 'waiting-for-admin'> {
  const { accountId, installationId } = record
  if (installationId === undefined)
    throw new AppError('conflict', 'an owner has to approve the installation on GitHub before you can confirm')
  const { client, intent } = await proveBinding(deps, person, installationId)
  if (intent.account.id !== accountId)
    throw new AppError('conflict', 'the installation moved to another account: begin again at /onboard')
  const teams = await chosenTeams(client, intent.account, teamIds)
  const state = deps.mayOnboard(intent.account) ? 'confirmed' : 'waiting-for-admin'
  if (state === 'waiting-for-admin') await requireNoneWaits(deps, person, accountId)
  await deps.audit.append(confirmationRecord(record, intent.account, state))
  const confirmedAt = deps.clock.now().toISOString()
  await deps.onboardings.move(record, state, { intent: { ...intent, teams, confirmedAt } })
  return state
}

async function requireNoneWaits(
  { onboardings }: OnboardingDeps,
  { host, userId }: SignedInPerson,
  accountId: number,
): Promise<void> {
  const own = await onboardings.ofPerson(host, userId)
  if (own.some(({ state, accountId: other }) => state === 'waiting-for-admin' && other === accountId))
    throw new AppError('conflict', 'your request for this account waits for a platform admin already: see /onboard')
}

function confirmationRecord(
  { id, installationId, userId }: OnboardingRecord,
  account: Account,
  state: 'confirmed' | 'waiting-for-admin',
): AuditRecord {
  return {
    action: 'onboarding.confirmed',
    actor: userSubject(account.host, userId),
    object: `GitHubInstallation/${installationId ?? 0}`,
    outcome: 'allowed',
    reason: state === 'confirmed' ? 'the account may be onboarded' : 'waits for a platform admin: the account is not listed',
    details: { onboarding: id, host: account.host, accountId: account.id, accountLogin: account.login },
  }
}

/**
 * Ends a waiting onboarding of this person. Rejects with `not_found` for another person's, with `conflict` when it does not
 * wait any more.
 */
export async function withdrawOnboarding(deps: OnboardingDeps, person: SignedInPerson, id: string): Promise<void> {
  const record = await ownOnboarding(deps, person, id)
  if (!isWaiting(record)) throw new AppError('conflict', `this onboarding does not wait any more: it is ${record.state}`)
  await deps.onboardings.move(record, 'abandoned')
}

/** Ends what was confirmed for the account and is not carried out yet. Idempotent. */
export async function endConfirmed(deps: Records, account: Pick<Account, 'host' | 'id'>, why: string): Promise<void> {
  const confirmed = (await deps.onboardings.active()).filter(
    ({ host, accountId, state }) => host === account.host && accountId === account.id && state !== 'installation-written',
  )
  await endAll(deps, confirmed, { note: why })
}

/** The onboardings of the person, newest first; requests that are answered end (`answeredRequests`). */
export async function ownOnboardings(
  deps: Records,
  { host, userId }: SignedInPerson,
  facts: { readonly candidates: readonly Candidate[]; readonly bound: readonly Bound[] },
): Promise<readonly OnboardingRecord[]> {
  const own = await deps.onboardings.ofPerson(host, userId)
  const answered = answeredRequests(own, facts.candidates, facts.bound)
  await endAll(deps, answered)
  return own.filter(record => !answered.includes(record))
}

type Records = Pick<OnboardingDeps, 'onboardings'>

async function endAll({ onboardings }: Records, records: readonly OnboardingRecord[], change = {}): Promise<void> {
  for (const record of records)
    await onboardings.move(record, 'abandoned', change).catch((error: unknown) => {
      // Somebody else moved it on meanwhile: what comes of it is found by the next who looks.
      if (!isAppError(error, 'conflict') && !isAppError(error, 'not_found')) throw error
    })
}

/** Whether an onboarding waits for a person: the requester, an owner or a platform admin. */
export function isWaiting({ state }: Pick<OnboardingRecord, 'state'>): boolean {
  return ['waiting-for-approval', 'needs-owner', 'proved', 'waiting-for-admin'].includes(state)
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
