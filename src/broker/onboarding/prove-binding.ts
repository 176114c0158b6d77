// Turns a proof into a remembered intent, or a refusal into an audit record. Nothing is made in the cluster before the person has
// looked at the roles and confirmed; then the proof is made once more.
import { userSubject } from '../../api/names.ts'
import type { UserClient } from '../../github/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError, isAppError } from '../../lib/errors.ts'
import type { AuditLog } from '../../store/audit/audit-log.ts'
import type { Onboarding, Onboardings } from '../../store/onboardings.ts'
import type { BrokerGitHub } from '../github.ts'
import type { People } from '../people/people.ts'
import { ceilingOf } from './ceiling.ts'
import { gatherProof } from './gather-proof.ts'
import { type ChosenTeam, intentData, intentOf, type OnboardingIntent } from './intent.ts'
import { type ProofMethod, prove } from './proof.ts'

export type Onboarder = { readonly host: string; readonly userId: number; readonly login: string }

export type BeginDeps = {
  readonly github: BrokerGitHub
  readonly people: People
  readonly onboardings: Onboardings
  readonly audit: AuditLog
  readonly clock: Clock
}

type Proved = { readonly client: UserClient; readonly method: ProofMethod; readonly intent: OnboardingIntent }

/** Throws `forbidden` after the refusal is in the audit log. */
export async function proveBinding(deps: BeginDeps, person: Onboarder, installationId: number): Promise<Proved> {
  const { name, appId, endpoints } = deps.github.app()
  const refuse = async (check: string, message: string): Promise<never> => {
    await deps.audit.append({
      action: 'binding.denied',
      actor: userSubject(person.host, person.userId),
      object: `GitHubInstallation/${installationId}`,
      outcome: 'denied',
      reason: `${check}: ${message}`,
      details: { host: person.host, installationId, check },
    })
    throw new AppError('forbidden', message, { reason: check })
  }
  // An App of another host has other people under the same ids.
  if (person.host !== endpoints.host) return refuse('SameHost', 'you are signed in at another GitHub than this App is on')
  const client = await deps.people.userClient(person.host, person.userId)
  const facts = await gatherProof(client, { appId, personId: person.userId, installationId }).catch((error: unknown) => {
    if (isAppError(error, 'forbidden')) return refuse(error.reason ?? 'Forbidden', error.message)
    throw error
  })
  const outcome = prove(facts)
  if (!outcome.proved) return refuse(outcome.check, outcome.message)
  const { installation, method } = outcome
  const repositories =
    installation.repositorySelection === 'selected' ? await client.installationRepositories(installationId) : []
  const intent: OnboardingIntent = {
    app: name,
    account: { host: endpoints.host, ...installation.account },
    boundBy: { id: person.userId, login: person.login },
    proof: { method, provedAt: deps.clock.now().toISOString() },
    ceiling: ceilingOf(
      installation,
      repositories.map(({ id }) => id),
    ),
    teams: [],
    confirmed: false,
  }
  return { client, method, intent }
}

/** Proves and remembers; the person then confirms. */
export async function beginOnboarding(deps: BeginDeps, person: Onboarder, installationId: number): Promise<Onboarding> {
  const { intent } = await proveBinding(deps, person, installationId)
  const { host, id } = intent.account
  return deps.onboardings.begin({
    host,
    accountId: id,
    installationId,
    userId: person.userId,
    data: intentData(intent),
    state: 'proved',
  })
}

/** The person's own onboarding that still waits for their word; `not_found` for anybody else's. */
export async function openOnboarding(deps: BeginDeps, person: Onboarder, id: string): Promise<Onboarding> {
  const onboarding = await deps.onboardings.find(id)
  const isOpen = onboarding?.state === 'proved' && !intentOf(onboarding).confirmed
  if (onboarding === undefined || !isOpen || onboarding.userId !== person.userId || onboarding.host !== person.host)
    throw new AppError('not_found', 'there is no such onboarding: begin again')
  return onboarding
}

/** Proves again, checks the chosen teams against GitHub, and confirms. Team ids that are not the organisation's are refused. */
export async function confirmOnboarding(
  deps: BeginDeps,
  person: Onboarder,
  onboarding: Onboarding,
  teamIds: readonly number[],
): Promise<Onboarding> {
  const { installationId } = onboarding
  if (installationId === undefined) throw new AppError('conflict', 'this onboarding still waits for an owner')
  const { client, intent } = await proveBinding(deps, person, installationId)
  if (intent.account.id !== onboarding.accountId)
    throw new AppError('conflict', 'the installation moved to another account: begin again')
  const teams = await chosenTeams(client, intent, teamIds)
  const data = intentData({ ...intent, teams, confirmed: true })
  return deps.onboardings.advance(onboarding.id, 'proved', { data })
}

async function chosenTeams(client: UserClient, intent: OnboardingIntent, ids: readonly number[]): Promise<readonly ChosenTeam[]> {
  if (ids.length === 0) return []
  if (intent.account.type !== 'Organization') throw new AppError('invalid_request', 'teams belong to organisations only')
  const known = new Map((await client.organizationTeams(intent.account)).map(team => [team.id, team]))
  return [...new Set(ids)].map(id => {
    const team = known.get(id)
    if (team === undefined)
      throw new AppError('invalid_request', `teams holds ${id}, which is no team of ${intent.account.login}`)
    return { id: team.id, slug: team.slug }
  })
}
