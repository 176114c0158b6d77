// What GitHub fails to say about pull requests: every failure in every phase leaves what runs, says what it is, and is over
// when GitHub answers again. The controllers of AppPipelines, RemoteSyncs and Applications, real git and a real API server
// against the GitHub emulator.
import { beforeEach, describe, expect, test } from 'vitest'
import { setSuspended } from '../../dev/github/actions/install-app.ts'
import { editPullRequest, setDraft, setPullRequestState } from '../../dev/github/actions/pull-requests/pull-requests.ts'
import type { Fault } from '../../dev/github/faults/kinds.ts'
import { appPipeline } from '../../src/api/apps/app-pipeline.ts'
import { remoteSync } from '../../src/api/apps/remote-sync.ts'
import type { Fetch } from '../../src/github/index.ts'
import { findCondition } from '../../src/kube/object/conditions.ts'
import { timeLimit } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { clock, github, renderer, useEmulatedGitHub } from '../fixtures/emulated-github.ts'
import { inTurn } from '../fixtures/in-turn.ts'
import { objectsOf, type Previews, startPipelineFixture } from '../fixtures/pipeline-fixture.ts'
import { actsOn, shop } from '../fixtures/pull-requests.ts'
import { image } from '../fixtures/remote-sync-fixture.ts'

useEmulatedGitHub()
/** In place of GitHub's answer to the list. */
let list: (() => Response) | undefined
beforeEach(() => {
  list = undefined
})

const { push, open, pullOf, actionOf, hub } = actsOn(
  () => github,
  () => clock,
)
const pulls = `/repositories/${shop}/pulls`
const answering: Fetch = async (url, init) =>
  list !== undefined && new URL(url).pathname.endsWith('/pulls') ? list() : fetch(url, init)
const json = (body: unknown): Response => new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json' } })

/** Each fault, and the reason that Listed then has. `path`: what it is about. */
const faults = (path: string): readonly (readonly [Fault, string])[] => [
  [{ kind: 'rest-status', path, status: 500 }, 'GitHubUnreachable'],
  [{ kind: 'rest-status', path, status: 502 }, 'GitHubUnreachable'],
  [{ kind: 'rest-status', path, status: 401 }, 'GitHubUnreachable'],
  [{ kind: 'rest-status', path, status: 403, headers: { 'retry-after': '1' } }, 'GitHubUnreachable'],
  [{ kind: 'rest-status', path, status: 403, message: 'Resource not accessible by integration' }, 'WaitingForGrant'],
  [{ kind: 'rate-limited', path, limit: 'secondary', retryAfter: 1 }, 'GitHubUnreachable'],
  [{ kind: 'rate-limited', path, limit: 'primary', retryAfter: 1 }, 'GitHubUnreachable'],
  [{ kind: 'reset', path, when: 'before' }, 'GitHubUnreachable'],
  [{ kind: 'reset', path, when: 'during', bytes: 40 }, 'GitHubUnreachable'],
]

/** A preview that runs. The policy is about drafts, so that the list can say something that GitHub has to confirm. */
async function running(): Promise<Previews & { readonly number: number; readonly commit: string }> {
  const fixture = await startPipelineFixture(renderer, { hub: hub(), fetch: answering, changes: { policy: { drafts: false } } })
  const commit = await push('dave', 'acme/shop', 'feature', 'one')
  const { number } = await open('dave', 'feature')
  await fixture.wakePipeline()
  await fixture.approve(`shop-pr-${number}`)
  await fixture.build(number, commit, 1)
  return { ...fixture, number, commit }
}

/**
 * While the fault lasts, the reason is reported and all stays; afterwards all is well. `settle`: what people do before it ends.
 */
async function holds(
  fixture: Previews & { readonly number: number },
  fault: Fault,
  reason: string,
  settle: () => Promise<void> = async () => {},
): Promise<void> {
  const armed = github.context.faults.arm(fault, null)
  // Something changes that no answer has shown yet: the next one is not a 304 without a body.
  const title = { title: JSON.stringify(fault), body: undefined, base: undefined }
  await editPullRequest(actionOf('dave'), pullOf(fixture.number), title)
  await fixture.wakePipeline()
  const said = await fixture.listed(reason).catch((error: unknown) => expect.fail(`${JSON.stringify(fault)}: ${String(error)}`))
  expect(await fixture.existing(), JSON.stringify(fault)).toEqual(objectsOf(fixture.number))
  // What GitHub denies to exist is reported in its row; what it does not say leaves the row as it was.
  const state = reason === 'ListIncomplete' ? 'Waiting' : 'Running'
  expect(said.status?.previews?.map(row => [row.number, row.state])).toEqual([[fixture.number, state]])
  expect(findCondition(said.status?.conditions, 'Ready')?.message).toContain('what runs goes on')
  await settle()
  github.context.faults.disarm(armed)
  await fixture.wakePipeline()
}

describe('what runs stays', () => {
  test('whatever happens to the list', { timeout: timeLimit(240_000) }, async () => {
    const fixture = await running()
    const all = [
      ...faults(pulls),
      [{ kind: 'rest-status', path: pulls, status: 404 }, 'RepositoryNotFound'],
    ] as const satisfies ReturnType<typeof faults>
    for (const [fault, reason] of inTurn('github-faults', 'the list', all, 3)) {
      await holds(fixture, fault, reason)
      await fixture.listed('Listed')
    }
    const lists: readonly (readonly [() => Response, string])[] = [
      [() => json([]), 'ListIncomplete'],
      [() => json(Array.from({ length: 30 }, () => 'not a pull request')), 'GitHubUnreachable'],
      [() => json({ message: 'no list' }), 'GitHubUnreachable'],
      [() => new Response('<html>', { headers: { 'content-type': 'text/html' } }), 'GitHubUnreachable'],
      [() => new Response('[{"number": 1, "sta', { headers: { 'content-type': 'application/json' } }), 'GitHubUnreachable'],
    ]
    for (const [answer, reason] of inTurn('github-faults', 'the text of the list', lists, 2)) {
      list = answer
      await fixture.wakePipeline()
      await fixture.listed(reason)
      expect(await fixture.existing(), reason).toEqual(objectsOf(fixture.number))
      list = undefined
      await fixture.wakePipeline()
      await fixture.listed('Listed')
    }
    await fixture.rows({ [fixture.number]: 'Running' })
  })

  test('whatever happens to the question about the pull request itself, and goes with its answer', {
    timeout: timeLimit(240_000),
  }, async () => {
    const fixture = await running()
    await setDraft(actionOf('dave'), pullOf(fixture.number), true)
    const one = `${pulls}/${fixture.number}`
    const all = [
      ...faults(one),
      [{ kind: 'rest-status', path: one, status: 404 }, 'ListIncomplete'],
    ] as const satisfies ReturnType<typeof faults>
    for (const [fault, reason] of inTurn('github-faults', 'the pull request', all, 3)) {
      // Each fault begins where nothing is in doubt: the pull request is no draft any more when GitHub answers again.
      await holds(fixture, fault, reason, () => setDraft(actionOf('dave'), pullOf(fixture.number), false))
      await fixture.listed('Listed')
      await setDraft(actionOf('dave'), pullOf(fixture.number), true)
    }
    await fixture.wakePipeline()
    await fixture.rows({ [fixture.number]: 'LeftOut' })
    await waitUntil('all is gone', async () => (await fixture.existing()).length === 0)
  })

  test('while the App is suspended, and follows again afterwards; what was closed meanwhile goes', async () => {
    const fixture = await running()
    const [installed] = github.context.state.installations
    if (installed === undefined) return expect.fail('the App is not installed')
    setSuspended(github.context, installed, 1001, true)
    await fixture.wakePipeline()
    await fixture.listed('WaitingForGrant')
    await setPullRequestState(actionOf('dave'), pullOf(fixture.number), 'closed')
    await fixture.wakePipeline()
    await fixture.listed('WaitingForGrant')
    expect(await fixture.existing()).toEqual(objectsOf(fixture.number))
    setSuspended(github.context, installed, 1001, false)
    await fixture.wakePipeline()
    await fixture.rows({})
    expect(await fixture.existing()).toEqual([])
  })

  test('while the new commit cannot be looked at or fetched; it is built when it can', {
    timeout: timeLimit(240_000),
  }, async () => {
    const fixture = await running()
    const { client, namespace, number } = fixture
    const key = { namespace, name: `shop-pr-${number}` }
    const phases: readonly (readonly [Fault, string])[] = [
      [{ kind: 'rest-status', path: `/repositories/${shop}/commits`, status: 500 }, 'GitHubUnreachable'],
      [{ kind: 'git-status', path: '/acme/shop.git', status: 500 }, 'FetchFailed'],
      [{ kind: 'git-status', path: '/acme/shop.git', status: 403 }, 'FetchFailed'],
      [{ kind: 'git-status', path: '/acme/shop.git', status: 404 }, 'FetchFailed'],
      [{ kind: 'reset', path: '/acme/shop.git', when: 'during', bytes: 200 }, 'FetchFailed'],
    ]
    for (const [index, [fault, reason]] of inTurn('github-faults', 'the commit', phases, 2).entries()) {
      // Before the fault, which is met by a push as well.
      const commit = await push('dave', 'acme/shop', 'feature', `commit ${index}`)
      const armed = github.context.faults.arm(fault, null)
      await fixture.wakePipeline()
      await waitUntil(`${reason} after ${JSON.stringify(fault)}`, async () => {
        const [pipeline, sync] = [await client.get(appPipeline, { namespace, name: 'shop' }), await client.get(remoteSync, key)]
        const listed = findCondition(pipeline?.status?.conditions, 'Listed')
        const ready = findCondition(sync?.status?.conditions, 'Ready')
        if (listed?.reason === reason || ready?.reason === reason) return true
        throw new Error(`${listed?.reason}: ${listed?.message}; ${ready?.reason}: ${ready?.message}`)
      })
      expect(await fixture.existing()).toEqual(objectsOf(number))
      expect((await client.get(remoteSync, key))?.status?.image).toBe(image(index + 1))
      github.context.faults.disarm(armed)
      await fixture.build(number, commit, index + 2)
    }
  })
})
