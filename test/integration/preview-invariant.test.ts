// The invariant of previews: whatever happens to ten pull requests (forty in the long form) and to the webhooks about it, in
// the end the previews that run are exactly those of the open pull requests that pass the policy, at their newest commits; and
// when all are closed nothing is left. The platform is the product's: controllers and broker in processes of their own, grants,
// tokens, git, comments on GitHub.
import fc from 'fast-check'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createComment } from '../../dev/github/actions/pull-requests/comments.ts'
import { addLabels, labelNamed, removeLabel } from '../../dev/github/actions/pull-requests/labels.ts'
import { editPullRequest, setDraft, setPullRequestState } from '../../dev/github/actions/pull-requests/pull-requests.ts'
import type { PullRequest } from '../../dev/github/state/repositories.ts'
import { appPipeline } from '../../src/api/apps/app-pipeline.ts'
import { application } from '../../src/api/apps/application.ts'
import { githubReport } from '../../src/api/apps/github-report.ts'
import { previewApproval } from '../../src/api/apps/preview-approval.ts'
import { remoteSync } from '../../src/api/apps/remote-sync.ts'
import { repositoryGrant } from '../../src/api/github/repository-grant.ts'
import { labels } from '../../src/api/names.ts'
import type { KubeObject, ResourceType } from '../../src/api/resource.ts'
import { limits, timeLimit } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { kpackBuilds } from '../../src/services/builds/kpack/resources.ts'
import { isLong } from '../fixtures/form.ts'
import { inTurn } from '../fixtures/in-turn.ts'
import { openPreviewFixture, type PreviewPlatform, startPreviewPlatform } from '../fixtures/preview-platform.ts'
import { tokenLedger } from '../sweep/assertions/tokens.ts'
import type { Fixture } from '../sweep/environment/fixture.ts'

const pullRequests = isLong('preview-invariant') ? 40 : 10
const steps = isLong('preview-invariant') ? 300 : 30
/** Several resyncs on a busy machine. */
const patience = { timeoutMilliseconds: limits.build, everyMilliseconds: 500 }
/** An approval without a pull request is kept for ten minutes. */
const requeueAfterMilliseconds = 11 * 60_000

let fixture: Fixture
beforeAll(async () => {
  fixture = await openPreviewFixture()
})
afterAll(() => fixture?.stop())

const policy = { baseBranches: ['main'], labels: ['preview'], withoutLabels: ['hold'], drafts: false, forks: 'Approved' }

/** What people say about a fork's commits. */
type Said = ReadonlySet<string>
const saying = ({ number, head }: PullRequest): string => `${number}/${head.sha}`

/** The policy, in a few words of its own. */
function passes({ repository, actionAs }: PreviewPlatform, pull: PullRequest, said: Said): boolean {
  const { context } = actionAs('dave')
  const has = (name: string): boolean => pull.labelIds.includes(labelNamed({ context, repository }, name)?.id ?? 0)
  const mayRun = pull.head.repositoryId === repository.id || said.has(saying(pull))
  const isMeant = pull.base.ref === 'main' && has('preview') && !has('hold') && !pull.title.includes('[skip preview]')
  return pull.state === 'open' && !pull.draft && isMeant && mayRun
}

const pullsOf = ({ repository, environment }: PreviewPlatform): readonly PullRequest[] =>
  environment.fixture.github.context.state.pullRequests.filter(one => one.repositoryId === repository.id)

type World = { readonly platform: PreviewPlatform; readonly said: Set<string> }
type Act = (world: World, pull: PullRequest) => unknown

/** What people do to an open pull request. */
const acts = {
  push: ({ platform }, pull) => platform.push(pull.head.ref, ofHead(platform, pull)),
  close: ({ platform }, pull) => setPullRequestState(platform.actionAs('dave'), pull, 'closed'),
  label: ({ platform }, pull) => toggle(platform, pull, 'preview'),
  hold: ({ platform }, pull) => toggle(platform, pull, 'hold'),
  draft: ({ platform }, pull) => setDraft(platform.actionAs('dave'), pull, !pull.draft),
  retarget: ({ platform }, pull) => edit(platform, pull, { base: pull.base.ref === 'main' ? 'next' : 'main' }),
  skip: ({ platform }, pull) =>
    edit(platform, pull, { title: pull.title === pull.head.ref ? `${pull.head.ref} [skip preview]` : pull.head.ref }),
  approve({ platform, said }, pull) {
    createComment(platform.actionAs('olivia'), pull.number, `/sekisho approve ${pull.head.sha}`)
    said.add(saying(pull))
  },
} as const satisfies Readonly<Record<string, Act>>

const ofHead = ({ fork, repository }: PreviewPlatform, { head }: PullRequest) =>
  head.repositoryId === fork.id ? fork : repository

function edit({ actionAs }: PreviewPlatform, pull: PullRequest, change: { base?: string; title?: string }): Promise<void> {
  return editPullRequest(actionAs('dave'), pull, { title: undefined, body: undefined, base: undefined, ...change })
}

async function toggle({ actionAs }: PreviewPlatform, pull: PullRequest, name: string): Promise<void> {
  const action = actionAs('dave')
  const label = labelNamed(action, name)
  if (label !== undefined && pull.labelIds.includes(label.id)) await removeLabel(action, pull, label)
  else await addLabels(action, pull, [name])
}

const webhookFaults = ['lost', 'doubled', 'late', 'reordered'] as const
const step = fc.record({
  act: fc.constantFrom(...(Object.keys(acts) as (keyof typeof acts)[]), 'reopen' as const, 'reopen' as const, 'label' as const),
  /** Which pull request. */
  at: fc.nat(),
  fault: fc.option(fc.constantFrom(...webhookFaults), { freq: 4 }),
  pauseMilliseconds: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 400 })),
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** For the next webhook of each kind that does not meet such a fault already. */
function armFault({ environment }: PreviewPlatform, fault: (typeof webhookFaults)[number]): void {
  const { faults } = environment.fixture.github.context
  const armed = faults.list().map(one => one.fault)
  const isArmed = (event: string) => armed.some(one => one.kind === `${fault}-webhook` && 'event' in one && one.event === event)
  for (const event of ['pull_request', 'push', 'issue_comment'].filter(one => !isArmed(one)))
    switch (fault) {
      case 'lost':
        // Nothing shows it to the platform: not even the list of deliveries.
        faults.arm({ kind: 'lost-webhook', event, record: 'success' }, 1)
        break
      case 'doubled':
        faults.arm({ kind: 'doubled-webhook', event, newGuid: true }, 1)
        break
      case 'late':
        faults.arm({ kind: 'late-webhook', event, milliseconds: 3000 }, 1)
        break
      case 'reordered':
        faults.arm({ kind: 'reordered-webhook', event, milliseconds: 3000 }, 1)
    }
}

async function take(world: World, { act, at, fault, pauseMilliseconds }: Step): Promise<void> {
  const { platform } = world
  const isReopened = act === 'reopen'
  const pulls = pullsOf(platform).filter(({ state }) => state === (isReopened ? 'closed' : 'open'))
  const pull = pulls[at % pulls.length]
  if (pull === undefined) return
  if (fault !== null) armFault(platform, fault)
  if (isReopened) await setPullRequestState(platform.actionAs('dave'), pull, 'open')
  else await acts[act](world, pull)
  // Not a wait for something: people act at any time.
  await new Promise(resolve => setTimeout(resolve, pauseMilliseconds))
}

/** Half of them pass the policy at once; every fourth is of a fork. */
async function openAll(world: World): Promise<void> {
  const { platform } = world
  for (let index = 0; index < pullRequests; index++) {
    const more = { draft: index % 10 === 9, ...(index % 4 === 3 ? { repository: platform.fork } : {}) }
    const pull = await platform.open(`work-${index}`, more)
    if (index % 5 !== 4) await addLabels(platform.actionAs('dave'), pull, ['preview'])
    if (index % 8 === 3) acts.approve(world, pull)
  }
}

const namesOf = (objects: readonly KubeObject[]): readonly string[] => objects.map(({ metadata }) => metadata.name).sort()

function differing(what: string, wanted: readonly string[], found: readonly string[]): readonly string[] {
  const missing = wanted.filter(one => !found.includes(one)).map(one => `${what}: ${one} is missing`)
  return [...missing, ...found.filter(one => !wanted.includes(one)).map(one => `${what}: ${one} is not to be there`)]
}

/** Waits until what runs is exactly what the policy says. */
async function settled({ platform, said }: World): Promise<void> {
  const { environment, list } = platform
  await waitUntil(
    'exactly the previews that pass the policy run',
    async () => {
      const passing = pullsOf(platform).filter(pull => passes(platform, pull, said))
      const wanted = passing.map(({ number, head }) => `${number} runs ${head.sha}`).sort()
      const [pipeline] = await list(appPipeline)
      const [syncs, applications, grants] = await Promise.all([list(remoteSync), list(application), list(repositoryGrant)])
      const running = (pipeline?.status?.previews ?? []).filter(({ state }) => state === 'Running').map(({ number }) => number)
      const found = syncs.map(({ metadata, status }) => {
        const number = Number(metadata.labels?.[labels.pullRequest])
        return `${number} ${running.includes(number) ? 'runs' : 'waits at'} ${status?.imageCommit}`
      })
      const names = passing.map(({ number }) => `shop-pr-${number}`).sort()
      const owned = ['apppipeline-shop', ...names.map(name => `remotesync-${name}`)].sort()
      const problems = [
        ...differing('runs', wanted, found),
        ...differing('Application', names, namesOf(applications)),
        ...differing('RemoteSync', names, namesOf(syncs)),
        ...differing('RepositoryGrant', owned, namesOf(grants)),
        ...(running.length === wanted.length ? [] : [`${running.length} run`]),
      ]
      if (problems.length > 0) throw new Error(problems.join('\n'))
      return true
    },
    patience,
  ).catch(async (error: unknown) => {
    const [pipeline] = await environment.fixture.kube.list(appPipeline, { namespace: environment.namespace })
    throw new Error(`${error}\n${JSON.stringify(pipeline?.status)}\n${platform.log()}`)
  })
}

async function nothingOf({ list }: PreviewPlatform, types: readonly ResourceType[]): Promise<void> {
  await waitUntil(
    'nothing is left',
    async () => {
      const left = (await Promise.all(types.map(type => list(type)))).flat()
      if (left.length === 0) return true
      throw new Error(left.map(({ kind, metadata, ...rest }) => `${kind} ${metadata.name} ${JSON.stringify(rest)}`).join('\n'))
    },
    patience,
  )
}

/** No comment is there twice, and each says that its preview is gone; no deployment is active. */
function saysDestroyed({ environment, repository }: PreviewPlatform): void {
  const { comments, deployments, deploymentStatuses } = environment.fixture.github.context.state
  const ours = comments.filter(one => one.repositoryId === repository.id && one.body.includes('**Preview'))
  expect(new Set(ours.map(({ number }) => number)).size).toBe(ours.length)
  expect(ours.length).toBeGreaterThan(0)
  for (const { body } of ours) expect(body).toContain(': destroyed**')
  for (const { id } of deployments.filter(one => one.repositoryId === repository.id))
    expect(deploymentStatuses.filter(one => one.deploymentId === id).at(-1)?.state).toBe('inactive')
}

const ways: readonly (readonly [string, boolean])[] = [
  ['are lost, doubled, late and reordered', false],
  ['never come', true],
]

test.each(inTurn('preview-invariant', 'webhooks', ways, 1))(
  'previews are exactly the open pull requests that pass the policy when webhooks %s, and nothing of them is left',
  { timeout: timeLimit(1_200_000) },
  async (_what, allAreLost) => {
    const platform = await startPreviewPlatform(fixture)
    onTestFinished(() => platform.stop())
    const { environment, repository, list } = platform
    const { github, kube } = environment.fixture
    onTestFinished(() => github.context.faults.reset())
    if (allAreLost) github.context.faults.arm({ kind: 'lost-webhook' }, null)
    const { git } = github.context
    await git.run(['branch', 'next', 'main'], { cwd: git.pathOf(repository.id) })
    // Comments, deployments and statuses are written as slowly as GitHub allows: where webhooks never come, that is not looked
    // at again.
    await platform.applyPipeline('shop', { policy, report: !allAreLost })
    const random = fc.array(step, { minLength: steps, maxLength: steps })
    const world: World = { platform, said: new Set() }
    await openAll(world)
    await fc.assert(
      fc.asyncProperty(random, async taken => {
        for (const one of taken) await take(world, allAreLost ? { ...one, fault: null } : one)
        await settled(world)
      }),
      { numRuns: 1, endOnFailure: true },
    )
    for (const pull of pullsOf(platform)) await setPullRequestState(platform.actionAs('dave'), pull, 'closed')
    await settled(world)
    await nothingOf(platform, [kpackBuilds])
    await platform.restart(requeueAfterMilliseconds)
    await nothingOf(platform, [previewApproval, githubReport])
    if (!allAreLost) saysDestroyed(platform)

    await kube.delete(appPipeline, { namespace: environment.namespace, name: 'shop' })
    await nothingOf(platform, [appPipeline, application, remoteSync, repositoryGrant, previewApproval, githubReport, kpackBuilds])
    expect(await list(application)).toEqual([])
    expect(await tokenLedger(environment)).toMatchObject({ registered: [], leaked: 0, open: [], gaps: [] })
  },
)
