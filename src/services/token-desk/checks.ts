// Who may have a token: a list of checks that reads like the specification. Pure; the first refusal decides, and a request is
// admitted only when every check passed. Messages are for the tenant's own people (status, audit log); the HTTP routes disclose
// less to a workload.
import { application } from '../../api/apps/application.ts'
import { type Installation, isAnsweredFor } from '../../api/github/installation.ts'
import type { RepositoryGrant } from '../../api/github/repository-grant.ts'
import { findCondition } from '../../kube/object/conditions.ts'
import { type Check, firstRefusal, type Refusal } from '../../policy/check.ts'
import { haltedText, haltOf, ofInstallation } from '../../policy/halt.ts'
import { permissionAbove } from '../../policy/permission-level.ts'
import type { TokenSubject } from '../../store/token-registry.ts'
import type { DeskFacts } from './gather.ts'

/** The facts of a request that passed every check. */
export type Admitted = {
  readonly grant: RepositoryGrant
  readonly grantUid: string
  readonly installation: Installation
  readonly app: NonNullable<DeskFacts['app']>
  readonly subject: TokenSubject
  readonly repositories: readonly { readonly id: number; readonly name: string }[]
}

/** Reason of a refusal → what it says; for docs/reference/errors.md. A check with another reason does not compile. */
export const refusalTexts = {
  GrantNotFound: 'The RepositoryGrant was deleted, or was deleted and created again with the same name.',
  GrantEnding: 'The RepositoryGrant is being deleted.',
  Halted: 'A Halt stands in the way. The message names it; whoever may lift it does so with `sekisho resume`.',
  GrantNotApproved: 'The RepositoryGrant is not approved or not ready. See its conditions.',
  GrantExpired: 'The RepositoryGrant has expired.',
  NotASubject:
    'The workload is not one of the subjects of the RepositoryGrant, or is an Application that was created again since its approval.',
  OtherDelivery:
    'The RepositoryGrant has another `spec.delivery`: under `GitProxy` and `Secret` no workload gets a token from the token endpoint, and the git proxy serves `GitProxy` alone.',
  InstallationNotReady: 'The Installation of the RepositoryGrant does not exist or is not ready.',
  AppNotUsable: 'The ClusterGitHubApp of the Installation does not exist, is not ready, or is on another GitHub host.',
  NoRepositories: 'The RepositoryGrant has no resolved repository.',
  NoPermissions: 'The RepositoryGrant requests no permission.',
  AboveCeiling: 'A repository or a permission of the RepositoryGrant is not within `spec.ceiling` of the Installation any more.',
  Internal: 'A defect of Sekisho: facts are missing although every check passed.',
} as const

type DeskRefusal = Refusal & { readonly reason: keyof typeof refusalTexts }
type DeskCheck = Check<DeskFacts, DeskRefusal>

/** Stops a token under a grant that was deleted and recreated with the same name: that is another grant. */
const grantIsTheOneMeant: DeskCheck = ({ grant, grantUid }) =>
  grant?.metadata.uid === undefined || grant.metadata.uid !== grantUid
    ? { reason: 'GrantNotFound', message: 'the grant does not exist any more' }
    : undefined

/** Stops new tokens while the tokens of a deleted grant are revoked. */
const grantIsNotEnding: DeskCheck = ({ grant }) =>
  grant?.metadata.deletionTimestamp === undefined ? undefined : { reason: 'GrantEnding', message: 'the grant is being deleted' }

/** The reason of a refusal by a Halt. */
export const haltedReason = 'Halted'

/** Stops what somebody halted. Before the status of the grant, which says no by then, too, and not as clearly. */
const nothingIsHalted: DeskCheck = ({ halts, grant, installation, subject, tenant }) => {
  const found = haltOf(halts, {
    namespace: grant?.metadata.namespace,
    tenant,
    grant: grant?.metadata.name,
    requestedBy: grant?.spec.requestedBy,
    ...ofInstallation(installation),
    repositoryIds: grant?.status?.repositories?.map(({ id }) => id),
    workload: subject,
  })
  return found && { reason: haltedReason, message: haltedText(found) }
}

/** Stops a token without a decision on this generation of the grant that still holds (Ready). */
const grantIsApproved: DeskCheck = ({ grant }) => {
  const { status, metadata } = grant ?? {}
  const decided = status?.observedGeneration === metadata?.generation && status?.decision === 'Approved'
  if (decided && findCondition(status?.conditions, 'Ready')?.status === 'True') return undefined
  return { reason: 'GrantNotApproved', message: 'the grant is not approved' }
}

/** Stops a token after the end of its grant, also when the controller has not noticed the end yet. */
const grantHasNotExpired: DeskCheck = ({ grant, now }) =>
  Date.parse(grant?.status?.expiresAt ?? '') > now.getTime()
    ? undefined
    : { reason: 'GrantExpired', message: 'the grant has expired' }

/** Stops a token after the end of break-glass, also when the controller has not noticed the end yet. */
const breakGlassHolds: DeskCheck = ({ grant, now }) => {
  const { approvedUntil } = grant?.status ?? {}
  if (approvedUntil === undefined || Date.parse(approvedUntil) > now.getTime()) return undefined
  return { reason: 'GrantNotApproved', message: 'the approval of the grant by break-glass has ended' }
}

/** An Application that was created again under the name is another one: the grant is bound to the UID. */
function isBound({ status }: RepositoryGrant, { kind, name, uid }: TokenSubject): boolean {
  if (kind !== application.kind) return true
  return status?.applications?.some(bound => bound.name === name && bound.uid === uid) === true
}

/** Stops everybody but the subjects that the grant names in its own namespace. */
const subjectIsNamed: DeskCheck = ({ grant, subject }) => {
  const named = grant?.spec.subjects.some(({ kind, name }) => kind === subject.kind && name === subject.name)
  const isThatOne = grant !== undefined && isBound(grant, subject)
  if (named && isThatOne && grant.metadata.namespace === subject.namespace && subject.uid !== '') return undefined
  return { reason: 'NotASubject', message: `${subject.kind} ${subject.name} is not a subject of the grant` }
}

/** Stops a token from leaving under a grant that is for the git proxy, and the git proxy under every other grant. */
const deliveryIsTheOneNamed: DeskCheck = ({ grant, delivery }) =>
  grant?.spec.delivery === delivery
    ? undefined
    : { reason: 'OtherDelivery', message: `the delivery of the grant is ${grant?.spec.delivery}, not ${delivery}` }

/**
 * Verified now, and not being deleted. Of its spec only the stand-ins can change, so a newer generation is the same binding; but
 * who answered for it has to stand in still.
 */
export function isReadyNow(installation: Installation): boolean {
  const { metadata, status } = installation
  const isReady = findCondition(status?.conditions, 'Ready')?.status === 'True'
  return isReady && isAnsweredFor(installation) && metadata.deletionTimestamp === undefined
}

/** Stops a token of an Installation that is not the grant's own, is being deleted, or is not verified now. */
const installationIsReady: DeskCheck = ({ installation, grant }) => {
  const { metadata } = installation ?? {}
  const own = metadata?.namespace === grant?.metadata.namespace && metadata?.name === grant?.spec.installation
  if (own && installation !== undefined && isReadyNow(installation)) return undefined
  return { reason: 'InstallationNotReady', message: `Installation ${grant?.spec.installation} is not ready` }
}

/** Stops an App of another GitHub host: ids are unique per host only. */
const appIsOfTheHost: DeskCheck = ({ app, installation }) =>
  app !== undefined && app.host === installation?.spec.account.host
    ? undefined
    : { reason: 'AppNotUsable', message: 'the GitHub App cannot be used' }

/** Stops a token without repository ids: GitHub would let it reach all repositories. */
const repositoriesAreResolved: DeskCheck = ({ grant }) =>
  (grant?.status?.repositories ?? []).length > 0
    ? undefined
    : { reason: 'NoRepositories', message: 'the grant has no resolved repository' }

/** Stops a token without permissions: GitHub would give it all permissions of the App. */
const permissionsAreNamed: DeskCheck = ({ grant }) =>
  Object.keys(grant?.spec.permissions ?? {}).length > 0
    ? undefined
    : { reason: 'NoPermissions', message: 'the grant has no permission' }

/** Stops a repository that the Installation does not pass on (any more). */
const repositoriesAreWithinCeiling: DeskCheck = ({ grant, installation }) => {
  const ceiling = installation?.spec.ceiling
  if (ceiling?.repositories === 'All') return undefined
  const allowed = new Set(ceiling?.repositoryIds ?? [])
  if (grant?.status?.repositories?.every(({ id }) => allowed.has(id))) return undefined
  return { reason: 'AboveCeiling', message: 'the grant names a repository above the ceiling of the Installation' }
}

/** Stops a permission above what the Installation passes on. */
const permissionsAreWithinCeiling: DeskCheck = ({ grant, installation }) => {
  const above = permissionAbove(grant?.spec.permissions ?? {}, installation?.spec.ceiling.permissions ?? {})
  if (above === undefined) return undefined
  return { reason: 'AboveCeiling', message: `the grant requests ${above}, above the ceiling of the Installation` }
}

/** In order: the first refusal is the one that is reported. */
export const checks: readonly DeskCheck[] = [
  grantIsTheOneMeant,
  grantIsNotEnding,
  nothingIsHalted,
  grantIsApproved,
  grantHasNotExpired,
  breakGlassHolds,
  subjectIsNamed,
  deliveryIsTheOneNamed,
  installationIsReady,
  appIsOfTheHost,
  repositoriesAreResolved,
  permissionsAreNamed,
  repositoriesAreWithinCeiling,
  permissionsAreWithinCeiling,
]

/** Of an admitted request, what must hold for another Installation that makes its token, too: with that one in the facts. */
export const memberChecks: readonly DeskCheck[] = [
  nothingIsHalted,
  appIsOfTheHost,
  repositoriesAreWithinCeiling,
  permissionsAreWithinCeiling,
]

/**
 * Everything that is needed to mint, or the first refusal. Total: facts that a check should have refused are refused as
 * `Internal`.
 */
export function admit(facts: DeskFacts): { readonly admitted: Admitted } | { readonly refusal: DeskRefusal } {
  const refusal = firstRefusal(checks, facts)
  if (refusal !== undefined) return { refusal }
  const { grant, grantUid, installation, app, subject } = facts
  const repositories = grant?.status?.repositories
  if (!grant || !grantUid || !installation || !app || !repositories)
    return { refusal: { reason: 'Internal', message: 'a check is missing' } }
  return { admitted: { grant, grantUid, installation, app, subject, repositories } }
}
