// A grant is requested and approved; a grant with an active token is deleted.
import { repositoryGrant } from '../../../src/api/github/repository-grant.ts'
import type { Scenario } from '../scenario.ts'
import { approvedGrant, bind, sweptMilliseconds } from './bindings.ts'
import { gone } from './waits.ts'
import { withActiveToken } from './workload.ts'

const shared = {
  controllers: ['repository-grant'],
  environment: { component: 'controllers', namespace: 'made', github: 'repository' },
  awayMilliseconds: sweptMilliseconds,
  compares: [repositoryGrant],
} as const

export const repositoryGrantScenario: Scenario = {
  ...shared,
  name: 'repository-grant: create',
  shortPoints: 'all',
  prepare: bind,
  act: approvedGrant,
}

export const repositoryGrantDeletion: Scenario = {
  ...shared,
  name: 'repository-grant: delete, with an active token',
  prepare: withActiveToken,
  async act(environment) {
    await environment.fixture.kube.delete(repositoryGrant, { namespace: environment.namespace, name: 'read-shop' })
    await gone(environment, repositoryGrant, 'read-shop')
  },
}
