// A RemoteSync goes from a commit to a running Application, follows a push, is deleted during a build, and loses its branch. The scenario acts
// as kpack: it ends every Build of the commit.
import { waitUntil } from '../../../dev/cluster/wait-until.ts'
import { application } from '../../../src/api/apps/application.ts'
import { remoteSync } from '../../../src/api/apps/remote-sync.ts'
import { deployments } from '../../../src/api/builtin/index.ts'
import { repositoryGrant } from '../../../src/api/github/repository-grant.ts'
import { type KpackBuild, kpackBuilds } from '../../../src/builds/kpack/resources.ts'
import { findCondition } from '../../../src/kube/object/conditions.ts'
import { sharedNames, type World } from '../environment/environment.ts'
import type { Scenario } from '../scenario.ts'
import { applyChart, chartOf, image } from './application.ts'
import { bind, dave, sweptMilliseconds, wake } from './bindings.ts'
import { settleTenant } from './tenant.ts'
import { gone, patience, ready } from './waits.ts'

const clusterBuilder = { apiVersion: 'kpack.io/v1alpha2', kind: 'ClusterBuilder', plural: 'clusterbuilders', namespaced: false }

function repositoryOf(world: World) {
  const { repository } = world.account
  if (repository === undefined) throw new Error('the account of this environment has no repository')
  return repository
}

/** A commit on top of `main`; resolves with its id. */
async function push(world: World, text: string): Promise<string> {
  const { git } = world.site.github.context
  const cwd = git.pathOf(repositoryOf(world).id)
  const data = (content: string): string => `data ${Buffer.byteLength(content)}\n${content}\n`
  const head = `commit refs/heads/main\ncommitter Dave <dave@example.test> ${Math.floor(Date.now() / 1000)} +0000\n${data(text)}`
  await git.run(['fast-import', '--quiet'], {
    cwd,
    input: `${head}from refs/heads/main^0\nM 100644 inline page.txt\n${data(text)}`,
  })
  return (await git.run(['rev-parse', 'refs/heads/main'], { cwd })).trim()
}

async function deleteBranch(world: World): Promise<void> {
  const { git } = world.site.github.context
  await git.run(['update-ref', '-d', 'refs/heads/main'], { cwd: git.pathOf(repositoryOf(world).id) })
}

async function settle(world: World): Promise<void> {
  await settleTenant(world)
  await bind(world)
  await applyChart(world)
  const [builder = ''] = sharedNames
  await world.apply(clusterBuilder, builder, {})
  await world.setStatus(clusterBuilder, builder, { latestImage: 'registry.example.com/builder@sha256:1', stack: { id: 'base' } })
  await world.apply(application, 'shop', {
    spec: { chart: chartOf(world), processes: [{ name: 'web', port: 3000, replicas: 0 }] },
  })
}

function applyRemoteSync(world: World): Promise<void> {
  const spec = {
    installation: 'github',
    repository: `${world.account.organization.login}/shop`,
    source: { branch: 'main' },
    build: {},
    application: 'shop',
    requestedBy: dave,
  }
  return world.apply(remoteSync, 'shop', { spec })
}

async function buildsOf(world: World, commit: string): Promise<readonly KpackBuild[]> {
  const builds = await world.site.kube.list(kpackBuilds, { namespace: `${world.namespace}-build` })
  return builds.filter(build => build.spec.source.git?.revision === commit && build.metadata.deletionTimestamp === undefined)
}

/** Acts as kpack until the Application runs what was built from the commit. */
async function buildAndDeploy(world: World, commit: string, n: number): Promise<void> {
  const ended = { latestImage: image(n), conditions: [{ type: 'Succeeded', status: 'True' }] }
  await waitUntil(
    `commit ${commit} runs`,
    async () => {
      for (const { metadata, status } of await buildsOf(world, commit))
        if (status === undefined) await world.setStatus(kpackBuilds, metadata.name, ended, metadata.namespace)
      const found = await world.site.kube.get(remoteSync, { namespace: world.namespace, name: 'shop' })
      const condition = findCondition(found?.status?.conditions, 'Ready')
      if (found?.status?.imageCommit === commit && condition?.reason === 'Deployed') return true
      throw new Error(`${condition?.reason}: ${condition?.message}`)
    },
    patience,
  )
}

const shared = {
  controllers: ['remote-sync'],
  world: { part: 'controllers', namespace: 'tenant', github: 'repository' },
  awayMilliseconds: sweptMilliseconds,
  sees: [remoteSync, repositoryGrant, kpackBuilds, application, deployments],
} as const

export const remoteSyncScenario: Scenario = {
  ...shared,
  name: 'remote-sync: commit to Application, push',
  prepare: settle,
  async act(world) {
    const first = await push(world, 'one')
    await applyRemoteSync(world)
    await buildAndDeploy(world, first, 1)
    const second = await push(world, 'two')
    await wake(world, remoteSync, 'shop', 'second')
    await buildAndDeploy(world, second, 2)
  },
}

export const remoteSyncDeletion: Scenario = {
  ...shared,
  name: 'remote-sync: delete during a build',
  async prepare(world) {
    await settle(world)
    const commit = await push(world, 'one')
    await applyRemoteSync(world)
    await waitUntil('a build is running', async () => ((await buildsOf(world, commit)).length > 0 ? true : undefined), patience)
    await ready(world, remoteSync, 'shop', 'Building')
  },
  async act(world) {
    await world.site.kube.delete(remoteSync, { namespace: world.namespace, name: 'shop' })
    await gone(world, remoteSync, 'shop')
    await gone(world, repositoryGrant, 'remotesync-shop')
  },
}

export const remoteSyncBranchDeletion: Scenario = {
  ...shared,
  name: 'remote-sync: branch deleted',
  async prepare(world) {
    await settle(world)
    const commit = await push(world, 'one')
    await applyRemoteSync(world)
    await buildAndDeploy(world, commit, 1)
  },
  async act(world) {
    await deleteBranch(world)
    await wake(world, remoteSync, 'shop', 'deleted')
    await ready(world, remoteSync, 'shop', 'BranchNotFound')
  },
}
