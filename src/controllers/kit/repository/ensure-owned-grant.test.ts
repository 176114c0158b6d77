import { expect, test } from 'vitest'
import type { RepositoryFollower } from '../../../api/capabilities/repository-follower.ts'
import { repositoryGrant } from '../../../api/github/repository-grant.ts'
import { KubeError } from '../../../kube/client/errors.ts'
import { ensureOwnedGrant } from './ensure-owned-grant.ts'
import { planOwnedGrant } from './owned-grant.ts'

const owner: RepositoryFollower = {
  apiVersion: 'apps.sekisho.dev/v1alpha1',
  kind: 'AppPipeline',
  metadata: { name: 'shop', namespace: 'acme', uid: 'uid-1', generation: 1 },
  spec: { installation: 'github', repository: 'acme/shop', requestedBy: 'github|github.com|1' },
}

/** What the owner waits for when the API server answers the creation so. */
async function waitWhen(answer?: KubeError) {
  const plan = planOwnedGrant(owner, undefined, new Date())
  if (plan.kind !== 'create') return expect.fail(plan.kind)
  const client = {
    async create<T>(_type: unknown, object: T): Promise<T> {
      if (answer !== undefined) throw answer
      return object
    },
    delete: async () => undefined,
  }
  return ensureOwnedGrant(client as never, { owner, plan, fieldManager: 'test' })
}

const refusal = (status: number, message: string): KubeError =>
  new KubeError(`create ${repositoryGrant.plural}: ${status}: ${message}`, { status, reason: 'x' })
const byQuota = refusal(403, 'exceeded quota: tenant-kinds, used: count/repositorygrants.github.sekisho.dev=600')

test('a new grant is not decided yet', async () => {
  expect(await waitWhen()).toMatchObject({ reason: 'WaitingForGrant' })
  expect(await waitWhen(refusal(409, 'already exists'))).toMatchObject({ reason: 'WaitingForGrant' })
})

test('a quota that is used up is named, with the cure, and asked again: no event says that it has room', async () => {
  expect(await waitWhen(byQuota)).toEqual({
    reason: 'GrantQuotaExceeded',
    message: expect.stringContaining('delete those, RemoteSyncs or AppPipelines that are not used'),
    requeueAfterMilliseconds: 60_000,
  })
})

test('any other refusal is an error', async () => {
  const error = refusal(403, 'is forbidden: User "x" cannot create resource')
  await expect(waitWhen(error)).rejects.toBe(error)
})
