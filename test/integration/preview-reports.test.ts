// What people see on a pull request, with the GitHubReport controller on a real API server and the GitHub emulator: one
// comment, a deployment and a commit status, which follow the preview to its end; after deletions, forgeries, restarts and
// while GitHub limits.
import { beforeEach, expect, test } from 'vitest'
import { createComment, deleteComment } from '../../dev/github/actions/pull-requests/comments.ts'
import type { RunningEmulator } from '../../dev/github/emulator.ts'
import { repositoryById, userByLogin } from '../../dev/github/state/github-state.ts'
import { secrets } from '../../src/api/builtin/index.ts'
import { ownedBindingName } from '../../src/api/services/application-services.ts'
import { bindingSecretName } from '../../src/api/services/binding-secret.ts'
import { limits, timeLimit } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { type QuickGitHub, startQuickGitHub } from '../fixtures/emulated-github.ts'
import { brokerUrl } from '../fixtures/remote-sync-objects.ts'
import { database, shop, startReportFixture } from '../fixtures/report-fixture.ts'

let quick: QuickGitHub
let github: RunningEmulator
beforeEach(async () => {
  quick = await startQuickGitHub()
  github = quick.github
  return () => github.stop()
})

const url = 'https://pr-1-shop.example.test'
const comments = () => github.context.state.comments.filter(one => one.repositoryId === shop)
const statesOf = (sha: string) => github.context.state.statuses.filter(one => one.sha === sha).map(one => one.state)
const deployments = () => github.context.state.deployments.filter(one => one.repositoryId === shop)
const deploymentStates = (id = 0) =>
  github.context.state.deploymentStatuses.filter(one => one.deploymentId === id).map(one => one.state)

function participant(login: string) {
  const { context } = github
  const [repository, sender] = [repositoryById(context.state, shop), userByLogin(context.state, login)]
  return repository && sender ? { context, repository, sender } : expect.fail('the seed has no acme/shop')
}

function shows(what: string, found: () => boolean): Promise<true> {
  return waitUntil(what, async () => found() || undefined)
}

test('one comment, a deployment and a status follow a preview from its build to its end', async () => {
  const fixture = await startReportFixture(quick)
  const { number, head } = await fixture.open('feature')
  const row = { number, headCommit: head, headRepository: shop, application: `shop-pr-${number}` }
  await fixture.report([{ ...row, state: 'Building' }])
  await fixture.reported(number)
  expect(comments()).toMatchObject([{ number, body: expect.stringContaining('**Preview ` shop `: building**') }])
  expect(statesOf(head)).toEqual(['pending'])
  expect(github.context.state.statuses[0]).toMatchObject({
    context: 'sekisho/preview/shop',
    targetUrl: `${brokerUrl}/tenants/${fixture.namespace}/builds`,
  })
  expect(deployments()).toMatchObject([
    {
      ...{ sha: head, environment: 'preview/shop', transient: true, production: false },
      description: `Preview of pull request #${number}`,
    },
  ])

  await fixture.report([{ ...row, state: 'Running', url }])
  await shows('the comment says running', () => comments().at(0)?.body.includes(': running**') === true)
  await fixture.reported(number)
  expect(comments()[0]?.body).toContain(`- URL: <${url}>`)
  expect(comments()).toHaveLength(1)
  expect(statesOf(head)).toEqual(['pending', 'success'])
  expect(github.context.state.deploymentStatuses.at(-1)).toMatchObject({ state: 'success', environmentUrl: url })

  // A person does not want it: it comes back with the next state, once.
  const [comment] = comments()
  if (comment) deleteComment(participant('olivia'), comment)
  const holds = (name: string, data: Record<string, string>) => {
    const metadata = { name, namespace: fixture.namespace }
    return fixture.client.create(secrets, { apiVersion: 'v1', kind: 'Secret', metadata, data }, { fieldManager: 'test' })
  }
  await holds('appsecret-shop', { KEY: btoa('hunter-hunter-2') })
  await holds(bindingSecretName(ownedBindingName(row.application, database)), { password: btoa('credential-of-db') })
  const message =
    'cannot reach db with hunter-hunter-2 credential-of-db @acme/owners ```\n![x](http://evil.test/x) <img src=x> https://evil.test'
  await fixture.report([{ ...row, state: 'Failed', reason: 'ApplicationNotReady', message }])
  await shows('the comment says failed', () => comments().at(0)?.body.includes(': failed**') === true)
  await fixture.reported(number)
  expect(comments()).toHaveLength(1)
  expect(comments()[0]?.id).not.toBe(comment?.id)
  const { body = '' } = comments()[0] ?? {}
  expect(body).not.toMatch(/hunter-hunter-2|credential-of-db/)
  expect(body).toContain(
    '````text\ncannot reach db with [redacted] [redacted] @acme/owners ```\n![x](http://evil.test/x) <img src=x> https://evil.test\n````',
  )

  await fixture.report([])
  await fixture.ended(number)
  expect(comments()).toHaveLength(1)
  expect(comments()[0]?.body).toContain(': destroyed**')
  expect(deployments().map(({ id }) => deploymentStates(id))).toEqual([['in_progress', 'success', 'failure', 'inactive']])
})

test('a pull request that is opened again has its comment again; comments of others with the same beginning are not touched', async () => {
  const fixture = await startReportFixture(quick)
  const { number, head } = await fixture.open('feature')
  const row = { number, headCommit: head, headRepository: shop, application: `shop-pr-${number}` }
  await fixture.report([{ ...row, state: 'Running', url }])
  await fixture.reported(number)
  const [own] = comments()
  const marker = own?.body.split('\n')[0] ?? ''
  await fixture.report([])
  await fixture.ended(number)

  createComment(participant('noah'), number, `${marker}\nI am the platform`)
  await fixture.report([{ ...row, state: 'Running', url }])
  await shows(
    'its own comment says running again',
    () =>
      comments()
        .find(({ id }) => id === own?.id)
        ?.body.includes(': running**') === true,
  )
  await fixture.reported(number)
  expect(comments().map(({ body }) => body)).toEqual([expect.stringContaining(': running**'), `${marker}\nI am the platform`])
  expect(deployments()).toHaveLength(1)
  expect(deploymentStates(deployments()[0]?.id).at(-1)).toBe('success')
})

test('previews of one commit share an environment, and each ends its own deployment', async () => {
  const fixture = await startReportFixture(quick)
  const { number: first, head } = await fixture.open('feature')
  // The same commit, into another branch.
  const second = await fixture.openAgain('feature', 'release')
  const rowOf = (number: number) => ({ number, headCommit: head, headRepository: shop, application: `shop-pr-${number}` })
  await fixture.report(
    [first, second].map(number => ({ ...rowOf(number), state: 'Running', url: `https://${number}.example.test` })),
  )
  await fixture.reported(first)
  await fixture.reported(second)
  const [one, other] = deployments()
  expect(new Set(deployments().map(({ environment }) => environment))).toEqual(new Set(['preview/shop']))
  expect([deploymentStates(one?.id), deploymentStates(other?.id)]).toEqual([['success'], ['success']])

  await fixture.report([{ ...rowOf(first), state: 'Running', url: `https://${first}.example.test` }])
  await fixture.ended(second)
  expect(deployments()).toHaveLength(2)
  const stateOf = (number: number) =>
    deploymentStates(deployments().find(({ description }) => description?.endsWith(`#${number}`))?.id).at(-1)
  expect([stateOf(first), stateOf(second)]).toEqual(['success', 'inactive'])
})

test('nobody hears of pull requests that the policy excludes; doubt changes nothing', async () => {
  const fixture = await startReportFixture(quick)
  const [fork, left] = [await fixture.open('fork'), await fixture.open('left')]
  const excluded = { number: fork.number, headCommit: fork.head, state: 'LeftOut', reason: 'ForkExcluded' } as const
  const limited = { number: left.number, headCommit: left.head, state: 'LeftOut', reason: 'LimitReached' } as const
  await fixture.report([excluded, limited])
  await fixture.reported(left.number)
  expect(comments()).toMatchObject([{ number: left.number }])
  expect(deployments()).toEqual([])
  expect(github.context.state.statuses).toEqual([])
})

test('a commit of a fork waits for its approval by name, and its deployment ends when a push takes it away', async () => {
  const fixture = await startReportFixture(quick)
  const { number, head } = await fixture.open('feature')
  const row = { number, headCommit: head, headRepository: 4999 }
  await fixture.report([{ ...row, state: 'Running', url, application: `shop-pr-${number}` }])
  await fixture.reported(number)
  const next = 'c'.repeat(40)
  await fixture.report([{ ...row, headCommit: next, state: 'WaitingForApproval', reason: 'ApprovalMissing' }])
  await shows(
    'the comment asks for the approval of that commit',
    () => comments()[0]?.body.includes(`/sekisho approve ${next}`) === true,
  )
  await shows('its deployment is inactive', () => deploymentStates(deployments()[0]?.id).at(-1) === 'inactive')
  await fixture.reported(number)
  expect(comments()).toHaveLength(1)
  // Nothing is said of a commit that nobody has approved: it may be the head of another pull request, too.
  expect(github.context.state.statuses.map(({ sha }) => sha)).not.toContain(next)
})

test('a pull request from a fork with the head of another never changes the status of the commit, neither waiting nor closed', async () => {
  const fixture = await startReportFixture(quick)
  const { number, head } = await fixture.open('feature')
  const own = { number, headCommit: head, headRepository: shop, application: `shop-pr-${number}`, state: 'Running', url } as const
  const copy = await fixture.openAgain('feature', 'other-base')
  const waits = {
    number: copy,
    headCommit: head,
    headRepository: 4999,
    state: 'WaitingForApproval',
    reason: 'ApprovalMissing',
  } as const
  await fixture.report([own, waits])
  for (const one of [number, copy]) await fixture.reported(one)
  await fixture.report([own])
  await fixture.ended(copy)
  expect(statesOf(head)).toEqual(['success'])
  // The comments come in either order.
  const isDestroyed = comments().map(comment => [comment.number, comment.body.includes('destroyed')] as const)
  expect(new Map(isDestroyed)).toEqual(
    new Map([
      [number, false],
      [copy, true],
    ]),
  )
})

test('GitHub limits the writes of the installation: nothing is sent until it allows it, and the last state arrives', {
  timeout: timeLimit(240_000),
}, async () => {
  await github.stop()
  quick = await startQuickGitHub({
    rateLimit: { authenticated: 5000, anonymous: 60, enforced: false, secondary: { contentPerMinute: 2 } },
  })
  github = quick.github
  const fixture = await startReportFixture(quick)
  const { number, head } = await fixture.open('feature')
  const row = { number, headCommit: head, headRepository: shop, application: `shop-pr-${number}` }
  await fixture.report([{ ...row, state: 'Building' }])
  await fixture.reported(number, 'RateLimited')
  expect([comments().length, statesOf(head)]).toEqual([1, ['pending']])
  await fixture.report([{ ...row, state: 'Running', url }])
  await fixture.restart()
  await waitUntil(
    'the last state stands on GitHub',
    async () => (comments()[0]?.body.includes(': running**') && statesOf(head).at(-1) === 'success') || undefined,
    { timeoutMilliseconds: limits.build },
  )
  expect(comments()).toHaveLength(1)
})
