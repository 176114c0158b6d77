// A workload requests a token until it is issued, and requests it again: the second answer contains the same token.
import { repositoryGrant } from '../../../src/api/github/repository-grant.ts'
import type { Scenario } from '../scenario.ts'
import { approvedGrant, bind, sweptMilliseconds } from './bindings.ts'
import { startWorkload } from './workload.ts'

export const tokenDeskScenario: Scenario = {
  name: 'token desk: issue',
  shortPoints: 'all',
  // The token desk is not a controller; it runs in the process of the controllers.
  controllers: [],
  environment: { component: 'controllers', namespace: 'made', github: 'repository' },
  awayMilliseconds: sweptMilliseconds,
  async prepare(environment) {
    await bind(environment)
    await approvedGrant(environment)
  },
  async act(environment) {
    const workload = await startWorkload(environment)
    const first = await workload.token('read-shop')
    if ((await workload.token('read-shop')) !== first) throw new Error('the second answer was another token')
  },
  compares: [repositoryGrant],
}
