// Creates or replaces the grant that an object owns because its kind follows a repository, where the plan says so. The decision on the grant
// wakes its owner. It decides nothing: `owned-grant.ts` does.
import { repositoryGrant } from '../api/github/repository-grant.ts'
import type { RepositoryFollower } from '../api/repository-follower.ts'
import { keyOf } from '../api/resource.ts'
import type { KubeClient } from '../kube/client/client.ts'
import { isKubeError } from '../kube/client/errors.ts'
import { type OwnedGrantPlan, ownedGrantName } from './owned-grant.ts'

export type OwnedGrantWrite = {
  readonly owner: RepositoryFollower
  readonly plan: OwnedGrantPlan
  /** Of the controller of the owner. */
  readonly fieldManager: string
}

/** May be repeated; a plan that needs no write sends nothing. @throws KubeError when the API server refuses or cannot be reached */
export async function ensureOwnedGrant(
  client: Pick<KubeClient, 'create' | 'delete'>,
  { owner, plan, fieldManager }: OwnedGrantWrite,
): Promise<void> {
  if (plan.kind === 'replace')
    await client.delete(repositoryGrant, { ...keyOf(owner), name: ownedGrantName(owner) }, { uid: plan.uid })
  if (plan.kind === 'create')
    await client.create(repositoryGrant, plan.desired, { fieldManager }).catch((error: unknown) => {
      // The cache is behind: the existing grant is evaluated when the cache shows it.
      if (!isKubeError(error, 409)) throw error
    })
}
