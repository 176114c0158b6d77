// An AppPipeline makes a preview of a pull request, gives its only place to another one, and removes that one when it is
// closed; another AppPipeline is deleted with its previews. The scenario acts as kpack.
import { setPullRequestState } from '../../../dev/github/actions/pull-requests/pull-requests.ts'
import { appPipeline } from '../../../src/api/apps/app-pipeline.ts'
import { application } from '../../../src/api/apps/application.ts'
import { remoteSync } from '../../../src/api/apps/remote-sync.ts'
import { repositoryGrant } from '../../../src/api/github/repository-grant.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { kpackBuilds } from '../../../src/services/builds/kpack/resources.ts'
import type { Environment } from '../environment/environment.ts'
import type { Scenario } from '../scenario.ts'
import { chartOf } from './application.ts'
import { dave, sweptMilliseconds, wake } from './bindings.ts'
import { endJob } from './release.ts'
import { actionOf, buildAndDeploy, builtImage, openPull, settle } from './remote-sync.ts'
import { gone, patience } from './waits.ts'

function applyPipeline(environment: Environment, more: object = {}): Promise<void> {
  const spec = {
    installation: 'github',
    repository: `${environment.account.organization.login}/shop`,
    requestedBy: dave,
    template: {
      application: { chart: chartOf(environment), processes: [{ name: 'web', port: 3000, replicas: 0 }] },
      build: {},
    },
    limits: { previews: 1 },
    report: false,
    ...more,
  }
  return environment.apply(appPipeline, 'shop', { spec })
}

/** Waits for rows of these states, by number, and nothing else. */
async function rows(environment: Environment, states: Readonly<Record<number, string>>): Promise<void> {
  await waitUntil(
    `rows ${JSON.stringify(states)}`,
    async () => {
      const found = await environment.fixture.kube.get(appPipeline, { namespace: environment.namespace, name: 'shop' })
      const present = Object.fromEntries((found?.status?.previews ?? []).map(({ number, state }) => [number, state]))
      if (JSON.stringify(present) === JSON.stringify(states)) return true
      throw new Error(JSON.stringify([found?.status?.previews, found?.status?.conditions]))
    },
    patience,
  )
}

const shared = {
  controllers: ['app-pipeline'],
  environment: { component: 'controllers', namespace: 'tenant', github: 'repository' },
  awayMilliseconds: sweptMilliseconds,
  compares: [appPipeline, application, remoteSync, repositoryGrant, kpackBuilds],
  prepare: settle,
  shortPoints:
    /^after kubernetes: (patch apppipelines(\/status)? shop|create repositorygrants|(patch|delete) (applications|remotesyncs) shop-pr-\d+)$/,
} as const

export const appPipelineScenario: Scenario = {
  ...shared,
  name: 'app-pipeline: a preview for each open pull request, as many as the limit allows',
  async act(environment) {
    const one = await openPull(environment, 'one')
    await applyPipeline(environment)
    await buildAndDeploy(environment, one.head, `shop-pr-${one.pull.number}`)
    await rows(environment, { [one.pull.number]: 'Running' })
    const two = await openPull(environment, 'two')
    await wake(environment, appPipeline, 'shop', 'second')
    await buildAndDeploy(environment, two.head, `shop-pr-${two.pull.number}`)
    await rows(environment, { [one.pull.number]: 'LeftOut', [two.pull.number]: 'Running' })
    await gone(environment, application, `shop-pr-${one.pull.number}`)
    for (const { pull } of [one, two]) await setPullRequestState(actionOf(environment), pull, 'closed')
    await wake(environment, appPipeline, 'shop', 'closed')
    await rows(environment, {})
    await gone(environment, application, `shop-pr-${two.pull.number}`)
  },
}

export const appPipelineDeletion: Scenario = {
  ...shared,
  name: 'app-pipeline: delete with a preview that begins and ends with a hook',
  async act(environment) {
    const { head, pull } = await openPull(environment, 'one')
    const hook = (command: string) => ({ command: [command], timeoutSeconds: 900 })
    await applyPipeline(environment, { hooks: { created: hook('seed'), deleted: hook('drop') } })
    const name = `shop-pr-${pull.number}`
    const image = builtImage(environment, head, name)
    await Promise.all([buildAndDeploy(environment, head, name), endJob(environment, image)])
    await rows(environment, { [pull.number]: 'Running' })
    await environment.fixture.kube.delete(appPipeline, { namespace: environment.namespace, name: 'shop' })
    await endJob(environment, image)
    await gone(environment, appPipeline, 'shop')
    await gone(environment, application, name)
    await gone(environment, remoteSync, name)
  },
}
