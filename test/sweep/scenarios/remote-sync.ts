// A RemoteSync goes from a commit to a running Application, follows a push, is deleted during a build, and loses its branch. The scenario acts
// as kpack: it ends every Build of the commit.
import { waitUntil } from '../../../dev/cluster/wait-until.ts'
import { application } from '../../../src/api/apps/application.ts'
import { remoteSync } from '../../../src/api/apps/remote-sync.ts'
import { deployments } from '../../../src/api/builtin/index.ts'
import { repositoryGrant } from '../../../src/api/github/repository-grant.ts'
import { type KpackBuild, kpackBuilds } from '../../../src/builds/kpack/resources.ts'
import { findCondition } from '../../../src/kube/object/conditions.ts'
import { type Environment, sharedNames } from '../environment/environment.ts'
import type { Scenario } from '../scenario.ts'
import { applyChart, chartOf } from './application.ts'
import { bind, dave, sweptMilliseconds, wake } from './bindings.ts'
import { settleTenant } from './tenant.ts'
import { gone, patience, ready } from './waits.ts'

const clusterBuilder = { apiVersion: 'kpack.io/v1alpha2', kind: 'ClusterBuilder', plural: 'clusterbuilders', namespaced: false }

function repositoryOf(environment: Environment) {
  const { repository } = environment.account
  if (repository === undefined) throw new Error('the account of this environment has no repository')
  return repository
}

/** A commit on top of `main`; resolves with its id. */
async function push(environment: Environment, text: string): Promise<string> {
  const { git } = environment.fixture.github.context
  const cwd = git.pathOf(repositoryOf(environment).id)
  const data = (content: string): string => `data ${Buffer.byteLength(content)}\n${content}\n`
  const head = `commit refs/heads/main\ncommitter Dave <dave@example.test> ${Math.floor(Date.now() / 1000)} +0000\n${data(text)}`
  await git.run(['fast-import', '--quiet'], {
    cwd,
    input: `${head}from refs/heads/main^0\nM 100644 inline page.txt\n${data(text)}`,
  })
  return (await git.run(['rev-parse', 'refs/heads/main'], { cwd })).trim()
}

async function deleteBranch(environment: Environment): Promise<void> {
  const { git } = environment.fixture.github.context
  await git.run(['update-ref', '-d', 'refs/heads/main'], { cwd: git.pathOf(repositoryOf(environment).id) })
}

async function settle(environment: Environment): Promise<void> {
  await settleTenant(environment)
  await bind(environment)
  await applyChart(environment)
  const [builder = ''] = sharedNames
  await environment.apply(clusterBuilder, builder, {})
  await environment.setStatus(clusterBuilder, builder, {
    latestImage: 'registry.example.com/builder@sha256:1',
    stack: { id: 'base' },
  })
  await environment.apply(application, 'shop', {
    spec: { chart: chartOf(environment), processes: [{ name: 'web', port: 3000, replicas: 0 }] },
  })
}

function applyRemoteSync(environment: Environment): Promise<void> {
  const spec = {
    installation: 'github',
    repository: `${environment.account.organization.login}/shop`,
    source: { branch: 'main' },
    build: {},
    application: 'shop',
    requestedBy: dave,
  }
  return environment.apply(remoteSync, 'shop', { spec })
}

async function buildsOf(environment: Environment, commit: string): Promise<readonly KpackBuild[]> {
  const builds = await environment.fixture.kube.list(kpackBuilds, { namespace: `${environment.namespace}-build` })
  return builds.filter(build => build.spec.source.git?.revision === commit && build.metadata.deletionTimestamp === undefined)
}

/** Acts as kpack until the Application runs what was built from the commit. */
async function buildAndDeploy(environment: Environment, commit: string): Promise<void> {
  const latestImage = environment.fixture.registry.publish(`apps/${environment.namespace}/shop`, commit)
  const ended = { latestImage, conditions: [{ type: 'Succeeded', status: 'True' }] }
  await waitUntil(
    `commit ${commit} runs`,
    async () => {
      for (const { metadata, status } of await buildsOf(environment, commit))
        if (status === undefined) await environment.setStatus(kpackBuilds, metadata.name, ended, metadata.namespace)
      const found = await environment.fixture.kube.get(remoteSync, { namespace: environment.namespace, name: 'shop' })
      const condition = findCondition(found?.status?.conditions, 'Ready')
      if (found?.status?.imageCommit === commit && condition?.reason === 'Deployed') return true
      throw new Error(`${condition?.reason}: ${condition?.message}`)
    },
    patience,
  )
}

const shared = {
  controllers: ['remote-sync'],
  environment: { component: 'controllers', namespace: 'tenant', github: 'repository' },
  awayMilliseconds: sweptMilliseconds,
  compares: [remoteSync, repositoryGrant, kpackBuilds, application, deployments],
} as const

export const remoteSyncScenario: Scenario = {
  ...shared,
  name: 'remote-sync: commit to Application, push',
  prepare: settle,
  async act(environment) {
    const first = await push(environment, 'one')
    await applyRemoteSync(environment)
    await buildAndDeploy(environment, first)
    const second = await push(environment, 'two')
    await wake(environment, remoteSync, 'shop', 'second')
    await buildAndDeploy(environment, second)
  },
}

export const remoteSyncDeletion: Scenario = {
  ...shared,
  name: 'remote-sync: delete during a build',
  async prepare(environment) {
    await settle(environment)
    const commit = await push(environment, 'one')
    await applyRemoteSync(environment)
    await waitUntil(
      'a build is running',
      async () => ((await buildsOf(environment, commit)).length > 0 ? true : undefined),
      patience,
    )
    await ready(environment, remoteSync, 'shop', 'Building')
  },
  async act(environment) {
    await environment.fixture.kube.delete(remoteSync, { namespace: environment.namespace, name: 'shop' })
    await gone(environment, remoteSync, 'shop')
    await gone(environment, repositoryGrant, 'remotesync-shop')
  },
}

export const remoteSyncBranchDeletion: Scenario = {
  ...shared,
  name: 'remote-sync: branch deleted',
  async prepare(environment) {
    await settle(environment)
    const commit = await push(environment, 'one')
    await applyRemoteSync(environment)
    await buildAndDeploy(environment, commit)
  },
  async act(environment) {
    await deleteBranch(environment)
    await wake(environment, remoteSync, 'shop', 'deleted')
    await ready(environment, remoteSync, 'shop', 'BranchNotFound')
  },
}
