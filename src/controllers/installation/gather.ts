// What must be known about an Installation: what GitHub answers to the App's own key and, when it is due, whether the person
// who bound it, or one who stands in, owns the account. Writes nothing to the cluster; never throws: a failure to find out is a
// fact, too.
import { type Installation, installationReasons, isAnsweredFor } from '../../api/github/installation.ts'
import { githubReasons, type InstallationFacts } from '../../github/index.ts'
import { findCondition } from '../../kube/object/conditions.ts'
import { isAppError, messageOf } from '../../lib/errors.ts'
import { appOfInstallation, type GitHubApp, type GitHubApps } from '../../services/token-desk/app-clients.ts'
import { unreachable } from '../kit/github-unreachable.ts'
import { wakeOf } from '../kit/repository/observed-wake.ts'
import { holdsWithoutOwner, isNew } from './checks.ts'
import type { Facts, FoundInstallation, InstallationAnswer } from './facts.ts'
import type { InstallationDirectory } from './installation-directory.ts'
import { type OtherAppsDeps, otherAppsOf } from './other-apps.ts'
import { checkOwner, needsToken, type OwnerCheckDeps } from './owner-check.ts'
import type { OwnerCheckSchedule } from './owner-check-schedule.ts'

export type GatherDeps = OwnerCheckDeps & {
  readonly githubApps: GitHubApps
  readonly directory: InstallationDirectory
  readonly poolOf: OtherAppsDeps['poolOf']
  readonly ownerChecks: OwnerCheckSchedule
}

/** Costs no request at rest: a list answers for all. The owner check, when due, costs four, and two for each who stands in. */
export async function gather(deps: GatherDeps, object: Installation): Promise<Facts> {
  const askedAt = deps.clock.now()
  const facts = (answer: InstallationAnswer): Facts => ({ object, answer, askedAt })
  let app: GitHubApp
  try {
    app = await appOfInstallation(deps.githubApps, object.spec)
  } catch (error) {
    return facts({ kind: 'app-not-ready', message: messageOf(error) })
  }
  try {
    const known = facts(await answerAbout(deps, app, { object, askedAt }))
    return known.answer.kind === 'found' ? { ...known, otherApps: await otherAppsOf(deps, object) } : known
  } catch (error) {
    // Also when GitHub does not know the new token: that says nothing about the App's key.
    return facts(unreachable(error))
  }
}

type Question = Pick<Facts, 'object' | 'askedAt'>

async function answerAbout(deps: GatherDeps, app: GitHubApp, question: Question): Promise<InstallationAnswer> {
  const { object } = question
  const known = await asApp(() => (mustAsk(object) || isNew(question) ? ask(deps, app, object) : look(deps, app, object)))
  if (known.kind !== 'found' || !isOwnerCheckDue(deps, question, known)) return known
  const owner = await checkOwner(deps, { app, object, installation: known.installation })
  if (owner.kind !== 'not-owner' || mustAsk(object)) return { ...known, owner }
  // The account may have been renamed since it was listed, and its login may belong to another account: only a current answer
  // refutes.
  const present = await asApp(() => ask(deps, app, object))
  if (present.kind !== 'found') return present
  return { ...present, owner: await checkOwner(deps, { app, object, installation: present.installation }) }
}

/** The first time, and when a webhook arrived; otherwise the list is recent enough. */
function mustAsk(object: Installation): boolean {
  const { status } = object
  return findCondition(status?.conditions, 'Verified') === undefined || wakeOf(object) !== status?.observedWake
}

async function ask({ directory }: GatherDeps, app: GitHubApp, { spec }: Installation): Promise<InstallationAnswer> {
  return answerOf(app, await directory.ask(app, spec.installationId))
}

/** A list may miss an installation, so that it is asked for once before it counts as gone. */
async function look(deps: GatherDeps, app: GitHubApp, object: Installation): Promise<InstallationAnswer> {
  const listed = await deps.directory.look(app, object.spec.installationId)
  const knownGone = findCondition(object.status?.conditions, 'Verified')?.reason === installationReasons.notFound
  return listed === undefined && !knownGone ? ask(deps, app, object) : answerOf(app, listed)
}

function answerOf(app: GitHubApp, installation: InstallationFacts | undefined): InstallationAnswer {
  if (installation === undefined) return { kind: 'absent' }
  return { kind: 'found', installation, owner: { kind: 'not-due' }, appId: app.appId }
}

/** A refused key means that the App cannot be used, which is different from an unreachable GitHub. */
async function asApp(request: () => Promise<InstallationAnswer>): Promise<InstallationAnswer> {
  try {
    return await request()
  } catch (error) {
    if (isAppError(error) && error.reason === githubReasons.credentialRefused)
      return { kind: 'app-not-ready', message: messageOf(error) }
    return unreachable(error)
  }
}

/**
 * At once for a new Installation, after a webhook, and when who answered for it stands in no more; later on schedule; never for
 * an Installation that is refused anyway.
 */
function isOwnerCheckDue(deps: GatherDeps, { object, askedAt }: Question, answer: FoundInstallation): boolean {
  if (!holdsWithoutOwner({ object, answer, askedAt })) return false
  const { status } = object
  const checkedAt = status?.ownerLostAt ?? status?.ownerCheckedAt
  if (checkedAt === undefined || wakeOf(object) !== status?.observedWake || !isAnsweredFor(object)) return true
  return deps.ownerChecks.isDue(object, new Date(checkedAt), needsToken(answer.installation))
}
