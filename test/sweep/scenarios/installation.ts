// An Installation is bound and verified, loses the owner who bound it while another one stands in, is suspended on GitHub, and is
// deleted. The last two must revoke an active token under it; the change of the owner must not.
import { setSuspended } from '../../../dev/github/actions/install-app.ts'
import { installation } from '../../../src/api/github/installation.ts'
import { repositoryGrant } from '../../../src/api/github/repository-grant.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { people } from '../environment/account.ts'
import type { Environment } from '../environment/environment.ts'
import type { Scenario } from '../scenario.ts'
import { applyInstallation, sweptMilliseconds, wake } from './bindings.ts'
import { gone, patience, ready } from './waits.ts'
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

/** The role of a person in the organisation, as another owner changes it. */
function giveRole({ fixture, account: { organization } }: Environment, userId: number, role: 'admin' | 'member'): void {
  const { store } = fixture.github.context
  store.change(() => {
    const membership = organization.memberships.find(one => one.userId === userId)
    if (membership === undefined) throw new Error(`${userId} is no member`)
    membership.role = role
  })
}

export const installationStandIn: Scenario = {
  ...shared,
  name: 'installation: who bound it leaves while another owner stands in, with an active token',
  environment: withRepository,
  async prepare(environment) {
    await withActiveToken(environment)
    giveRole(environment, people.dave, 'admin')
    const proof = { method: 'OrganizationOwner', provedAt: '2026-01-01T00:00:00Z' }
    await applyInstallation(environment, { standIns: [{ id: people.dave, login: 'dave', proof }] })
    await ready(environment, installation, 'github', 'Verified')
  },
  async act(environment) {
    const key = { namespace: environment.namespace, name: 'github' }
    giveRole(environment, people.olivia, 'member')
    await wake(environment, installation, 'github', 'olivia left')
    await waitUntil(
      'dave answers for the binding',
      async () => (await environment.fixture.kube.get(installation, key))?.status?.standIn?.id === people.dave || undefined,
      patience,
    )
    await ready(environment, repositoryGrant, 'read-shop', 'Approved')
  },
  async more({ store, namespace }) {
    return { hasToken: await store.tokens.hasLive({ namespace, grantName: 'read-shop' }) }
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
