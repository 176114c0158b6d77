// Keeps the status of one RepositoryGrant true and ends the tokens under it when it stops to hold. The only file here that writes.
// Order: the decision is in the audit log before it is in the status; the status says "no" before tokens are revoked (the token desk
// looks at the status again after minting, so no token slips through in between).
import type { TenantAuditRecord } from '../../api/audit-event.ts'
import { type RepositoryGrant, repositoryGrant } from '../../api/github/repository-grant.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { done, type Outcome, type ReconcileContext, requeueAfter } from '../../kube/controller/controller.ts'
import { findCondition } from '../../kube/object/conditions.ts'
import { addFinalizer, removeFinalizer } from '../../kube/object/finalizers.ts'
import type { StatusWriter } from '../status-writer.ts'
import { decide, type Verdict } from './decide.ts'
import { type Facts, type GatherDeps, gather, impatientMilliseconds } from './gather.ts'
import { type DecisionLog, recordDecision } from './record-decision.ts'
import { type GrantStatus, isNewDecision, nextStatus } from './status.ts'

/** The part of the token desk that ends tokens. */
export type TokenRevoker = {
  readonly revokeBy: (filter: { readonly grantUid: string }, reason: string) => Promise<unknown>
}

export type RepositoryGrantDeps = GatherDeps & {
  readonly client: Pick<KubeClient, 'get' | 'apply' | 'mergePatch'>
  readonly grants: Pick<Cache<RepositoryGrant>, 'get'>
  readonly status: StatusWriter<RepositoryGrant>
  readonly audit: DecisionLog
  readonly desk: TokenRevoker
}

const finalizer = 'sekisho.dev/repository-grant'
const longestWait = 2_147_000_000

export async function reconcileRepositoryGrant(deps: RepositoryGrantDeps, context: ReconcileContext): Promise<Outcome> {
  const found = deps.grants.get(context.key)
  if (found === undefined) return done
  const cached = deps.status.latest(found)
  if (cached.metadata.deletionTimestamp !== undefined) {
    await revokeTokens(deps, cached, 'the grant was deleted')
    await removeFinalizer(deps.client, repositoryGrant, cached, finalizer)
    return done
  }
  // Before it can be approved, and so before any token can exist under it.
  const object = await addFinalizer(deps.client, repositoryGrant, cached, finalizer)
  if (object === undefined) return done
  const facts = await gather(deps, object)
  const verdict = decide(facts)
  if (isNewDecision(object.status, verdict)) await recordDecision(deps.audit, decisionRecord(facts, verdict))
  const status = nextStatus(facts, verdict)
  await deps.status.write(object, status)
  if (verdict.revoke) await revokeTokens(deps, object, verdict.ready.reason)
  return nextLook(deps, facts, status)
}

async function revokeTokens(deps: RepositoryGrantDeps, object: RepositoryGrant, reason: string): Promise<void> {
  const { uid } = object.metadata
  if (uid !== undefined) await deps.desk.revokeBy({ grantUid: uid }, reason)
}

function decisionRecord({ object, installation, answer }: Facts, { judgement }: Verdict): TenantAuditRecord {
  const { namespace = '', name, uid = '' } = object.metadata
  const { permissions, subjects, reason, delivery } = object.spec
  const repositories = answer.kind === 'found' ? answer.repositories.map(({ id, name: fullName }) => ({ id, fullName })) : []
  return {
    action: 'grant.decided',
    actor: object.spec.requestedBy,
    namespace,
    object: `RepositoryGrant/${namespace}/${name}`,
    outcome: judgement?.decision === 'Approved' ? 'allowed' : 'denied',
    reason: `${reason} | ${judgement?.message ?? ''}`,
    details: {
      decision: judgement?.decision ?? '',
      rule: judgement?.rule ?? '',
      check: judgement?.reason ?? '',
      grantUid: uid,
      installationId: installation?.spec.installationId ?? 0,
      repositories,
      permissions: { ...permissions },
      subjects: subjects.map(subject => ({ kind: subject.kind, name: subject.name })),
      delivery,
    },
  }
}

/** When nothing changes: at the end of the grant, and when GitHub has to be asked again. */
function nextLook(deps: RepositoryGrantDeps, { answer, askedAt, installationReady }: Facts, status: GrantStatus): Outcome {
  const ready = findCondition(status.conditions, 'Ready')
  if (status.expiresAt !== undefined && Date.parse(status.expiresAt) <= askedAt.getTime()) return done
  if (answer.kind === 'unreachable') return requeueAfter(Math.max(30, answer.retryAfterSeconds ?? 0) * 1000)
  // The Installation wakes its grants when it becomes ready.
  if (!installationReady) return done
  const recheck = ready?.status === 'True' ? deps.recheckMilliseconds : impatientMilliseconds
  const end = status.expiresAt === undefined ? longestWait : Date.parse(status.expiresAt) - askedAt.getTime()
  return requeueAfter(Math.min(recheck, end, longestWait))
}
