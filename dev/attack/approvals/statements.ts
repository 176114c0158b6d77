// What is said on pull requests from a fork and must approve nothing: by bots, by edited and deleted comments, by those who
// have lost their rights, about other commits and pull requests. Each is said after dave’s own approval, which counts as soon
// as he may write: whoever spoke last is asked first, so that the approval would name somebody else if one of these counted.
import { setTimeout as pause } from 'node:timers/promises'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { neighbourNamespace } from '../../demo/context.ts'
import { type Attack, type Attempt, endingWith } from '../attack.ts'
import { groupPath } from '../cluster/api-attempts.ts'
import { github } from '../deputies/fork-pull-request.ts'
import { judgeApi } from '../judge.ts'
import { stopped, succeeded, type Verdict } from '../verdict.ts'
import type { World } from '../world/world.ts'
import {
  type Bot,
  comment,
  type Discussed,
  openBot,
  openPullRequests,
  pushNext,
  removeRepository,
  repository,
} from './forked-repository.ts'

const apps = 'apps.sekisho.dev/v1alpha1'
const pipelines = groupPath(apps, neighbourNamespace, 'apppipelines')
const approvals = groupPath(apps, neighbourNamespace, 'previewapprovals')
const pipeline = 'attack-approvals'
/** dave’s numeric id on GitHub. */
const dave = 1002
/** Of an answer to a webhook, on a busy machine; GitHub is asked about a pull request at most every five seconds. */
const seconds = 90

type Stage = { readonly world: World; readonly bot: Bot; readonly pull: Discussed; readonly others: readonly Discussed[] }
type Statement = {
  readonly branch: string
  readonly what: string
  /** The head that it is about has not been pushed when it is said. */
  readonly ahead?: true
  readonly say: (stage: Stage, commit: string) => Promise<void>
}

const approve = (commit: string): string => `/sekisho approve ${commit}`
/** GitHub says to the second when a comment was written and changed. */
const nextSecond = 1100

const edit = (world: World, login: string, id: number, body: string) =>
  github(world, login, `PATCH /repos/${repository}/issues/comments/${id}`, { body: { body } })

async function asWriter(world: World, login: string, act: () => Promise<unknown>): Promise<void> {
  const permit = (permission: string) =>
    github(world, 'gary', `PUT /repos/${repository}/collaborators/${login}`, { body: { permission } })
  await permit('push')
  await act()
  await permit('pull')
}

function otherForms(commit: string): readonly string[] {
  return [
    `> ${approve(commit)}`,
    `Fine.\n${approve(commit)}`,
    `\`\`\`\n${approve(commit)}\n\`\`\``,
    ` ${approve(commit)}`,
    `\u200b${approve(commit)}`,
    approve(commit.slice(0, 39)),
    approve(commit.toUpperCase()),
    `${approve(commit)} not`,
    `/sekisho approve\u00a0${commit}`,
    `/Sekisho approve ${commit}`,
    `<!-- -->${approve(commit)}`,
  ]
}

const statements: readonly Statement[] = [
  {
    branch: 'bot',
    what: 'a bot comments, and approves by a review',
    async say({ bot, pull: { number } }, commit) {
      await bot(`POST /repos/${repository}/issues/${number}/comments`, { body: approve(commit) })
      await bot(`POST /repos/${repository}/pulls/${number}/reviews`, { event: 'APPROVE', commit_id: commit })
    },
  },
  {
    branch: 'edited',
    what: 'gary edits a comment of his into an approval',
    async say({ world, pull }, commit) {
      const { id } = await comment(world, 'gary', pull.number, 'Looks good.')
      await pause(nextSecond)
      await edit(world, 'gary', id, approve(commit))
    },
  },
  {
    branch: 'edited-by-another',
    what: 'olivia, who may write for a moment, edits gary’s comment into an approval',
    async say({ world, pull }, commit) {
      const { id } = await comment(world, 'gary', pull.number, approve('0'.repeat(40)))
      await pause(nextSecond)
      await asWriter(world, 'olivia', () => edit(world, 'olivia', id, approve(commit)))
    },
  },
  {
    branch: 'elsewhere',
    what: 'gary approves the commit on another pull request',
    async say({ world, others }, commit) {
      for (const { number } of others.slice(0, 2)) await comment(world, 'gary', number, approve(commit))
    },
  },
  {
    branch: 'forms',
    what: 'gary writes the command in other forms: quoted, in the second line, short, in capitals',
    async say({ world, pull }, commit) {
      for (const body of otherForms(commit)) await comment(world, 'gary', pull.number, body)
    },
  },
  {
    branch: 'deleted',
    what: 'gary deletes his approval before the commit is pushed',
    ahead: true,
    async say({ world, pull }, commit) {
      const { id } = await comment(world, 'gary', pull.number, approve(commit))
      await github(world, 'gary', `DELETE /repos/${repository}/issues/comments/${id}`)
    },
  },
  {
    branch: 'before-push',
    what: 'gary approves the head by a review, and another commit is pushed',
    ahead: true,
    async say({ world, pull }) {
      const body = { event: 'APPROVE', commit_id: pull.head }
      await github(world, 'gary', `POST /repos/${repository}/pulls/${pull.number}/reviews`, { body })
    },
  },
  {
    branch: 'lost',
    what: 'mia approves while she may write, and the commit is pushed when she may not any more',
    ahead: true,
    async say({ world, pull }, commit) {
      await asWriter(world, 'mia', () => comment(world, 'mia', pull.number, approve(commit)))
    },
  },
]

type Approval = { readonly spec: { readonly headCommit: string; readonly by: { readonly id: number }; readonly via: string } }

/** Whoever but dave approved is harm. */
export function judgeApprovals(found: readonly Approval['spec'][]): Verdict {
  const others = found.filter(({ by, via }) => by.id !== dave || via !== 'Comment')
  if (others.length > 0) return succeeded(JSON.stringify(others))
  return stopped('controller', `${found.length} approval, by dave alone, whose comment is older`)
}

async function approvalsOf(world: World, commit: string): Promise<readonly Approval['spec'][] | undefined> {
  const { items } = (await world.admin.call('GET', approvals)) as { readonly items: readonly Approval[] }
  const found = items.map(({ spec }) => spec).filter(({ headCommit }) => headCommit === commit)
  return found.length === 0 ? undefined : found
}

/** Everything is said before dave may write; then the pushes that were held back follow. */
async function speak(world: World): Promise<ReadonlyMap<string, string>> {
  const pulls = await openPullRequests(
    world,
    statements.map(({ branch }) => branch),
  )
  await world.journal.note({ kind: 'object', path: `${pipelines}/${pipeline}` })
  const template = { application: { processes: [{ name: 'web', port: 3000, memory: '64Mi' }] } }
  const spec = { installation: 'github', repository, template, policy: { forks: 'Approved' }, report: false }
  const made = await world.api('gary', 'POST', pipelines, {
    json: { apiVersion: apps, kind: 'AppPipeline', metadata: { name: pipeline }, spec },
  })
  if (made.status !== 201 && made.status !== 409) throw new Error(judgeApi(made).evidence)
  const bot = await openBot(world)
  const commits = new Map<string, string>()
  await Promise.all(
    statements.map(async ({ branch, ahead, say }) => {
      const pull = pulls.find(one => one.branch === branch)
      if (pull === undefined) throw new Error(`there is no pull request of ${branch}`)
      const commit = ahead ? pull.next : pull.head
      commits.set(branch, commit)
      await comment(world, 'dave', pull.number, approve(commit))
      await say({ world, bot, pull, others: pulls.filter(one => one !== pull) }, commit)
      if (ahead) await pushNext(world, pull)
    }),
  )
  await github(world, 'gary', `PUT /repos/${repository}/collaborators/dave`, { body: { permission: 'push' } })
  return commits
}

async function attempts(world: World): Promise<readonly Attempt[]> {
  const commits = await speak(world)
  const judged = statements.map(({ branch, what }) => ({
    name: `on a pull request of noah’s fork: ${what}`,
    async run() {
      const commit = commits.get(branch) ?? ''
      return judgeApprovals(
        await waitUntil(`an approval of ${commit}`, () => approvalsOf(world, commit), { timeoutMilliseconds: seconds * 1000 }),
      )
    },
  }))
  return endingWith(judged, async () => {
    await world.admin.request('DELETE', `${pipelines}/${pipeline}`)
    await removeRepository(world)
  })
}

export const statementAttacks: readonly Attack[] = [
  {
    name: 'approvals/statements',
    as: 'noah, whose fork it is, a bot, and people whose words were changed',
    against: 'globex, whose platform would fetch and build a stranger’s commit',
    tries:
      'Approves commits of a fork by bots, by edited and deleted comments, on other pull requests, in other forms, and with lost rights.',
    expected: ['controller'],
    peer: 'Atlantis and Prow: commands in edited comments and by bots',
    form: 'long',
    attempts,
  },
]
