// An Installation is bound and verified; is suspended on GitHub; is deleted. Under the last two a token lives that must end.
import { setSuspended } from '../../../dev/github/actions/install-app.ts'
import { installation } from '../../../src/api/github/installation.ts'
import { repositoryGrant } from '../../../src/api/github/repository-grant.ts'
import { people } from '../environment/account.ts'
import type { Scenario } from '../scenario.ts'
import { applyInstallation, sweptMilliseconds, wake } from './bindings.ts'
import { gone, ready } from './waits.ts'
import { withLiveToken } from './workload.ts'

const shared = {
  controllers: ['installation'],
  awayMilliseconds: sweptMilliseconds,
  sees: [installation, repositoryGrant],
}
const withRepository = { part: 'controllers', namespace: 'made', github: 'repository' } as const

export const installationScenario: Scenario = {
  ...shared,
  name: 'installation: create',
  world: { part: 'controllers', namespace: 'made', github: 'app' },
  async act(world) {
    await applyInstallation(world)
    await ready(world, installation, 'github', 'Verified')
  },
}

export const installationSuspension: Scenario = {
  ...shared,
  name: 'installation: suspended on GitHub, a token lives',
  world: withRepository,
  prepare: withLiveToken,
  async act(world) {
    setSuspended(world.site.github.context, world.account.installed, people.olivia, true)
    await wake(world, installation, 'github', 'suspended')
    await ready(world, installation, 'github', 'InstallationSuspended')
    await ready(world, repositoryGrant, 'read-shop', 'InstallationNotReady')
  },
}

export const installationDeletion: Scenario = {
  ...shared,
  name: 'installation: delete, a token lives',
  world: withRepository,
  prepare: withLiveToken,
  async act(world) {
    await world.site.kube.delete(installation, { namespace: world.namespace, name: 'github' })
    await gone(world, installation, 'github')
    await ready(world, repositoryGrant, 'read-shop', 'InstallationNotReady')
  },
}
