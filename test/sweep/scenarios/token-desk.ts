// A workload asks for a token until it has one, and once more: the second answer is the first one's token.
import { repositoryGrant } from '../../../src/api/repository-grant.ts'
import type { Scenario } from '../scenario.ts'
import { approvedGrant, bind, sweptMilliseconds } from './bindings.ts'
import { startWorkload, type Workload } from './workload.ts'

const workloads = new Map<string, Workload>()

export const tokenDeskScenario: Scenario = {
  name: 'token desk: issue',
  // The desk is no controller; it serves from the process of the controllers.
  controllers: [],
  world: { part: 'controllers', namespace: 'made', github: 'repository' },
  awayMilliseconds: sweptMilliseconds,
  async prepare(world) {
    await bind(world)
    await approvedGrant(world)
    workloads.set(world.prefix, await startWorkload(world))
  },
  async act(world) {
    const workload = workloads.get(world.prefix)
    if (workload === undefined) throw new Error('the workload was not started')
    const first = await workload.token('read-shop')
    if ((await workload.token('read-shop')) !== first) throw new Error('the second answer was another token')
    workloads.delete(world.prefix)
  },
  sees: [repositoryGrant],
}
