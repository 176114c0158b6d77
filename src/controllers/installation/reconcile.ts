// Keeps an Installation's proof fresh and ends its tokens when it fails. Writes its own finalizer, status and Events; everything about
// tokens goes through the token desk.
import { type Installation, installation as installations } from '../../api/github/installation.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { done, type Outcome, type ReconcileContext, requeueAfter } from '../../kube/controller/controller.ts'
import { addFinalizer, removeFinalizer } from '../../kube/object/finalizers.ts'
import type { GitHubApps } from '../../token-desk/app-clients.ts'
import type { StatusWriter } from '../status-writer.ts'
import { decide } from './decide.ts'
import { type GatherDeps, gather } from './gather.ts'
import { nextStatus } from './status.ts'

export type InstallationOnGitHub = { readonly host: string; readonly appId: number; readonly installationId: number }

/** The part of the token desk that ends tokens: resolves when none under the installation lives, throws to be called again. */
export type TokenRevoker = {
  readonly revokeBy: (filter: { readonly installation: InstallationOnGitHub }, reason: string) => Promise<unknown>
}

export type InstallationDeps = GatherDeps & {
  readonly client: Pick<KubeClient, 'get' | 'apply' | 'mergePatch'>
  readonly installations: Pick<Cache<Installation>, 'get'>
  readonly githubApps: GitHubApps
  readonly status: StatusWriter<Installation>
  readonly desk: TokenRevoker
  /** The App id by the name of a ClusterGitHubApp; undefined when that is gone. */
  readonly appIdOf: (appName: string) => number | undefined
}

const finalizer = 'sekisho.dev/installation'

export async function reconcileInstallation(deps: InstallationDeps, context: ReconcileContext): Promise<Outcome> {
  const found = deps.installations.get(context.key)
  if (found === undefined) return done
  const cached = deps.status.latest(found)
  if (cached.metadata.deletionTimestamp !== undefined) {
    await revokeTokens(deps, cached, 'the Installation was deleted')
    await removeFinalizer(deps.client, installations, cached, finalizer)
    return done
  }
  // Before it can become Ready, and so before any token can exist under it.
  const object = await addFinalizer(deps.client, installations, cached, finalizer)
  if (object === undefined) return done
  const facts = await gather(deps, object)
  const verdict = decide(facts)
  await deps.status.write(object, nextStatus(facts, verdict))
  if (verdict.revoke) await revokeTokens(deps, object, verdict.verified.reason)
  return verdict.retryAfterMilliseconds === undefined ? done : requeueAfter(verdict.retryAfterMilliseconds)
}

/** Without any App id it was never verified, so no token was ever minted under it. */
async function revokeTokens(deps: InstallationDeps, object: Installation, reason: string): Promise<void> {
  const { app, account, installationId } = object.spec
  const appId = object.status?.appId ?? deps.appIdOf(app)
  if (appId === undefined) return
  await deps.desk.revokeBy({ installation: { host: account.host, appId, installationId } }, reason)
}
