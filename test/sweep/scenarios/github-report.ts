// What stands on GitHub about a RemoteSync and about a pull request of a fork, to the end of both. What is compared is GitHub:
// nothing may be there twice, and nothing may be left.
import { openPullRequest, setPullRequestState } from '../../../dev/github/actions/pull-requests/pull-requests.ts'
import { changeRepository } from '../../../dev/github/actions/repository/change.ts'
import { forkRepository } from '../../../dev/github/actions/repository/fork.ts'
import { userByLogin } from '../../../dev/github/state/github-state.ts'
import type { PullRequest } from '../../../dev/github/state/repositories.ts'
import { appPipeline } from '../../../src/api/apps/app-pipeline.ts'
import { githubReport } from '../../../src/api/apps/github-report.ts'
import { remoteSync } from '../../../src/api/apps/remote-sync.ts'
import { repositoryGrant } from '../../../src/api/github/repository-grant.ts'
import { userSubject } from '../../../src/api/names.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { people } from '../environment/account.ts'
import { type Environment, host } from '../environment/environment.ts'
import type { Scenario } from '../scenario.ts'
import { bind, sweptMilliseconds, wake } from './bindings.ts'
import { buildAndDeploy, push, repositoryOf, settle } from './remote-sync.ts'
import { settleTenant } from './tenant.ts'
import { gone, patience, ready } from './waits.ts'

/** She may write to the repository, so that a grant in her name may ask for it. */
const olivia = userSubject(host, people.olivia)

/** In the order in which GitHub got it. */
async function onGitHub(environment: Environment) {
  const { state } = environment.fixture.github.context
  const { id } = repositoryOf(environment)
  const deployments = state.deployments.filter(one => one.repositoryId === id)
  return {
    comments: state.comments.filter(one => one.repositoryId === id).map(({ body }) => /: ([^*]+)\*\*/.exec(body)?.[1]),
    statuses: state.statuses.filter(one => one.repositoryId === id).map(({ context, state: shown }) => `${context} ${shown}`),
    deployments: deployments.map(one => ({
      environment: one.environment,
      states: state.deploymentStatuses.filter(({ deploymentId }) => deploymentId === one.id).map(({ state: shown }) => shown),
    })),
  }
}

const shared = {
  controllers: ['github-report'],
  environment: { component: 'controllers', namespace: 'tenant', github: 'repository' },
  awayMilliseconds: sweptMilliseconds,
  // Two writes of a kind are ten seconds apart.
  clockRate: 5,
  periodicWrites: /configmaps sekisho-app-secrets-key$/,
  // One controller writes them one after the other: after a write is before the next one.
  shortPoints: /^after (kubernetes: \w+ githubreports|github: (POST|PATCH) \/repositories)/,
  more: onGitHub,
} as const

function applyRemoteSync(environment: Environment, report: object): Promise<void> {
  const repository = `${environment.account.organization.login}/shop`
  const source = { branch: 'main' }
  const spec = { installation: 'github', repository, source, build: {}, application: 'shop', requestedBy: olivia, ...report }
  return environment.apply(remoteSync, 'shop', { spec })
}

export const githubReportOfRemoteSync: Scenario = {
  ...shared,
  name: 'github-report: a RemoteSync begins to report, and is deleted',
  compares: [githubReport, remoteSync, repositoryGrant],
  async prepare(environment) {
    await settle(environment)
    const commit = await push(environment, 'one')
    await applyRemoteSync(environment, {})
    await buildAndDeploy(environment, commit)
  },
  async act(environment) {
    await applyRemoteSync(environment, { report: {} })
    await ready(environment, githubReport, 'remotesync-shop', 'Reported')
    await environment.fixture.kube.delete(remoteSync, { namespace: environment.namespace, name: 'shop' })
    await gone(environment, remoteSync, 'shop')
    await gone(environment, githubReport, 'remotesync-shop')
    await gone(environment, repositoryGrant, 'remotesync-shop')
  },
}

/** Noah's fork of the repository, and its pull request. */
const pulls = new WeakMap<Environment, PullRequest>()

async function openFromFork(environment: Environment): Promise<void> {
  const { context } = environment.fixture.github
  const repository = repositoryOf(environment)
  const [noah, owner] = [userByLogin(context.state, 'noah'), userByLogin(context.state, 'olivia')]
  if (noah === undefined || owner === undefined) throw new Error('the emulator has no noah or no olivia')
  await changeRepository({ context, repository, sender: owner }, { private: false })
  const wanted = { owner: noah, name: environment.prefix, defaultBranchOnly: true }
  const fork = await forkRepository({ context, repository, sender: noah }, wanted)
  const text = `data 4\nfork\n`
  const head = `commit refs/heads/change\ncommitter Noah <noah@example.test> 1767225600 +0000\n${text}`
  await context.git.run(['fast-import', '--quiet'], {
    cwd: context.git.pathOf(fork.id),
    input: `${head}from refs/heads/main^0\nM 100644 inline page.txt\n${text}`,
  })
  const opened = { title: 'Change', body: null, head: 'noah:change', seesHead: () => true, base: 'main', draft: false }
  pulls.set(environment, await openPullRequest({ context, repository, sender: noah }, opened))
}

/** Resolves when the only comment says so. */
function says(environment: Environment, state: string): Promise<boolean> {
  return waitUntil(
    `the comment says ${state}`,
    async () => {
      const { comments } = await onGitHub(environment)
      if (comments.join() === state) return true
      throw new Error(`comments: ${comments.join()}`)
    },
    patience,
  )
}

export const githubReportOfFork: Scenario = {
  ...shared,
  name: 'github-report: a pull request of a fork waits for its approval, and is closed',
  compares: [githubReport, appPipeline, repositoryGrant],
  async prepare(environment) {
    await settleTenant(environment)
    await bind(environment)
    await openFromFork(environment)
  },
  async act(environment) {
    const spec = {
      installation: 'github',
      repository: `${environment.account.organization.login}/shop`,
      requestedBy: olivia,
      template: { application: { processes: [{ name: 'web', port: 3000 }] }, build: {} },
      policy: { forks: 'Approved' },
    }
    await environment.apply(appPipeline, 'shop', { spec })
    await says(environment, 'waiting for an approval')
    const pull = pulls.get(environment)
    const { context } = environment.fixture.github
    const sender = userByLogin(context.state, 'noah')
    if (pull === undefined || sender === undefined) throw new Error('there is no pull request')
    // Its status, too: a state that ends before it is written is skipped.
    await ready(environment, githubReport, `apppipeline-shop-pr-${pull.number}`, 'Reported')
    await setPullRequestState({ context, repository: repositoryOf(environment), sender }, pull, 'closed')
    await wake(environment, appPipeline, 'shop', 'closed')
    await says(environment, 'destroyed')
    await gone(environment, githubReport, `apppipeline-shop-pr-${pull.number}`)
  },
}
