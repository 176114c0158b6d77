// What webhooks about one pull request cost GitHub while ten forks wait: questions about that one only. A complete broker with
// webhooks, a real API server and the controller of PreviewApprovals against the GitHub emulator.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createComment } from '../../dev/github/actions/pull-requests/comments.ts'
import type { PullRequest } from '../../dev/github/state/repositories.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { type GitHubRequests, recordGitHubRequests } from '../bench/previews/github-requests.ts'
import { type PreviewFixture, startPreviewFixture } from '../fixtures/preview-fixture.ts'
import { actsOn, shop } from '../fixtures/pull-requests.ts'

const forks = 10
let fixture: PreviewFixture
let requests: GitHubRequests
const pulls: PullRequest[] = []

beforeAll(async () => {
  fixture = await startPreviewFixture()
  requests = recordGitHubRequests(fixture.environment.github.apiUrl)
  for (let index = 0; index < forks; index += 1) pulls.push(await fixture.openFork(`idea-${index}`))
})
afterAll(async () => {
  requests?.close()
  await fixture?.stop()
})

/** The numbers of the pull requests that were asked about, each once for each question. */
function asked(since: number): readonly number[] {
  const numbers = requests.since(since).flatMap(({ path }) => {
    return new RegExp(`/repositories/${shop}/(?:pulls|issues)/(\\d+)(?:/|$)`).exec(path)?.[1] ?? []
  })
  return numbers.map(Number)
}

async function untilAsked(since: number, numbers: readonly number[]): Promise<void> {
  await waitUntil(`questions about ${numbers}`, async () => {
    const found = asked(since)
    if (numbers.every(number => found.filter(one => one === number).length >= 3)) return true
    throw new Error(`${found}`)
  })
}

test('a push, a new pull request and a comment ask about no fork but the one that was commented on', async () => {
  const { environment, namespace, show, advance, approvalOf } = fixture
  await show(pulls.map(({ number, head }) => ({ number, headCommit: head.sha })))
  const all = pulls.map(({ number }) => number)
  await untilAsked(0, all)
  // Webhooks about their opening may cause another question about each. The one that was asked about last comes last.
  const settling = performance.now()
  const last = pulls.at(-1) ?? expect.fail('no pull request')
  createComment(fixture.actionOf('noah'), last.number, 'hello')
  advance(10_000)
  await untilAsked(settling, [last.number])

  advance(10_000)
  const since = performance.now()
  const { push, open } = actsOn(
    () => environment.github,
    () => systemClock,
  )
  const branch = `work-${randomUUID()}`
  await push('dave', `${namespace}/shop`, branch, 'one')
  await open('dave', branch)
  const [, second, third] = pulls
  if (second === undefined || third === undefined) return expect.fail('too few pull requests')
  createComment(fixture.actionOf('mia'), second.number, `/sekisho approve ${second.head.sha}`)
  await untilAsked(since, [second.number])
  // Whatever the first webhooks asked about was asked before, or together with, this one.
  createComment(fixture.actionOf('dave'), third.number, `/sekisho approve ${third.head.sha}`)
  await approvalOf(third.head.sha)
  // The pull request, its comments and its reviews. The last one may have been asked about for its opening first, and for the
  // comment only now.
  expect([0, 3]).toContain(asked(since).filter(number => number === last.number).length)
  const others = asked(since).filter(number => number !== last.number)
  expect(others.toSorted((a, b) => a - b)).toEqual([
    ...Array.from({ length: 3 }, () => second.number),
    ...Array.from({ length: 3 }, () => third.number),
  ])
})
