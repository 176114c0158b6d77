// Creates or replaces the grant that an object owns because its kind follows a repository, where the plan says so. The decision
// on the grant wakes its owner. It decides nothing: `owned-grant.ts` does.

import { followerReasons, type RepositoryFollower } from '../../../api/capabilities/repository-follower.ts'
import { repositoryGrant } from '../../../api/github/repository-grant.ts'
import { keyOf } from '../../../api/resource.ts'
import type { KubeClient } from '../../../kube/client/client.ts'
import { isKubeError } from '../../../kube/client/errors.ts'
import { isQuotaMessage } from '../cluster-refusal.ts'
import type { Refusal } from '../refusal.ts'
import { type OwnedGrantPlan, ownedGrantName } from './owned-grant.ts'

export type OwnedGrantWrite = {
  readonly owner: RepositoryFollower
  readonly plan: Exclude<OwnedGrantPlan, { readonly kind: 'use' }>
  /** Of the controller of the owner. */
  readonly fieldManager: string
}

/** A quota may have room again because of objects that no controller watches. */
const quotaMilliseconds = 60_000

const quotaMessage =
  'the tenant may not have more RepositoryGrants: delete those, RemoteSyncs or AppPipelines that are not used, or ask a platform admin to raise spec.limits.applications of the Tenant'

/**
 * May be repeated; a plan that needs no write sends nothing. Resolves to why the owner waits: for a decision, or because the
 * quota of the tenant is used up. @throws KubeError when the API server refuses for another reason or cannot be reached
 */
export async function ensureOwnedGrant(
  client: Pick<KubeClient, 'create' | 'delete'>,
  { owner, plan, fieldManager }: OwnedGrantWrite,
): Promise<Refusal> {
  if (plan.kind === 'replace')
    await client.delete(repositoryGrant, { ...keyOf(owner), name: ownedGrantName(owner) }, { uid: plan.uid })
  try {
    if (plan.kind === 'create') await client.create(repositoryGrant, plan.desired, { fieldManager })
  } catch (error) {
    if (isKubeError(error, 403) && isQuotaMessage(error.message))
      return { reason: followerReasons.grantQuotaExceeded, message: quotaMessage, requeueAfterMilliseconds: quotaMilliseconds }
    // The cache is behind: the existing grant is evaluated when the cache shows it.
    if (!isKubeError(error, 409)) throw error
  }
  return { reason: plan.reason, message: plan.message }
}
