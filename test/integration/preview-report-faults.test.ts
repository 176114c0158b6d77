// What GitHub fails to do when the platform answers on a pull request, and what people undo there: the last state arrives,
// once. The GitHubReport controller on a real API server and the GitHub emulator.
import { beforeEach, expect, test } from 'vitest'
import type { RunningEmulator } from '../../dev/github/emulator.ts'
import type { Fault } from '../../dev/github/faults/kinds.ts'
import { limits } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { type QuickGitHub, startQuickGitHub } from '../fixtures/emulated-github.ts'
import { inTurn } from '../fixtures/in-turn.ts'
import { shop, startReportFixture } from '../fixtures/report-fixture.ts'

let quick: QuickGitHub
let github: RunningEmulator
beforeEach(async () => {
  // Every write that fails is repeated ten seconds later, one kind after the other.
  quick = await startQuickGitHub({}, 10)
  github = quick.github
  return () => github.stop()
})

const url = 'https://pr-1-shop.example.test'
const patience = { timeoutMilliseconds: limits.rollout }
const comments = () => github.context.state.comments.filter(one => one.repositoryId === shop)
const statesOf = (sha: string) => github.context.state.statuses.filter(one => one.sha === sha).map(one => one.state)
const deployments = () => github.context.state.deployments.filter(one => one.repositoryId === shop)
const lastStateOf = (id: number) => github.context.state.deploymentStatuses.filter(one => one.deploymentId === id).at(-1)?.state

/** Where the four kinds of answers are written. */
const places = ['issues', 'statuses', 'deployments', 'deployments/*/statuses'].map(part => `/repositories/${shop}/${part}`)

/** Waits until GitHub shows that the preview runs, once in each place. */
async function showsRunning(head: string): Promise<void> {
  await waitUntil(
    'GitHub shows that the preview runs',
    async () => {
      const [deployment] = deployments()
      const deployed = deployment && lastStateOf(deployment.id)
      const isShown = comments()[0]?.body.includes(': running**') && statesOf(head).at(-1) === 'success'
      if (isShown && deployed === 'success') return true
      throw new Error(`${comments()[0]?.body} ${statesOf(head)} ${deployed}`)
    },
    patience,
  )
  expect([comments().length, deployments().length]).toEqual([1, 1])
}

const failures: readonly (readonly [string, (path: string) => Fault])[] = [
  ['answers 500', path => ({ kind: 'rest-status', method: 'POST', path, status: 500 })],
  ['answers 502', path => ({ kind: 'rest-status', method: 'POST', path, status: 502 })],
  ['asks to wait', path => ({ kind: 'rest-status', method: 'POST', path, status: 403, headers: { 'retry-after': '1' } })],
  ['limits', path => ({ kind: 'rate-limited', method: 'POST', path, limit: 'secondary', retryAfter: 1 })],
  ['resets the connection', path => ({ kind: 'reset', method: 'POST', path, when: 'before' })],
]
/** The one after which the write must not be made twice; of the others the short form plays one. */
const silence = [
  'has written it and does not say so',
  (path: string): Fault => ({ kind: 'reset', method: 'POST', path, when: 'after' }),
] as const

test.each([...inTurn('github-faults', 'the first writes', failures, 1), silence])(
  'GitHub %s at each first write: everything is there in the end, and nothing twice',
  async (_what, faultAt) => {
    const fixture = await startReportFixture(quick)
    const { number, head } = await fixture.open('feature')
    for (const place of places) github.context.faults.arm(faultAt(place), 1)
    const row = { number, headCommit: head, headRepository: shop, application: `shop-pr-${number}` }
    await fixture.report([{ ...row, state: 'Running', url }])
    await showsRunning(head)
    await fixture.reported(number)
    expect(github.context.faults.list().filter(({ remaining }) => remaining !== 0)).toEqual([])
    expect(statesOf(head)).toEqual(['success'])
  },
)

test.each(inTurn('github-faults', 'refusals', [403, 404, 422], 1))(
  'GitHub refuses (%s): it says so, keeps nothing from the rest, and the next state is written',
  async status => {
    const fixture = await startReportFixture(quick)
    const { number, head } = await fixture.open('feature')
    const row = { number, headCommit: head, headRepository: shop, application: `shop-pr-${number}` }
    const path = `/repositories/${shop}/issues`
    const fault = github.context.faults.arm({ kind: 'rest-status', method: 'POST', path, status }, null)
    await fixture.report([{ ...row, state: 'Building' }])
    await fixture.reported(number, 'Refused')
    expect([comments().length, statesOf(head)]).toEqual([0, ['pending']])
    github.context.faults.disarm(fault)
    await fixture.report([{ ...row, state: 'Running', url }])
    await showsRunning(head)
  },
)

test('a deployment that a person deleted comes back with the next state, and what it was is not written to', async () => {
  const fixture = await startReportFixture(quick)
  const { number, head } = await fixture.open('feature')
  const row = { number, headCommit: head, headRepository: shop, application: `shop-pr-${number}` }
  await fixture.report([{ ...row, state: 'Running', url }])
  await showsRunning(head)
  const [deleted] = deployments()
  github.context.store.change(state => {
    state.deployments = state.deployments.filter(({ id }) => id !== deleted?.id)
    state.deploymentStatuses = state.deploymentStatuses.filter(one => one.deploymentId !== deleted?.id)
  })
  await fixture.report([{ ...row, state: 'Failed', reason: 'ApplicationNotReady', message: 'it crashed' }])
  await waitUntil(
    'another deployment says failure',
    async () => deployments().some(({ id }) => id !== deleted?.id && lastStateOf(id) === 'failure'),
    patience,
  )
  expect(deployments()).toHaveLength(1)
  // Its commit status was written once for each state.
  expect(statesOf(head)).toEqual(['success', 'failure'])
  await fixture.report([])
  await fixture.ended(number)
  expect(lastStateOf(deployments()[0]?.id ?? 0)).toBe('inactive')
})

/** What a person with the right to administer the repository does by GitHub's API. */
async function administer(method: string, path: string, body?: object): Promise<number> {
  const authorization = `token ${github.personalTokens['olivia']}`
  const answer = await fetch(`${github.apiUrl}/repos/acme/shop/${path}`, {
    method,
    headers: { authorization },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return answer.status
}

/** As the page of the environment does it: only what is not active can be deleted. */
async function deleteAll(): Promise<void> {
  for (const { id } of deployments()) {
    expect(await administer('POST', `deployments/${id}/statuses`, { state: 'inactive' })).toBe(201)
    expect(await administer('DELETE', `deployments/${id}`)).toBe(204)
  }
  expect(await administer('DELETE', `environments/${encodeURIComponent('preview/shop')}`)).toBe(204)
}

const environments = () => github.context.state.environments.map(({ name }) => name)

test('an environment that a person deleted with its deployments comes back with the next state', async () => {
  const fixture = await startReportFixture(quick)
  const { number, head } = await fixture.open('feature')
  const row = { number, headCommit: head, headRepository: shop, application: `shop-pr-${number}` }
  await fixture.report([{ ...row, state: 'Running', url }])
  await showsRunning(head)
  expect(environments()).toEqual(['preview/shop'])
  const [former] = deployments()
  await deleteAll()
  expect([environments(), deployments()]).toEqual([[], []])
  await fixture.report([{ ...row, state: 'Failed', reason: 'ApplicationNotReady', message: 'it crashed' }])
  await waitUntil(
    'another deployment says failure',
    async () => deployments().some(({ id }) => id !== former?.id && lastStateOf(id) === 'failure'),
    patience,
  )
  expect(environments()).toEqual(['preview/shop'])
  expect(deployments()).toHaveLength(1)
})

test('a deployment that a person deleted does not come back for the end of its preview', async () => {
  const fixture = await startReportFixture(quick)
  const { number, head } = await fixture.open('feature')
  const row = { number, headCommit: head, headRepository: shop, application: `shop-pr-${number}` }
  await fixture.report([{ ...row, state: 'Running', url }])
  await showsRunning(head)
  await deleteAll()
  await fixture.report([])
  await fixture.ended(number)
  expect([environments(), deployments()]).toEqual([[], []])
  expect(comments()[0]?.body).toContain('destroyed')
})

test('an archived repository takes no answer: the report says so, and its end does not wait', async () => {
  const fixture = await startReportFixture(quick)
  const { number, head } = await fixture.open('feature')
  const row = { number, headCommit: head, headRepository: shop, application: `shop-pr-${number}` }
  await fixture.report([{ ...row, state: 'Running', url }])
  await showsRunning(head)
  github.context.store.change(state => {
    for (const repository of state.repositories) if (repository.id === shop) repository.archived = true
  })
  await fixture.report([{ ...row, state: 'Failed', reason: 'ApplicationNotReady', message: 'it crashed' }])
  await fixture.reported(number, 'Refused')
  await fixture.report([])
  await fixture.ended(number)
})
