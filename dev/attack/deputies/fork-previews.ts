// The preview of a pull request from noah’s fork, under an AppPipeline of globex that wants approvals: those who may not write
// to the repository approve it in every way there is; and noah pushes right after gary, who may, has approved one commit.
import { setTimeout as pause } from 'node:timers/promises'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { neighbourNamespace } from '../../demo/context.ts'
import type { Attempt } from '../attack.ts'
import { groupPath } from '../cluster/api-attempts.ts'
import { judgeApi } from '../judge.ts'
import { stopped, succeeded, unclear, type Verdict } from '../verdict.ts'
import type { World } from '../world/world.ts'
import { type ForkedPullRequest, github, pushToFork } from './fork-pull-request.ts'
import type { Shown } from './object-attempts.ts'

const apps = 'apps.sekisho.dev/v1alpha1'
const pipeline = 'attack-previews'
const pipelines = groupPath(apps, neighbourNamespace, 'apppipelines')
const approvals = groupPath(apps, neighbourNamespace, 'previewapprovals')
const syncs = groupPath(apps, neighbourNamespace, 'remotesyncs')
/** gary’s numeric id on GitHub. */
const gary = 1004
/** Of an answer to a webhook or a comment, on a busy machine. */
const seconds = 60

type Row = { readonly number: number; readonly headCommit?: string; readonly state: string; readonly reason: string }
type Approval = {
  readonly metadata: { readonly name: string }
  readonly spec: { readonly headCommit: string; readonly by: { readonly id: number }; readonly via: string }
}

function manifest() {
  const template = { application: { processes: [{ name: 'web', port: 3000, memory: '64Mi' }] } }
  const spec = { installation: 'github', repository: 'globex/site', template, policy: { forks: 'Approved' }, report: false }
  return { apiVersion: apps, kind: 'AppPipeline', metadata: { name: pipeline }, spec }
}

async function rowOf(world: World, number: number): Promise<Row | undefined> {
  const shown = (await world.admin.call('GET', `${pipelines}/${pipeline}`)) as Shown
  const rows = (shown.status?.['previews'] ?? []) as readonly Row[]
  return rows.find(row => row.number === number)
}

/** The row of the pull request says that this commit waits for an approval. */
function waiting(world: World, { number, headCommit }: ForkedPullRequest): Promise<Row> {
  return waitUntil(
    `${pipeline} lists pull request ${number} at ${headCommit}`,
    async () => {
      const row = await rowOf(world, number)
      return row?.headCommit === headCommit && row.state === 'WaitingForApproval' ? row : undefined
    },
    { timeoutMilliseconds: seconds * 1000 },
  )
}

async function approvalsOf(world: World, headCommit: string): Promise<readonly Approval[]> {
  const { items } = (await world.admin.call('GET', approvals)) as { readonly items: readonly Approval[] }
  return items.filter(({ spec }) => spec.headCommit === headCommit)
}

/**
 * By noah, who wrote the code, and by dave: both may read the repository, and neither may write to it. Resolves to what was
 * allowed.
 */
async function approveWithoutRight(world: World, { number, headCommit }: ForkedPullRequest): Promise<readonly string[]> {
  const body = `/sekisho approve ${headCommit}`
  const path = `/api/v1/tenants/${neighbourNamespace}/previews/${pipeline}/${number}/approval`
  await github(world, 'gary', 'PUT /repos/globex/site/collaborators/dave', { body: { permission: 'pull' } })
  for (const login of ['noah', 'dave'])
    await github(world, login, `POST /repos/globex/site/issues/${number}/comments`, { body: { body } })
  const review = { event: 'APPROVE', commit_id: headCommit, body }
  await github(world, 'dave', `POST /repos/globex/site/pulls/${number}/reviews`, { body: review })
  // noah gets no token of the platform at all: he has no role in any tenant.
  const token = await world.credentials('dave')
  const answer = await world.http.send(`${world.targets.issuer}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ headCommit }),
  })
  return answer.status < 400 ? [`the broker answered ${answer.status} to dave`] : []
}

/** gary’s own comment comes last: when it counts, those before it were read, too. */
async function approvedByOthers(world: World, pullRequest: ForkedPullRequest): Promise<Verdict> {
  await waiting(world, pullRequest)
  const { number, headCommit } = pullRequest
  const allowed = await approveWithoutRight(world, pullRequest)
  await github(world, 'gary', `POST /repos/globex/site/issues/${number}/comments`, {
    body: { body: `/sekisho approve ${headCommit}` },
  })
  const found = await waitUntil(
    `an approval of ${headCommit}`,
    async () => {
      const list = await approvalsOf(world, headCommit)
      return list.length > 0 ? list : undefined
    },
    { timeoutMilliseconds: seconds * 1000 },
  )
  const others = found.filter(({ spec }) => spec.by.id !== gary)
  if (allowed.length > 0 || others.length > 0) return succeeded(JSON.stringify([...allowed, ...others.map(({ spec }) => spec)]))
  return stopped('controller', `two comments, a review and a request to the broker approved nothing; gary’s comment did`)
}

/** The source of the commit was fetched, a build of it was begun, or its image runs. */
function hasTaken({ status }: Shown, commit: string): boolean {
  const { build, imageCommit } = (status ?? {}) as { readonly build?: { readonly commit: string }; readonly imageCommit?: string }
  const fetched = status?.conditions?.find(({ type }) => type === 'Fetched')?.status === 'True'
  return build?.commit === commit || imageCommit === commit || (fetched && status?.['commit'] === commit)
}

/** Whatever the preview takes from now on is watched until the pipeline lists the new head as waiting. */
async function pushedAfterApproval(world: World, { number }: ForkedPullRequest): Promise<Verdict> {
  const pushed = await pushToFork(world)
  const sync = `${syncs}/${pipeline}-pr-${number}`
  let last = 'no row'
  for (const deadline = Date.now() + seconds * 1000; Date.now() < deadline; await pause(200)) {
    const answer = await world.admin.request('GET', sync)
    const taken = answer.status === 200 && hasTaken(answer.body as Shown, pushed)
    if (taken) return succeeded(`the preview takes ${pushed}, which nobody approved: ${JSON.stringify(answer.body)}`)
    if ((await approvalsOf(world, pushed)).length > 0) return succeeded(`an approval of ${pushed} exists`)
    const row = await rowOf(world, number)
    if (row !== undefined) last = `${row.state} ${row.reason} at ${row.headCommit}`
    if (row?.headCommit === pushed && row.state === 'WaitingForApproval')
      return stopped('controller', `${row.reason}: the pushed commit ${pushed.slice(0, 12)} waits`)
  }
  return unclear(last)
}

type WithPullRequest = (use: (pullRequest: ForkedPullRequest) => Promise<Verdict>) => Promise<Verdict>

/** One attempt after the other in one, because the second begins with the approval with which the first ends. */
export function previewAttempts(world: World, withPullRequest: WithPullRequest): readonly Attempt[] {
  return [
    {
      name: 'noah and dave: approvals without write access, then a push after gary’s approval',
      run: () =>
        withPullRequest(async pullRequest => {
          await world.journal.note({ kind: 'object', path: `${pipelines}/${pipeline}` })
          const answer = await world.api('gary', 'POST', pipelines, { json: manifest() })
          if (answer.status >= 300) return judgeApi(answer)
          try {
            const first = await approvedByOthers(world, pullRequest)
            if (first.outcome !== 'stopped') return first
            const second = await pushedAfterApproval(world, pullRequest)
            return second.outcome === 'stopped' ? stopped('controller', `${first.evidence}; ${second.evidence}`) : second
          } finally {
            await world.admin.request('DELETE', `${pipelines}/${pipeline}`)
            await github(world, 'gary', 'DELETE /repos/globex/site/collaborators/dave', { mayBeGone: true })
          }
        }),
    },
  ]
}
