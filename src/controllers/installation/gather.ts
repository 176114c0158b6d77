// What must be known about an Installation: what GitHub says about it with the App's own key and, when it is time, whether the person
// who bound it still owns the account. Writes nothing to the cluster, never throws: what could not be learned is a fact too.
import { type Installation, installationReasons } from '../../api/github/installation.ts'
import { wakeAnnotation } from '../../api/names.ts'
import { githubReasons, type InstallationFacts } from '../../github/index.ts'
import { findCondition } from '../../kube/object/conditions.ts'
import { isAppError, messageOf } from '../../lib/errors.ts'
import type { GitHubApp, GitHubApps } from '../../token-desk/app-clients.ts'
import { checkOwner, type OwnerAnswer, type OwnerCheckDeps } from './owner-check.ts'

export type InstallationAnswer =
  | { readonly kind: 'found'; readonly installation: InstallationFacts; readonly owner: OwnerAnswer; readonly appId: number }
  | { readonly kind: 'absent' }
  | { readonly kind: 'app-not-ready'; readonly message: string }
  | { readonly kind: 'unreachable'; readonly message: string; readonly retryAfterSeconds: number | undefined }

export type Facts = {
  readonly object: Installation
  readonly answer: InstallationAnswer
  /** When the asking began: what changes later is not covered. */
  readonly askedAt: Date
}

export type GatherDeps = OwnerCheckDeps & {
  readonly githubApps: GitHubApps
  /** How often the owner is asked for without a reason. */
  readonly ownerCheckMilliseconds: number
}

export async function gather(deps: GatherDeps, object: Installation): Promise<Facts> {
  const askedAt = deps.clock.now()
  const facts = (answer: InstallationAnswer): Facts => ({ object, answer, askedAt })
  let app: GitHubApp
  try {
    app = await deps.githubApps.get(object.spec.app)
  } catch (error) {
    return facts({ kind: 'app-not-ready', message: messageOf(error) })
  }
  const installation = await installationOf(app, object)
  if ('kind' in installation) return facts(installation)
  const due = isOwnerCheckDue(object, installation, askedAt, deps.ownerCheckMilliseconds)
  try {
    const owner: OwnerAnswer = due ? await ownerOf(deps, app, object, installation) : { kind: 'not-due' }
    return facts({ kind: 'found', installation, owner, appId: app.appId })
  } catch (error) {
    // Also when GitHub does not know the fresh token: that says nothing about the App's key.
    return facts(unreachable(error))
  }
}

/** As the App: a refused key means that the App cannot be used, which is not the same as GitHub being away. */
async function installationOf(app: GitHubApp, object: Installation): Promise<InstallationFacts | InstallationAnswer> {
  try {
    return (await app.client.installation(object.spec.installationId)) ?? { kind: 'absent' }
  } catch (error) {
    if (isAppError(error) && error.reason === githubReasons.credentialRefused)
      return { kind: 'app-not-ready', message: messageOf(error) }
    return unreachable(error)
  }
}

function unreachable(error: unknown): InstallationAnswer {
  const retryAfterSeconds = isAppError(error) ? error.retryAfterSeconds : undefined
  return { kind: 'unreachable', message: messageOf(error), retryAfterSeconds }
}

/** A user account is its own owner: `decide` compares the ids. */
async function ownerOf(
  deps: GatherDeps,
  app: GitHubApp,
  object: Installation,
  installation: InstallationFacts,
): Promise<OwnerAnswer> {
  return installation.account.type === 'User' ? { kind: 'owner' } : await checkOwner(deps, app, object, installation)
}

/** A suspended installation gives no token to ask with. */
function isOwnerCheckDue(object: Installation, installation: InstallationFacts, now: Date, interval: number): boolean {
  if (installation.suspendedAt !== undefined) return false
  const { status, metadata } = object
  const verified = findCondition(status?.conditions, 'Verified')
  if (status?.verifiedAt === undefined || verified?.status !== 'True') return true
  if (verified.reason !== installationReasons.verified) return true
  if (metadata.annotations?.[wakeAnnotation] !== status.observedWake) return true
  return now.getTime() - Date.parse(status.verifiedAt) >= interval
}
