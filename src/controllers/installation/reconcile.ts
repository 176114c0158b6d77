// Keeps the proof of an Installation current and ends its tokens when it no longer holds. Writes its own finalizer, status and
// Events; everything about tokens goes through the token desk. The status says no before tokens are revoked, so that the desk
// issues no more in between.

import { type Installation, installation as installations } from '../../api/github/installation.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import type { Outcome, ReconcileContext } from '../../kube/controller/controller.ts'
import { defined } from '../../lib/json/defined.ts'
import type { TokenDesk } from '../../services/token-desk/token-desk.ts'
import type { AuditLog } from '../../store/audit/audit-log.ts'
import { deletionOf } from '../../store/audit/find-doer.ts'
import { recordEndBy } from '../../store/audit/record-end.ts'
import { reconcileWithFinalizer } from '../kit/reconcile-with-finalizer.ts'
import { requeueAfterSoonest } from '../kit/soonest.ts'
import type { StatusWriter } from '../kit/status-writer.ts'
import { decide } from './decide.ts'
import { type GatherDeps, gather } from './gather.ts'
import { nextStatus } from './status.ts'

export type InstallationDeps = GatherDeps & {
  readonly client: Pick<KubeClient, 'get' | 'apply' | 'mergePatch'>
  readonly installations: Pick<Cache<Installation>, 'get'>
  readonly status: StatusWriter<Installation>
  readonly desk: Pick<TokenDesk, 'revokeBy'>
  readonly audit: Pick<AuditLog, 'appendOnce' | 'list'>
  /** The App id by the name of a ClusterGitHubApp; undefined when there is none. */
  readonly appIdOf: (appName: string) => number | undefined
}

/** Idempotent. The finalizer is set before the Installation can become Ready, and so before any token can exist under it. */
export function reconcileInstallation(deps: InstallationDeps, context: Pick<ReconcileContext, 'key'>): Promise<Outcome> {
  const { client, status } = deps
  const kind = { type: installations, finalizer: 'sekisho.dev/installation', client, cache: deps.installations, status }
  return reconcileWithFinalizer(
    {
      ...kind,
      keep: object => verify(deps, object),
      async end(object) {
        await revokeTokens(deps, object, 'the Installation was deleted')
        await recordEnd(deps.audit, object)
        return undefined
      },
    },
    context,
  )
}

async function verify(deps: InstallationDeps, object: Installation): Promise<Outcome> {
  const facts = await gather(deps, object)
  const decision = decide(facts)
  await deps.status.write(object, nextStatus(facts, decision))
  if (decision.revoke) await revokeTokens(deps, object, decision.verified.reason)
  return requeueAfterSoonest(decision.requeueAfterMilliseconds)
}

/** Without a known App id the Installation was never verified, so no token was ever issued under it. */
async function revokeTokens(deps: InstallationDeps, object: Installation, reason: string): Promise<void> {
  const { app, account, installationId } = object.spec
  const appId = object.status?.appId ?? deps.appIdOf(app)
  if (appId === undefined) return
  await deps.desk.revokeBy({ installation: { host: account.host, appId, installationId } }, reason)
}

function recordEnd(audit: InstallationDeps['audit'], { metadata, spec }: Installation): Promise<void> {
  const { name, namespace = '', uid = '', deletionTimestamp } = metadata
  const record = {
    action: 'installation.ended',
    actor: 'sekisho:installation',
    namespace,
    object: `Installation/${namespace}/${name}`,
    outcome: 'allowed',
    reason: 'the Installation was deleted',
    details: {
      ...{ host: spec.account.host, installationId: spec.installationId, uid, cause: 'Deleted' },
      ...defined({ causeAt: deletionTimestamp }),
    },
  } as const
  return recordEndBy(audit, record, deletionOf(uid, deletionTimestamp))
}
