// Keeps the status of one RepositoryGrant current and ends the tokens under it when it no longer holds. The only file here that
// writes. Order: the decision is in the audit log before it is in the status; the status says no before tokens are revoked (the
// token desk reads the status again after minting, so that no token is issued in between).
import { type RepositoryGrant, repositoryGrantReasons as reasons, repositoryGrant } from '../../api/github/repository-grant.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { done, type Outcome, type ReconcileContext } from '../../kube/controller/controller.ts'
import { findCondition } from '../../kube/object/conditions.ts'
import { isShortened, outlives } from '../../policy/grants/token-lifetime.ts'
import { retryMilliseconds } from '../kit/github-unreachable.ts'
import type { InStep } from '../kit/in-step.ts'
import { reconcileWithFinalizer } from '../kit/reconcile-with-finalizer.ts'
import { requeueAfterSoonest } from '../kit/soonest.ts'
import type { StatusWriter } from '../kit/status-writer.ts'
import { type Decision, decide } from './decide.ts'
import { spreadOfGrant } from './decision-inputs.ts'
import { type Delivered, type DeliveryDeps, isDeliveredBySecret, keepSecrets, removeSecrets } from './delivery/keep-secrets.ts'
import { type Facts, type GatherDeps, gather } from './gather.ts'
import { announceBreakGlass, type BreakGlassWatchers } from './records/announce-break-glass.ts'
import { type AccessLog, recordAccess } from './records/record-access.ts'
import { type DecisionLog, decisionRecord, recordDecision } from './records/record-decision.ts'
import { type GrantEndDeps, recordGrantEnd, recordGrantExpiry } from './records/record-end.ts'
import { type GrantStatus, isNewRuling, nextStatus, withDelivered } from './status.ts'

export type RepositoryGrantDeps = Omit<GatherDeps, 'tokens'> & {
  readonly client: Pick<KubeClient, 'get' | 'apply' | 'mergePatch' | 'delete'>
  readonly tokens: GatherDeps['tokens'] & DeliveryDeps['tokens']
  readonly grants: Pick<Cache<RepositoryGrant>, 'get'>
  readonly status: StatusWriter<RepositoryGrant>
  readonly audit: DecisionLog & GrantEndDeps['audit'] & AccessLog
  readonly inStep: InStep
  readonly tenantsIn: GrantEndDeps['tenantsIn']
  readonly desk: DeliveryDeps['desk']
} & BreakGlassWatchers

/** Idempotent. The finalizer is set before the grant can be approved, and so before any token can exist under it. */
export function reconcileRepositoryGrant(deps: RepositoryGrantDeps, context: Pick<ReconcileContext, 'key'>): Promise<Outcome> {
  const { client, status } = deps
  const kind = { type: repositoryGrant, finalizer: 'sekisho.dev/repository-grant', client, cache: deps.grants, status }
  return reconcileWithFinalizer(
    {
      ...kind,
      keep: object => evaluate(deps, object),
      async end(object) {
        const { namespace = '', uid = '' } = object.metadata
        deps.budget.release({ namespace, uid })
        await withoutSecrets(deps, object, () => revokeTokens(deps, object, 'the grant was deleted'))
        await recordGrantEnd(deps, object)
        return undefined
      },
    },
    context,
  )
}

async function evaluate(deps: RepositoryGrantDeps, object: RepositoryGrant): Promise<Outcome> {
  const facts = await gather(deps, object)
  const decision = decide(facts)
  if (isNewRuling(facts, decision)) {
    await recordDecision(deps.audit, decisionRecord(facts, decision))
    announceBreakGlass(deps, facts, decision)
  }
  await recordAccess(deps.audit, deps.inStep, facts, decision)
  const status = nextStatus(facts, decision)
  const written = await deps.status.write(object, status)
  if (decision.ready.status === 'True') await endLongLives(deps, object, status)
  deps.inStep.add(object.metadata.uid ?? '')
  const revoke = () => (decision.revoke ? revokeTokens(deps, object, decision.ready.reason) : revokeEnded(deps, object, decision))
  const delivered =
    decision.ready.status === 'True' ? await deliver(deps, written, revoke) : await withoutSecrets(deps, object, revoke)
  if (decision.ready.reason === reasons.expired) await recordGrantExpiry(deps, object)
  return nextCheck(deps, { ...facts, again: delivered?.again }, status)
}

/** After tokens that do not hold any more are revoked: one of them may be in a Secret. */
async function deliver(
  deps: RepositoryGrantDeps,
  grant: RepositoryGrant,
  revoke: () => Promise<void>,
): Promise<Delivered | undefined> {
  await revoke()
  if (!isDeliveredBySecret(grant)) return undefined
  const delivered = await keepSecrets(deps, grant)
  await deps.status.write(grant, withDelivered(grant, delivered.condition, deps.clock.now()))
  return delivered
}

/** Revokes also while the API server refuses to delete a Secret. */
async function withoutSecrets(
  deps: RepositoryGrantDeps,
  grant: RepositoryGrant,
  revoke: () => Promise<void>,
): Promise<undefined> {
  try {
    if (isDeliveredBySecret(grant)) await removeSecrets(deps, grant)
  } finally {
    await revoke()
  }
}

const shorterLife = 'by a policy the tokens of the grant live for a shorter time now'

/**
 * Tokens that would live longer than the status, which is written, lets them. Looked for when that became shorter, and once by
 * each process, so that a crash leaves none.
 */
async function endLongLives({ desk, tokens, inStep }: RepositoryGrantDeps, object: RepositoryGrant, after: GrantStatus) {
  const { uid: grantUid = '' } = object.metadata
  const isShorter = isShortened(object.spec.subjects, object.status?.tokenLifetimes, after.tokenLifetimes)
  if (inStep.has(grantUid) && !isShorter) return
  // What the next run must do again if this one fails.
  inStep.forget(grantUid)
  for (const token of await tokens.liveBy({ grantUid, delivered: true }))
    if (token.ending === undefined && outlives(after.tokenLifetimes, token)) await desk.revokeBy({ id: token.id }, shorterLife)
}

/** Tokens that reach a repository for which the grant does not hold; at each reconcile, so that none is left after a crash. */
async function revokeEnded({ desk }: RepositoryGrantDeps, { metadata }: RepositoryGrant, { judged }: Decision): Promise<void> {
  const { uid: grantUid } = metadata
  if (grantUid === undefined) return
  for (const { id, reason } of judged.ended) await desk.revokeBy({ grantUid, repositoryId: id }, reason)
}

async function revokeTokens(deps: RepositoryGrantDeps, { metadata }: RepositoryGrant, reason: string): Promise<void> {
  if (metadata.uid !== undefined) await deps.desk.revokeBy({ grantUid: metadata.uid }, reason)
}

/** `again`: in how many milliseconds the Secrets of the grant are looked at. */
type Looked = Facts & { readonly again: number | undefined }

/**
 * When nothing changes: at the end of the grant or of an answer of a person, and while it is ready when its use is to be
 * looked at again. A denied grant and one without a ready Installation wait for a change of what they were decided from,
 * which wakes them.
 */
function nextCheck(deps: RepositoryGrantDeps, facts: Looked, status: GrantStatus): Outcome {
  const { object, answer, answers, askedAt, again } = facts
  const now = askedAt.getTime()
  const expires = status.expiresAt === undefined ? undefined : Date.parse(status.expiresAt) - now
  if (expires !== undefined && expires <= 0) return done
  const lapses = answers.until && answers.until.getTime() - now
  if (answer.kind === 'unreachable') return requeueAfterSoonest(retryMilliseconds(answer), again)
  if (findCondition(status.conditions, 'Ready')?.status === 'True')
    return requeueAfterSoonest(deps.recheck.inUseMilliseconds * spreadOfGrant(object), expires, lapses, again)
  return lapses === undefined ? done : requeueAfterSoonest(expires, lapses)
}
