// Proves that a person may bind an installation: the result is an intent, or a refusal in the audit log. It reads GitHub as
// that person and creates nothing. Called when an onboarding begins and again when the person confirms.
import { userSubject } from '../../api/names.ts'
import type { InstallationFacts, UserClient } from '../../github/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError, isAppError } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { Refusal } from '../../policy/check.ts'
import type { AuditLog } from '../../store/audit/audit-log.ts'
import type { BrokerGitHub } from '../github.ts'
import type { People } from '../people/people.ts'
import type { SignedInPerson } from '../sessions.ts'
import { type Ceiling, ceilingOf } from './ceiling.ts'
import { gatherProof } from './gather-proof.ts'
import type { OnboardingRecords, ProvedIntent } from './onboarding-records.ts'
import { prove } from './proof.ts'

export type OnboardingDeps = {
  readonly github: BrokerGitHub
  readonly people: People
  readonly onboardings: OnboardingRecords
  readonly audit: AuditLog
  /** Why somebody halted this; undefined when nobody did. */
  readonly haltOf: (account: { readonly host: string; readonly id: number }, userId: number) => string | undefined
  /** Whether the account may be onboarded without a platform admin. */
  readonly mayOnboard: (account: { readonly host: string; readonly id: number }) => boolean
  readonly clock: Clock
  readonly log: Log
}

/** `client` is the client to GitHub as the person who gave the proof. */
export type ProvedBinding = { readonly client: UserClient; readonly intent: ProvedIntent }

/** Stops: a person of another GitHub host, where other people have the same ids. */
const otherHost: Refusal = {
  reason: 'SameHost',
  message: 'you are signed in at another GitHub host than the one of this App: sign out, then sign in again',
}

/**
 * Rejects with `forbidden` after the refusal is in the audit log, with `unauthenticated` when the person has to sign in again,
 * and with `conflict` when more repositories are selected than a ceiling can hold.
 */
export async function proveBinding(deps: OnboardingDeps, person: SignedInPerson, installationId: number): Promise<ProvedBinding> {
  const { name, appId, endpoints } = deps.github.app()
  const refuse = (refusal: Refusal) => refuseBinding(deps.audit, person, installationId, refusal)
  if (person.host !== endpoints.host) return refuse(otherHost)
  const client = await deps.people.userClient(person.host, person.userId)
  const facts = await gatherProof(client, { appId, personId: person.userId, installationId }).catch((error: unknown) => {
    if (!isAppError(error, 'forbidden')) throw error
    return refuse({ reason: error.reason ?? 'Forbidden', message: error.message })
  })
  const outcome = prove(facts)
  if (!outcome.proved) return refuse(outcome.refusal)
  const { installation, method } = outcome
  const halted = deps.haltOf({ host: endpoints.host, id: installation.account.id }, person.userId)
  if (halted !== undefined) return refuse({ reason: 'Halted', message: `this account cannot be onboarded now: it is ${halted}` })
  const intent = {
    app: name,
    account: { host: endpoints.host, ...installation.account },
    boundBy: { id: person.userId, login: person.login },
    proof: { method, provedAt: deps.clock.now().toISOString() },
    ceiling: await readCeiling(client, installation),
    teams: [],
  }
  return { client, intent }
}

async function readCeiling(client: UserClient, installation: InstallationFacts): Promise<Ceiling> {
  if (installation.repositorySelection !== 'selected') return ceilingOf(installation, [])
  const repositories = await client.installationRepositories(installation.id)
  return ceilingOf(
    installation,
    repositories.map(({ id }) => id),
  )
}

async function refuseBinding(audit: AuditLog, person: SignedInPerson, installationId: number, refusal: Refusal): Promise<never> {
  const { reason, message } = refusal
  await audit.append({
    action: 'binding.denied',
    actor: userSubject(person.host, person.userId),
    object: `GitHubInstallation/${installationId}`,
    outcome: 'denied',
    reason: `${reason}: ${message}`,
    details: { host: person.host, installationId, check: reason },
  })
  throw new AppError('forbidden', message, { reason })
}
