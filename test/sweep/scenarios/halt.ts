// A Halt of a namespace in which a workload holds a token: it is carried out, and it is lifted.
import { halt } from '../../../src/api/github/halt.ts'
import { repositoryGrant } from '../../../src/api/github/repository-grant.ts'
import type { Environment } from '../environment/environment.ts'
import type { Scenario } from '../scenario.ts'
import { sweptMilliseconds } from './bindings.ts'
import { gone, ready } from './waits.ts'
import { withActiveToken } from './workload.ts'

const by = 'github|github.localhost|1001'

const shared = {
  controllers: ['halt'],
  environment: { component: 'controllers', namespace: 'made', github: 'repository' },
  awayMilliseconds: sweptMilliseconds,
  compares: [halt, repositoryGrant],
} as const

/** Resolves when nothing is left, and the grant says that it is halted. */
async function haltEverything(environment: Environment): Promise<void> {
  const target = { type: 'Everything' }
  await environment.apply(halt, 'stop', { spec: { target, reason: 'a token leaked', requestedBy: by } })
  await ready(environment, halt, 'stop', 'Enforced')
  await ready(environment, repositoryGrant, 'read-shop', 'Halted')
}

export const haltScenario: Scenario = {
  ...shared,
  name: 'halt: create, with an active token',
  prepare: withActiveToken,
  act: haltEverything,
}

export const haltLifting: Scenario = {
  ...shared,
  name: 'halt: lift',
  async prepare(environment) {
    await withActiveToken(environment)
    await haltEverything(environment)
  },
  async act(environment) {
    const { fixture, namespace } = environment
    const patch = { spec: { lifted: { by, reason: 'it is over' } } }
    await fixture.kube.mergePatch(halt, { namespace, name: 'stop' }, patch, { fieldManager: 'sweep' })
    await gone(environment, halt, 'stop')
    await ready(environment, repositoryGrant, 'read-shop', 'Approved')
  },
}
