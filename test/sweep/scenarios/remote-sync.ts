// A RemoteSync goes from a commit to a running Application, follows a push, is deleted during a build, and loses its branch.
// The scenario acts as kpack: it ends every Build of the commit.
import { mergePullRequest } from '../../../dev/github/actions/pull-requests/merge.ts'
import { openPullRequest, setPullRequestState } from '../../../dev/github/actions/pull-requests/pull-requests.ts'
import { userById } from '../../../dev/github/state/github-state.ts'
import { application } from '../../../src/api/apps/application.ts'
import { remoteSync } from '../../../src/api/apps/remote-sync.ts'
import { deployments, pods } from '../../../src/api/builtin/index.ts'
import { repositoryGrant } from '../../../src/api/github/repository-grant.ts'
import { findCondition } from '../../../src/kube/object/conditions.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { clusterBuilders, type KpackBuild, kpackBuilds } from '../../../src/services/builds/kpack/resources.ts'
import { people } from '../environment/account.ts'
import { builderName, type Environment, podBuilderName } from '../environment/environment.ts'
import type { Scenario } from '../scenario.ts'
import { applyChart, chartOf } from './application.ts'
import { bind, dave, sweptMilliseconds, wake } from './bindings.ts'
import { settleTenant } from './tenant.ts'
import { gone, patience, ready } from './waits.ts'

/** On which the builder builds. */
export const presentRunImage = `sha256:${'b'.repeat(64)}`

/** `<organisation>/shop`. */
export function repositoryOf(environment: Environment) {
  const { repository } = environment.account
  if (repository === undefined) throw new Error('the account of this environment has no repository')
  return repository
}

/** A commit on top of `main`, on this branch; resolves with its id. */
export async function push(environment: Environment, text: string, branch = 'main'): Promise<string> {
  const { git } = environment.fixture.github.context
  const cwd = git.pathOf(repositoryOf(environment).id)
  const data = (content: string): string => `data ${Buffer.byteLength(content)}\n${content}\n`
  const head = `commit refs/heads/${branch}\ncommitter Dave <dave@example.test> ${Math.floor(Date.now() / 1000)} +0000\n${data(text)}`
  await git.run(['fast-import', '--quiet'], {
    cwd,
    input: `${head}from refs/heads/main^0\nM 100644 inline page.txt\n${data(text)}`,
  })
  return (await git.run(['rev-parse', `refs/heads/${branch}`], { cwd })).trim()
}

async function deleteBranch(environment: Environment): Promise<void> {
  const { git } = environment.fixture.github.context
  await git.run(['update-ref', '-d', 'refs/heads/main'], { cwd: git.pathOf(repositoryOf(environment).id) })
}

/** A tenant with its Installation, a chart, a builder and the Application `shop`. */
export async function settle(environment: Environment): Promise<void> {
  await settleTenant(environment)
  await bind(environment)
  await applyChart(environment)
  const builder = builderName(environment.prefix)
  await environment.apply(clusterBuilders, builder, {})
  await environment.setStatus(clusterBuilders, builder, {
    latestImage: 'registry.example.com/builder@sha256:1',
    stack: { id: 'base', runImage: `registry.example.com/run@${presentRunImage}` },
  })
  await applyApplication(environment, 'shop')
}

export function applyApplication(environment: Environment, name: string): Promise<void> {
  return environment.apply(application, name, {
    spec: { chart: chartOf(environment), processes: [{ name: 'web', port: 3000, replicas: 0 }] },
  })
}

export function applyRemoteSync(environment: Environment, build: object = {}, name = 'shop', more: object = {}): Promise<void> {
  const spec = {
    installation: 'github',
    repository: `${environment.account.organization.login}/shop`,
    source: { branch: 'main' },
    build,
    application: name,
    requestedBy: dave,
    ...more,
  }
  return environment.apply(remoteSync, name, { spec })
}

export async function buildsOf(environment: Environment, commit: string): Promise<readonly KpackBuild[]> {
  const builds = await environment.fixture.kube.list(kpackBuilds, { namespace: `${environment.namespace}-build` })
  return builds.filter(build => build.spec.source.git?.revision === commit && build.metadata.deletionTimestamp === undefined)
}

/** The image that kpack makes of the commit, always the same. */
export const builtImage = ({ fixture, namespace }: Environment, commit: string, name = 'shop'): string =>
  fixture.registry.publish(`apps/${namespace}/${name}`, commit)

/** Acts as kpack: the builds of the commit have ended. */
export async function endBuilds(environment: Environment, commit: string, latestImage: string): Promise<void> {
  const ended = { latestImage, conditions: [{ type: 'Succeeded', status: 'True' }] }
  const running = (await buildsOf(environment, commit)).filter(({ status }) => status === undefined)
  for (const { metadata } of running) await environment.setStatus(kpackBuilds, metadata.name, ended, metadata.namespace)
}

/** Acts as kpack until the Application runs what was built from the commit. */
export async function buildAndDeploy(environment: Environment, commit: string, name = 'shop'): Promise<string> {
  const latestImage = builtImage(environment, commit, name)
  await waitUntil(
    `commit ${commit} runs`,
    async () => {
      await endBuilds(environment, commit, latestImage)
      const found = await environment.fixture.kube.get(remoteSync, { namespace: environment.namespace, name })
      const condition = findCondition(found?.status?.conditions, 'Ready')
      if (found?.status?.imageCommit === commit && condition?.reason === 'Deployed') return true
      throw new Error(`${condition?.reason}: ${condition?.message}`)
    },
    patience,
  )
  return latestImage
}

/** Dave in the repository of the environment. */
export function actionOf(environment: Environment) {
  const { context } = environment.fixture.github
  const sender = userById(context.state, people.dave)
  if (sender === undefined) throw new Error('the emulator has no dave')
  return { context, repository: repositoryOf(environment), sender }
}

/** A pull request with one commit on top of `main`. */
export async function openPull(environment: Environment, branch: string) {
  const head = await push(environment, branch, branch)
  const opened = { title: branch, body: null, head: branch, seesHead: () => true, base: 'main', draft: false }
  return { head, pull: await openPullRequest(actionOf(environment), opened) }
}

export const shared = {
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

/** The pod that builds the commit; undefined while there is none. */
async function buildPod(environment: Environment, commit: string) {
  const found = await environment.fixture.kube.list(pods, { namespace: `${environment.namespace}-build` })
  return found.find(pod => JSON.stringify(pod.spec).includes(commit) && pod.metadata.deletionTimestamp === undefined)
}

/** Acts as the kubelet until the Application runs the commit: it ends the pod with the digest that this container reported. */
async function buildInPod(environment: Environment, commit: string, container: string): Promise<void> {
  const ended = { exitCode: 0, message: builtImage(environment, commit).split('@')[1] }
  const status = { name: container, ready: false, restartCount: 0, image: '', imageID: '', state: { terminated: ended } }
  const succeeded = { phase: 'Succeeded', containerStatuses: [status] }
  await waitUntil(
    `commit ${commit} runs`,
    async () => {
      const pod = await buildPod(environment, commit)
      if (pod !== undefined && pod.status?.phase !== 'Succeeded')
        await environment.setStatus(pods, pod.metadata.name, succeeded, pod.metadata.namespace)
      const found = await environment.fixture.kube.get(remoteSync, { namespace: environment.namespace, name: 'shop' })
      const condition = findCondition(found?.status?.conditions, 'Ready')
      if (found?.status?.imageCommit === commit && condition?.reason === 'Deployed') return true
      throw new Error(`${condition?.reason}: ${condition?.message}`)
    },
    patience,
  )
}

const inPods = { ...shared, compares: [remoteSync, repositoryGrant, pods, application, deployments] } as const

export const remoteSyncDockerfile: Scenario = {
  ...inPods,
  name: 'remote-sync: Dockerfile to Application',
  prepare: settle,
  async act(environment) {
    const commit = await push(environment, 'one')
    await applyRemoteSync(environment, { strategy: 'Dockerfile' })
    await buildInPod(environment, commit, 'build')
  },
}

export const remoteSyncBuildpacksPod: Scenario = {
  ...inPods,
  name: 'remote-sync: buildpacks in a pod to Application',
  // The other writes are those of a Dockerfile build.
  shortPoints: /^(before|after) kubernetes: create pods|^after kubernetes: patch remotesyncs\/status/,
  async prepare(environment) {
    await settle(environment)
    const builder = podBuilderName(environment.prefix)
    await environment.apply(clusterBuilders, builder, {})
    await environment.setStatus(clusterBuilders, builder, {
      latestImage: environment.fixture.registry.publishBuilder('cnb/builder'),
      stack: { id: 'base', runImage: `registry.example.com/run@${presentRunImage}` },
    })
  },
  async act(environment) {
    const commit = await push(environment, 'one')
    await applyRemoteSync(environment, { builder: 'pods' })
    await buildInPod(environment, commit, 'export')
  },
}

/** The branch takes the image of the preview; nothing is built from the merge. */
export const remoteSyncPromotion: Scenario = {
  ...shared,
  name: 'remote-sync: preview promoted by a merge',
  // Builds have scenarios of their own.
  shortPoints: /^after kubernetes: patch (applications|remotesyncs\/status) shop/,
  async prepare(environment) {
    await settle(environment)
    const first = await push(environment, 'one')
    await applyRemoteSync(environment)
    await buildAndDeploy(environment, first)
  },
  async act(environment) {
    const { head, pull } = await openPull(environment, 'feature')
    await applyApplication(environment, 'preview')
    await applyRemoteSync(environment, {}, 'preview', { source: { pullRequest: pull.number } })
    const image = await buildAndDeploy(environment, head, 'preview')
    await mergePullRequest(actionOf(environment), pull, { method: 'squash' })
    await wake(environment, remoteSync, 'shop', 'merged')
    const { status } = await ready(environment, remoteSync, 'shop', 'Promoted')
    if (status?.image !== image) throw new Error(`shop runs ${status?.image}, not ${image}`)
    // As the webhook of the merge does; a process that was restarted asks by itself.
    await wake(environment, remoteSync, 'preview', 'merged')
    await ready(environment, remoteSync, 'preview', 'PullRequestClosed')
  },
}

export const remoteSyncClosedPull: Scenario = {
  ...shared,
  name: 'remote-sync: pull request closed during its build',
  shortPoints: /^after kubernetes: (patch remotesyncs\/status|(create|delete) builds)/,
  prepare: settle,
  async act(environment) {
    const { head, pull } = await openPull(environment, 'feature')
    await applyRemoteSync(environment, {}, 'shop', { source: { pullRequest: pull.number } })
    await waitUntil(
      'a build is running',
      async () => ((await buildsOf(environment, head)).length > 0 ? true : undefined),
      patience,
    )
    // What it has noted of a build whose end comes while it is away is not asked for.
    await ready(environment, remoteSync, 'shop', 'Building')
    await setPullRequestState(actionOf(environment), pull, 'closed')
    await wake(environment, remoteSync, 'shop', 'closed')
    await ready(environment, remoteSync, 'shop', 'PullRequestClosed')
    await waitUntil(
      'the build is gone',
      async () => ((await buildsOf(environment, head)).length === 0 ? true : undefined),
      patience,
    )
  },
}
