// A grant is asked for and approved; a grant under which a token lives is deleted.
import { repositoryGrant } from '../../../src/api/github/repository-grant.ts'
import type { Scenario } from '../scenario.ts'
import { approvedGrant, bind, sweptMilliseconds } from './bindings.ts'
import { gone } from './waits.ts'
import { withLiveToken } from './workload.ts'

const shared = {
  controllers: ['repository-grant'],
  world: { part: 'controllers', namespace: 'made', github: 'repository' },
  awayMilliseconds: sweptMilliseconds,
  sees: [repositoryGrant],
} as const

export const repositoryGrantScenario: Scenario = {
  ...shared,
  name: 'repository-grant: create',
  prepare: bind,
  act: approvedGrant,
}

export const repositoryGrantDeletion: Scenario = {
  ...shared,
  name: 'repository-grant: delete, a token lives',
  prepare: withLiveToken,
  async act(world) {
    await world.site.kube.delete(repositoryGrant, { namespace: world.namespace, name: 'read-shop' })
    await gone(world, repositoryGrant, 'read-shop')
  },
}
