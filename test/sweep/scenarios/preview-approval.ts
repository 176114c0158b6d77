// A commit of a fork waits, its owner's comment and a stranger's count for nothing, and the comment of somebody who may write
// to the repository becomes a PreviewApproval; a push makes another commit, which waits again.
import { createComment } from '../../../dev/github/actions/pull-requests/comments.ts'
import { openPullRequest } from '../../../dev/github/actions/pull-requests/pull-requests.ts'
import { recordPush } from '../../../dev/github/actions/record-push.ts'
import { forkRepository } from '../../../dev/github/actions/repository/fork.ts'
import { noCommit } from '../../../dev/github/git/ref-update.ts'
import { userByLogin } from '../../../dev/github/state/github-state.ts'
import type { PullRequest, Repository } from '../../../dev/github/state/repositories.ts'
import { appPipeline } from '../../../src/api/apps/app-pipeline.ts'
import { previewApproval } from '../../../src/api/apps/preview-approval.ts'
import { findCondition } from '../../../src/kube/object/conditions.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import type { Environment } from '../environment/environment.ts'
import type { Scenario } from '../scenario.ts'
import { chartOf } from './application.ts'
import { dave, sweptMilliseconds, wake } from './bindings.ts'
import { actionOf, settle } from './remote-sync.ts'
import { patience } from './waits.ts'

/** Acts as this person in the repository of the environment. */
function actionAs(environment: Environment, login: string) {
  const sender = userByLogin(environment.fixture.github.context.state, login)
  if (sender === undefined) throw new Error(`the emulator has no ${login}`)
  return { ...actionOf(environment), sender }
}

const ref = 'refs/heads/work'

/** A commit of noah on his branch; resolves with its id. */
export async function push(environment: Environment, fork: Repository, text: string, before: string): Promise<string> {
  const action = { ...actionAs(environment, 'noah'), repository: fork }
  const { git } = action.context
  const cwd = git.pathOf(fork.id)
  const data = (content: string): string => `data ${Buffer.byteLength(content)}\n${content}\n`
  const head = `commit ${ref}\ncommitter Noah <noah@example.test> ${Math.floor(Date.now() / 1000)} +0000\n${data(text)}`
  const from = before === noCommit ? 'refs/heads/main^0' : before
  await git.run(['fast-import', '--quiet'], { cwd, input: `${head}from ${from}\nM 100644 inline page.txt\n${data(text)}` })
  const after = (await git.run(['rev-parse', ref], { cwd })).trim()
  await recordPush(action, [{ ref, before, after }])
  return after
}

/** A pull request of noah from his fork. */
export async function openFork(environment: Environment): Promise<{ readonly fork: Repository; readonly pull: PullRequest }> {
  const action = actionAs(environment, 'noah')
  const name = environment.account.organization.login
  const fork = await forkRepository(action, { owner: action.sender, name, defaultBranchOnly: true })
  await push(environment, fork, 'one', noCommit)
  const opened = { title: 'work', body: null, head: 'noah:work', seesHead: () => true, base: 'main', draft: false }
  return { fork, pull: await openPullRequest(action, opened) }
}

/** Waits until the commit waits, and its approvals are these: the reason of each. */
async function waits(environment: Environment, commit: string): Promise<void> {
  await waitUntil(
    `commit ${commit} waits`,
    async () => {
      const found = await environment.fixture.kube.get(appPipeline, { namespace: environment.namespace, name: 'shop' })
      const [row] = found?.status?.previews ?? []
      if (row?.headCommit === commit && row.state === 'WaitingForApproval') return true
      throw new Error(JSON.stringify([row, found?.status?.conditions]))
    },
    patience,
  )
}

async function approvals(environment: Environment, reasons: readonly string[]): Promise<void> {
  await waitUntil(
    `approvals ${reasons}`,
    async () => {
      const found = await environment.fixture.kube.list(previewApproval, { namespace: environment.namespace })
      const present = found.map(({ status }) => findCondition(status?.conditions, 'Ready')?.reason ?? 'none')
      if (present.join() === reasons.join()) return true
      throw new Error(`${present}`)
    },
    patience,
  )
}

export const previewApprovalScenario: Scenario = {
  name: 'preview-approval: a comment approves a commit, a push supersedes it',
  controllers: ['preview-approval'],
  environment: { component: 'controllers', namespace: 'tenant', github: 'repository' },
  awayMilliseconds: sweptMilliseconds,
  compares: [previewApproval],
  prepare: settle,
  // Before it is created the audit log has it.
  shortPoints: /^(before|after) kubernetes: (create|patch|delete) previewapprovals[^(]*$/,
  async act(environment) {
    const { fork, pull } = await openFork(environment)
    const spec = {
      installation: 'github',
      repository: `${environment.account.organization.login}/shop`,
      requestedBy: dave,
      template: { application: { chart: chartOf(environment) } },
      policy: { forks: 'Approved' },
      report: false,
    }
    await environment.apply(appPipeline, 'shop', { spec })
    const first = pull.head.sha
    await waits(environment, first)
    for (const login of ['noah', 'mia', 'olivia'])
      createComment(actionAs(environment, login), pull.number, `/sekisho approve ${first}`)
    await wake(environment, appPipeline, 'shop', 'said')
    await approvals(environment, ['Approved'])
    const second = await push(environment, fork, 'two', first)
    await wake(environment, appPipeline, 'shop', 'pushed')
    await waits(environment, second)
    await approvals(environment, ['Superseded'])
  },
}
