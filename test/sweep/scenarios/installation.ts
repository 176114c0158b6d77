// An Installation is bound and verified, is suspended on GitHub, and is deleted. The last two must revoke an active token under
// it.
import { setSuspended } from '../../../dev/github/actions/install-app.ts'
import { installation } from '../../../src/api/github/installation.ts'
import { repositoryGrant } from '../../../src/api/github/repository-grant.ts'
import { people } from '../environment/account.ts'
import type { Scenario } from '../scenario.ts'
import { applyInstallation, sweptMilliseconds, wake } from './bindings.ts'
import { gone, ready } from './waits.ts'
import { withActiveToken } from './workload.ts'

const shared = {
  controllers: ['installation'],
  awayMilliseconds: sweptMilliseconds,
  compares: [installation, repositoryGrant],
}
const withRepository = { component: 'controllers', namespace: 'made', github: 'repository' } as const

export const installationScenario: Scenario = {
  ...shared,
  name: 'installation: create',
  environment: { component: 'controllers', namespace: 'made', github: 'app' },
  async act(environment) {
    await applyInstallation(environment)
    await ready(environment, installation, 'github', 'Verified')
  },
}

export const installationSuspension: Scenario = {
  ...shared,
  name: 'installation: suspended on GitHub, with an active token',
  environment: withRepository,
  prepare: withActiveToken,
  async act(environment) {
    setSuspended(environment.fixture.github.context, environment.account.installed, people.olivia, true)
    await wake(environment, installation, 'github', 'suspended')
    await ready(environment, installation, 'github', 'InstallationSuspended')
    await ready(environment, repositoryGrant, 'read-shop', 'InstallationNotReady')
  },
}

export const installationDeletion: Scenario = {
  ...shared,
  name: 'installation: delete, with an active token',
  environment: withRepository,
  prepare: withActiveToken,
  async act(environment) {
    await environment.fixture.kube.delete(installation, { namespace: environment.namespace, name: 'github' })
    await gone(environment, installation, 'github')
    await ready(environment, repositoryGrant, 'read-shop', 'InstallationNotReady')
  },
}
