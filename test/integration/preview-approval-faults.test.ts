// What GitHub fails to say while somebody approves the code of a fork: nothing is approved as long as one of the questions has
// no answer, and the word of the person counts when it has. The controller of PreviewApprovals, a broker with webhooks, a real
// API server and the GitHub emulator.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addCollaborator } from '../../dev/github/actions/people/collaborators.ts'
import { createComment } from '../../dev/github/actions/pull-requests/comments.ts'
import { submitReview } from '../../dev/github/actions/pull-requests/reviews.ts'
import type { Fault } from '../../dev/github/faults/kinds.ts'
import type { PullRequest } from '../../dev/github/state/repositories.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { inTurn, inTurnOfEach } from '../fixtures/in-turn.ts'
import { type PreviewFixture, startPreviewFixture } from '../fixtures/preview-fixture.ts'
import { shop } from '../fixtures/pull-requests.ts'

let fixture: PreviewFixture
beforeAll(async () => {
  fixture = await startPreviewFixture()
})
afterAll(() => fixture?.stop())

const repository = `/repositories/${shop}`
/** Everything that is asked before an approval is made. */
const questions: readonly (readonly [string, string])[] = [
  ['the pull request', `${repository}/pulls`],
  ['its comments', `${repository}/issues/*/comments`],
  ['its reviews', `${repository}/pulls/*/reviews`],
  ['the person who spoke', '/user/1002'],
  ['what the person may do', `${repository}/collaborators/dave/permission`],
]
const faults: readonly (readonly [string, (path: string) => Fault])[] = [
  ['answers 500', path => ({ kind: 'rest-status', path, status: 500 })],
  ['answers 403', path => ({ kind: 'rest-status', path, status: 403 })],
  ['limits the rate', path => ({ kind: 'rate-limited', path, limit: 'primary', retryAfter: 1 })],
  ['resets the connection', path => ({ kind: 'reset', path, when: 'before' })],
]

const approvalsOf = async (commit: string) => (await fixture.approvals()).filter(({ spec }) => spec.headCommit === commit)
const recordsOf = async (commit: string) =>
  (await fixture.environment.store.audit.list({ action: 'preview.approved', limit: 1000 })).filter(
    ({ details }) => details['headCommit'] === commit,
  )

/** One pull request is not asked about twice within five seconds: the clock of the controller goes on. */
async function wakeLater(): Promise<void> {
  fixture.advance(6_000)
  await fixture.wake()
}

const cut = (path: string): Fault => ({ kind: 'reset', method: 'GET', path, when: 'during' })

/** A person with write access approves the head, by a comment or a review, while the fault lasts. */
async function holds(fault: Fault, say: (pull: PullRequest) => unknown, id = 1002): Promise<void> {
  const { faults: armed } = fixture.environment.github.context
  const pull = await fixture.openFork(`doubt-${Math.random().toString(36).slice(2)}`)
  const { sha } = pull.head
  const armedId = armed.arm(fault, null)
  const used = (): number => armed.list().find(one => one.id === armedId)?.used ?? 0
  await say(pull)
  const before = used()
  await wakeLater()
  await waitUntil('the question is asked and not answered', async () => used() > before)
  // Also when it is asked again.
  const once = used()
  await wakeLater()
  await waitUntil('it is asked again', async () => used() > once)
  expect(await approvalsOf(sha)).toEqual([])
  expect(await recordsOf(sha)).toEqual([])
  armed.disarm(armedId)
  await wakeLater()
  expect(await fixture.approvalOf(sha)).toMatchObject({ spec: { headCommit: sha, number: pull.number, by: { id } } })
  expect(await recordsOf(sha)).toMatchObject([{ outcome: 'allowed' }])
}

const commentOf = (login: string) => (pull: PullRequest) =>
  createComment(fixture.actionOf(login), pull.number, `/sekisho approve ${pull.head.sha}`)
const comment = commentOf('dave')
const review = (pull: PullRequest) =>
  submitReview(fixture.actionOf('dave'), pull, { state: 'APPROVED', body: 'fine', commitId: undefined })

const table = questions.flatMap(([what, path]) =>
  faults.map(([does, faultAt]) => ({ what, does, fault: { method: 'GET', ...faultAt(path) } as Fault })),
)

test.each(inTurnOfEach('github-faults', 'comments', table, ({ what }) => what))(
  'GitHub $does when asked for $what: a comment approves nothing until it answers',
  async ({ fault }) => {
    await holds(fault, comment)
  },
)

const ofReviews = table.filter(({ what }) => what === 'its reviews' || what === 'what the person may do')
test.each(inTurn('github-faults', 'reviews', ofReviews, 1))(
  'GitHub $does when asked for $what: a review approves nothing until it answers',
  async ({ fault }) => {
    await holds(fault, review)
  },
)

test.each(inTurn('github-faults', 'cut answers', questions.slice(0, 3), 1))(
  'GitHub cuts its answer about %s: a comment approves nothing until it answers',
  async (_what, path) => {
    await holds(cut(path), comment)
  },
)

// What GitHub said of dave is remembered by now: a 304 has no body that could be cut, and is an answer.
test('GitHub cuts its answer about the person who spoke, or what the person may do: nothing is approved until it answers', async () => {
  const { sender: mia } = fixture.actionOf('mia')
  addCollaborator(fixture.actionOf('olivia'), mia, 'write')
  await holds(cut('/user/1001'), commentOf('olivia'), 1001)
  await holds(cut(`${repository}/collaborators/mia/permission`), commentOf('mia'), 1003)
})

test('GitHub does not answer in time when asked what the person may do: nothing is approved until it does', async () => {
  const path = `${repository}/collaborators/dave/permission`
  await holds({ kind: 'slow-answer', method: 'GET', path, milliseconds: 20_000 }, comment)
})
