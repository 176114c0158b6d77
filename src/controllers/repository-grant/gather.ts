// What must be known to decide a RepositoryGrant: its Installation from the cache and, when it is due, GitHub's answer. Never
// throws: a failure to find out is a fact, too. GitHub is asked when nothing was decided yet, when a webhook woke the grant,
// when an input of the decision changed, and on a schedule while the grant is approved: a denied grant costs nothing at rest, and
// what policies deny in any case costs nothing at all.
import type { Application } from '../../api/apps/application.ts'
import { isServiceAccountUser } from '../../api/builtin/service-account-user.ts'
import type { GrantApproval } from '../../api/github/grant-approval.ts'
import type { Halt } from '../../api/github/halt.ts'
import type { Installation } from '../../api/github/installation.ts'
import { type RepositoryGrant, repositoryGrantReasons as reasons } from '../../api/github/repository-grant.ts'
import { parseUserSubject } from '../../api/names.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import { findCondition } from '../../kube/object/conditions.ts'
import { defined } from '../../lib/json/defined.ts'
import { type Answers, answersOf } from '../../policy/grants/approvals.ts'
import type { GrantPolicies } from '../../policy/grants/grant-policies.ts'
import { haltOf, ofInstallation } from '../../policy/halt.ts'
import { appOfInstallation, type GitHubApp, type GitHubApps } from '../../services/token-desk/app-clients.ts'
import type { TokenRegistry } from '../../store/token-registry.ts'
import { type Unreachable, unreachable } from '../kit/github-unreachable.ts'
import { wakeOf } from '../kit/repository/observed-wake.ts'
import { applicationProblem, type NamedApplication, namedApplications } from './applications.ts'
import { decisionInputs, type RecheckTimes, spreadOfGrant } from './decision-inputs.ts'
import { departedApprovers, type EndedApproval, endedApprovals } from './policies/departed-approvers.ts'
import { isCurrent, isDecidedUnasked, isDeniedUnasked, neededMemberships } from './policies/known-of-grant.ts'
import type { KnownPolicies } from './policies/known-policies.ts'
import { requesterMemberships } from './policies/requester-memberships.ts'
import { knownRepositories, type ProbeAnswer, type ProbeDeps, probe, type Repository } from './probe.ts'
import type { ProbeBudget } from './probe-budget.ts'

/** GitHub's answer about the repositories and the requester. */
export type GitHubAnswer =
  | ProbeAnswer
  /** GitHub was asked recently enough: the earlier decision holds. */
  | { readonly kind: 'not-due' }
  /** Nothing to ask: the requester is not a person of this GitHub host. */
  | { readonly kind: 'no-person' }
  | Unreachable

export type Facts = {
  readonly object: RepositoryGrant
  readonly installation: Installation | undefined
  /** Whether the Installation is verified now, according to its own status. */
  readonly installationReady: boolean
  readonly answer: GitHubAnswer
  readonly halts: readonly Halt[]
  readonly policies: GrantPolicies
  /** What people answered. */
  readonly answers: Answers
  /** Approvals that are among no answers any more, because their authors have left. */
  readonly endedApprovals: readonly EndedApproval[]
  /** To which teams the requester belongs and with which roles, as far as policies needed it. */
  readonly memberships: ReadonlyMap<string, boolean>
  /** Those that its subjects name. */
  readonly applications: readonly NamedApplication[]
  /** The name of the Tenant whose namespace it is. */
  readonly tenant: string
  /** Before the first request: the facts cover no later change. */
  readonly askedAt: Date
}

export type GatherDeps = ProbeDeps & {
  readonly installations: Pick<Cache<Installation>, 'get'>
  readonly halts: Pick<Cache<Halt>, 'list'>
  readonly policiesOf: KnownPolicies
  /** The GrantApprovals that name the grant. */
  readonly approvalsOf: (grant: RepositoryGrant) => readonly GrantApproval[]
  readonly applications: Pick<Cache<Application>, 'get'>
  readonly tenantOf: (namespace: string) => Tenant | undefined
  readonly githubApps: GitHubApps
  readonly budget: ProbeBudget
  readonly recheck: RecheckTimes
  readonly tokens: ProbeDeps['tokens'] & Pick<TokenRegistry, 'hasLive'>
}

/** Asks GitHub at most once (`askGitHub`), and not at all while the Installation is not ready or after the grant has expired. */
export async function gather(deps: GatherDeps, object: RepositoryGrant): Promise<Facts> {
  const askedAt = deps.clock.now()
  const { namespace = '' } = object.metadata
  const installation = deps.installations.get({ namespace, name: object.spec.installation })
  const installationReady = isReady(installation)
  const halts = deps.halts.list()
  const tenant = deps.tenantOf(namespace)
  const policies = deps.policiesOf(namespace)
  const applications = namedApplications(object, deps.applications)
  const host = installation?.spec.account.host
  const approvals = deps.approvalsOf(object)
  const unasked: Facts = {
    ...{ object, installation, installationReady, halts, policies, applications, askedAt },
    answer: { kind: 'not-due' },
    answers: answersOf(approvals, { grant: object, host, halts, now: askedAt }),
    endedApprovals: endedApprovals(approvals, object, new Set()),
    memberships: new Map(),
    tenant: tenant?.metadata.name ?? namespace,
  }
  if (installation === undefined || !installationReady || isExpired(object, askedAt)) return unasked
  // Nothing is asked in the name of what is halted: a token for the question would be one more.
  if (haltOfGrant(unasked, object.status?.repositories ?? []) !== undefined) return unasked
  // Nothing to decide for: the grant waits for its Application, or has ended with it.
  if (applicationProblem(object, applications) !== undefined) return unasked
  if (isDeniedUnasked(unasked) || !(await isDue(deps, unasked, installation))) return unasked
  const asking = { unasked, installation, tenant, approvals }
  return { ...unasked, ...(await askGitHub(deps, asking).catch(error => ({ answer: unreachable(error) }))) }
}

type Asking = {
  readonly unasked: Facts
  readonly installation: Installation
  readonly tenant: Tenant | undefined
  readonly approvals: readonly GrantApproval[]
}

type Answered = Pick<Facts, 'answer'> & Partial<Pick<Facts, 'answers' | 'endedApprovals' | 'memberships'>>

/** @throws AppError when something cannot be found out: then nothing is known */
async function askGitHub(deps: GatherDeps, { unasked, installation, tenant, approvals }: Asking): Promise<Answered> {
  const { object, halts, askedAt } = unasked
  const { host } = installation.spec.account
  const grant = { namespace: object.metadata.namespace ?? '', uid: object.metadata.uid ?? '' }
  const person = parseUserSubject(object.spec.requestedBy)
  const isNobody = isServiceAccountUser(object.spec.requestedBy)
  // A decision that asks GitHub nothing is a record in the audit log all the same.
  if (person?.host !== host && !isNobody) return { answer: deps.budget.take(grant) ?? { kind: 'no-person' } }
  const app = await appOfInstallation(deps.githubApps, installation.spec)
  // Nothing would be sent: that uses up nothing of the budget.
  const { installationId } = installation.spec
  const paused = app.client.mintRefusal(installationId)
  const refused = paused === undefined ? deps.budget.take(grant) : unreachable(paused)
  if (refused !== undefined) return { answer: refused }
  const departed = await departedApprovers(deps, app, { grant: object, answers: unasked.answers, installation, tenant })
  const ended = endedApprovals(approvals, object, departed)
  const left = { ...object, status: { ...object.status, endedApprovals: [...ended] } }
  const answers = answersOf(approvals, { grant: left, host, halts, now: askedAt })
  const { endedRepositories = [] } = object.status ?? {}
  const answer = await probe(deps, app, {
    grant: object,
    installationId,
    known: knownRepositories(object.status),
    lost: endedRepositories.filter(({ reason }) => reason === reasons.repositoryNotFound).map(({ id }) => id),
    requesterId: person?.userId,
    approverIds: isNobody ? answers.approvals.flatMap(({ by }) => parseUserSubject(by)?.userId ?? []) : undefined,
  })
  const facts = { ...unasked, answer, answers, endedApprovals: ended }
  const memberships = person && (await membershipsOf(deps, app, { facts, personId: person.userId, tenant }))
  return { answer, answers, endedApprovals: ended, ...defined({ memberships }) }
}

type Asked = { readonly facts: Facts; readonly personId: number; readonly tenant: Tenant | undefined }

/** Asks GitHub only what policies need. */
async function membershipsOf(
  deps: GatherDeps,
  app: GitHubApp,
  { facts, personId, tenant }: Asked,
): Promise<Facts['memberships']> {
  const { answer, installation, object } = facts
  const needs = neededMemberships(facts)
  // Who is nobody here is refused for that.
  if (needs === undefined || installation === undefined || answer.kind !== 'found' || answer.requester.kind !== 'known')
    return facts.memberships
  const { namespace = '', name } = object.metadata
  const person = { id: personId, login: answer.requester.login }
  return requesterMemberships(deps, app, { needs, person, grant: { namespace, name }, installation, tenant })
}

/** The Halt that stands in the way of the grant, whoever uses it. `repositories`: those that it reaches. */
export function haltOfGrant({ object, installation, halts, tenant }: Facts, repositories: readonly Repository[]) {
  return haltOf(halts, {
    namespace: object.metadata.namespace,
    tenant,
    grant: object.metadata.name,
    requestedBy: object.spec.requestedBy,
    ...ofInstallation(installation),
    repositoryIds: repositories.map(({ id }) => id),
  })
}

/** True from the end on that the first approval fixed. */
export function isExpired(object: RepositoryGrant, now: Date): boolean {
  const { expiresAt } = object.status ?? {}
  return expiresAt !== undefined && Date.parse(expiresAt) <= now.getTime()
}

function isReady(installation: Installation | undefined): boolean {
  if (installation === undefined || installation.metadata.deletionTimestamp !== undefined) return false
  return findCondition(installation.status?.conditions, 'Ready')?.status === 'True'
}

/** Reasons that pass without another decision. */
const pausing: ReadonlySet<string> = new Set([reasons.halted, reasons.applicationNotFound, reasons.applicationIsolated])

async function isDue(deps: GatherDeps, facts: Facts, installation: Installation): Promise<boolean> {
  const { object, askedAt: now } = facts
  const { status, metadata } = object
  if (status?.checkedAt === undefined || status.observedGeneration !== metadata.generation) return true
  if (wakeOf(object) !== status.observedWake) return true
  if (findCondition(status.conditions, 'Approved')?.status === 'Unknown') return true
  // What held before may not hold any more.
  if (pausing.has(findCondition(status.conditions, 'Ready')?.reason ?? '')) return true
  if (status.observedInputs !== decisionInputs(installation)) return true
  if (!isCurrent(facts) && !isDecidedUnasked(facts)) return true
  if (status.decision !== 'Approved') return false
  const { inUseMilliseconds, atRestMilliseconds } = deps.recheck
  const sinceCheck = now.getTime() - Date.parse(status.checkedAt)
  if (sinceCheck < inUseMilliseconds * spreadOfGrant(object)) return false
  return sinceCheck >= atRestMilliseconds * spreadOfGrant(object) || isInUse(deps, object)
}

/** A registry that cannot be read makes the check due: it can only find more. */
async function isInUse({ tokens }: GatherDeps, { metadata }: RepositoryGrant): Promise<boolean> {
  return tokens.hasLive({ grantUid: metadata.uid ?? '' }).catch(() => true)
}
