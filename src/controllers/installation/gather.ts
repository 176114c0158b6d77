// What must be known about an Installation: what GitHub answers to the App's own key and, when it is due, whether the person who bound it still
// owns the account. Writes nothing to the cluster; never throws: a failure to find out is a fact, too.
import { type Installation, installationReasons } from '../../api/github/installation.ts'
import { githubReasons, type InstallationFacts } from '../../github/index.ts'
import { findCondition } from '../../kube/object/conditions.ts'
import { isAppError, messageOf } from '../../lib/errors.ts'
import type { GitHubApp, GitHubApps } from '../../token-desk/app-clients.ts'
import { type Unreachable, unreachable } from '../github-unreachable.ts'
import { wakeOf } from '../observed-wake.ts'
import { checkOwner, type OwnerAnswer, type OwnerCheckDeps } from './owner-check.ts'

/** GitHub's answer; `appId` is the id of the App that asked. */
export type InstallationAnswer =
  | { readonly kind: 'found'; readonly installation: InstallationFacts; readonly owner: OwnerAnswer; readonly appId: number }
  | { readonly kind: 'absent' }
  | { readonly kind: 'app-not-ready'; readonly message: string }
  | Unreachable

export type Facts = {
  readonly object: Installation
  readonly answer: InstallationAnswer
  /** Before the first request: the facts cover no later change. */
  readonly askedAt: Date
}

export type GatherDeps = OwnerCheckDeps & {
  readonly githubApps: GitHubApps
  /** How often the owner is checked without a reason. */
  readonly ownerCheckMilliseconds: number
}

/** Costs one request to GitHub, and four when the owner check is due. */
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
    const owner: OwnerAnswer = due ? await checkOwner(deps, { app, object, installation }) : { kind: 'not-due' }
    return facts({ kind: 'found', installation, owner, appId: app.appId })
  } catch (error) {
    // Also when GitHub does not know the new token: that says nothing about the App's key.
    return facts(unreachable(error))
  }
}

/** Asks as the App. A refused key means that the App cannot be used, which is different from an unreachable GitHub. */
async function installationOf(app: GitHubApp, object: Installation): Promise<InstallationFacts | InstallationAnswer> {
  try {
    return (await app.client.installation(object.spec.installationId)) ?? { kind: 'absent' }
  } catch (error) {
    if (isAppError(error) && error.reason === githubReasons.credentialRefused)
      return { kind: 'app-not-ready', message: messageOf(error) }
    return unreachable(error)
  }
}

/** GitHub issues no token for a suspended installation. */
function isOwnerCheckDue(object: Installation, installation: InstallationFacts, now: Date, interval: number): boolean {
  if (installation.suspendedAt !== undefined) return false
  const { status } = object
  const verified = findCondition(status?.conditions, 'Verified')
  if (status?.verifiedAt === undefined || verified?.status !== 'True') return true
  if (verified.reason !== installationReasons.verified) return true
  if (wakeOf(object) !== status.observedWake) return true
  return now.getTime() - Date.parse(status.verifiedAt) >= interval
}
