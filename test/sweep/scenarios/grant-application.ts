// A grant for an Application: its ServiceAccount comes with the approval, and its pods run under it; with the grant it goes, and
// so it does with the Application, of which another one of that name is not meant.
import { application } from '../../../src/api/apps/application.ts'
import { deployments, serviceAccounts } from '../../../src/api/builtin/index.ts'
import { repositoryGrant } from '../../../src/api/github/repository-grant.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import type { Environment } from '../environment/environment.ts'
import type { Scenario } from '../scenario.ts'
import { applyApplication, applyChart, image } from './application.ts'
import { applyGrant, bind, sweptMilliseconds } from './bindings.ts'
import { gone, patience, ready } from './waits.ts'

const account = 'sekisho-app-shop'
// The control plane of the sweep runs no pods.
const processes = [{ name: 'web', port: 3000, replicas: 0 }]
const subjects = [{ kind: 'Application', name: 'shop' }]

async function runs(environment: Environment): Promise<void> {
  await applyApplication(environment, { processes, image: image(1) })
  await ready(environment, application, 'shop', 'Available')
}

/** The Deployment runs its pods under that account; undefined: under that of the namespace. */
async function podsUnder(environment: Environment, expected: string | undefined): Promise<void> {
  const { fixture, namespace } = environment
  await waitUntil(
    `the pods are under ${expected}`,
    async () => {
      const found = await fixture.kube.get(deployments, { namespace, name: 'shop-web' })
      return found !== undefined && found.spec?.template.spec?.serviceAccountName === expected
    },
    patience,
  )
  await ready(environment, application, 'shop', 'Available')
}

async function granted(environment: Environment): Promise<void> {
  await applyGrant(environment, subjects)
  await ready(environment, repositoryGrant, 'read-shop', 'Approved')
  await podsUnder(environment, account)
}

const shared = {
  controllers: ['application', 'repository-grant'],
  environment: { component: 'controllers', namespace: 'made', github: 'repository' },
  awayMilliseconds: sweptMilliseconds,
  compares: [application, deployments, repositoryGrant],
} as const

export const grantForApplication: Scenario = {
  ...shared,
  name: 'repository-grant: for an Application, create and delete',
  async prepare(environment) {
    await bind(environment)
    await applyChart(environment)
    await runs(environment)
  },
  async act(environment) {
    await granted(environment)
    await environment.fixture.kube.delete(repositoryGrant, { namespace: environment.namespace, name: 'read-shop' })
    await gone(environment, repositoryGrant, 'read-shop')
    await podsUnder(environment, 'default')
    await gone(environment, serviceAccounts, account)
  },
}

export const grantOfReplacedApplication: Scenario = {
  ...shared,
  name: 'repository-grant: for an Application that is deleted and created again',
  async prepare(environment) {
    await bind(environment)
    await applyChart(environment)
    await runs(environment)
    await granted(environment)
  },
  async act(environment) {
    await environment.fixture.kube.delete(application, { namespace: environment.namespace, name: 'shop' })
    await gone(environment, application, 'shop')
    await ready(environment, repositoryGrant, 'read-shop', 'ApplicationNotFound')
    await gone(environment, serviceAccounts, account)
    await gone(environment, deployments, 'shop-web')
    await runs(environment)
    await ready(environment, repositoryGrant, 'read-shop', 'ApplicationReplaced')
    await podsUnder(environment, undefined)
  },
}
