// The rules of pull requests: what cannot be opened, what cannot be merged, and the result of a merge.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defined } from '../../../../src/lib/json/defined.ts'
import type { RunningEmulator } from '../../emulator.ts'
import { cloneUrl, createGitClient, type GitClient } from '../../testing/git-client.ts'
import { signIn } from '../../testing/people.ts'
import { createRestClients, type RestClient, refusal } from '../../testing/rest-client.ts'
import { startStockedEmulator } from '../../testing/stocked-emulator.ts'
import { testMerge } from './merge-test.ts'

const shop = { owner: 'acme', repo: 'shop' }
let emulator: RunningEmulator
let dave: RestClient
let git: GitClient

beforeAll(async () => {
  emulator = await startStockedEmulator()
  dave = createRestClients(emulator).by(emulator.personalTokens['dave'] ?? '')
  git = await createGitClient()
  await git.run('clone', cloneUrl(emulator.url, 'acme/shop', emulator.personalTokens['dave']), '.')
})
afterAll(async () => {
  await git.remove()
  await emulator.stop()
})

/** A branch off main with one commit, pushed. */
async function branch(name: string, path: string, text: string): Promise<string> {
  await git.run('fetch', 'origin')
  await git.run('checkout', '-B', name, 'origin/main')
  const sha = await git.commit(path, text, `Change ${path}`)
  await git.run('push', 'origin', 'HEAD')
  return sha
}

function open(head: string, base = 'main') {
  return dave.request('POST /repos/{owner}/{repo}/pulls', { ...shop, title: head, head, base })
}

/** The answer after the test of its mergeability, which the first request causes. */
async function tested(pull_number: number) {
  const show = () => dave.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', { ...shop, pull_number })
  await show()
  return show()
}

/** Opens a pull request from a branch of this name with its own file. */
async function openFrom(name: string) {
  await branch(name, name, '1')
  return open(name)
}

/** Without the check against the description, for a response of GitHub that it does not describe. */
async function plainly(path: string): Promise<{ readonly status: number; readonly data: unknown }> {
  const headers = { authorization: `Bearer ${emulator.personalTokens['dave']}` }
  const response = await fetch(`${emulator.apiUrl}${path}`, { headers })
  return { status: response.status, data: await response.json() }
}

function merge(pull_number: number, more = {}) {
  return dave.request('PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge', { ...shop, pull_number, ...more })
}

test('a pull request without head, base or commits, or for branches that have an open one, cannot be opened', async () => {
  await branch('good', 'good', '1')
  await git.run('push', 'origin', 'origin/main:refs/heads/same')
  for (const [head, base] of [['none'], ['good', 'none'], ['same']] as const)
    expect((await refusal(open(head, base))).status).toBe(422)
  await open('good')
  expect(await refusal(open('good'))).toMatchObject({ status: 422, message: 'Validation Failed' })
})

test('of two concurrent requests for the same branches one is refused', async () => {
  await branch('twice', 'twice', '1')
  const results = await Promise.allSettled([open('twice'), open('twice')])
  expect(results.map(one => one.status).sort()).toEqual(['fulfilled', 'rejected'])
})

test('a squash merge leaves one commit with the text of the branch and keeps the number in its title', async () => {
  await branch('squash', 'squash', '1')
  const { data } = await open('squash')
  const { sha } = (await merge(data.number, { merge_method: 'squash' })).data
  const commit = await dave.request('GET /repos/{owner}/{repo}/commits/{ref}', { ...shop, ref: sha })
  expect(commit.data.commit.message).toBe(`squash (#${data.number})`)
  expect(commit.data.parents).toHaveLength(1)
})

test('who asks for a pull request at once gets the same test merge', async () => {
  const { number } = (await openFrom('asked-twice')).data
  const { context } = emulator
  const pull = context.store.state.pullRequests.find(one => one.number === number)
  if (pull === undefined) throw new Error('the pull request is open')
  let seconds = 0
  const now = (): number => Date.UTC(2026, 0, 1, 0, 0, seconds++)
  await Promise.all([testMerge({ ...context, now }, pull), testMerge({ ...context, now }, pull)])
  expect(seconds).toBe(1)
})

test('a conflict is shown and cannot be merged', async () => {
  await branch('left', 'contested', 'left\n')
  await branch('right', 'contested', 'right\n')
  const [left, right] = [(await open('left')).data.number, (await open('right')).data.number]
  await merge(left)
  expect((await tested(right)).data).toMatchObject({ mergeable: false, mergeable_state: 'dirty' })
  expect(await refusal(merge(right))).toEqual({ status: 405, message: 'Pull Request is not mergeable' })
})

test('a merge of a head that has moved on is refused, as is a second merge', async () => {
  const before = await branch('moving', 'moving', '1')
  const { number } = (await open('moving')).data
  await git.commit('moving', '2', 'More')
  await git.run('push', 'origin', 'HEAD')
  expect((await refusal(merge(number, { sha: before }))).status).toBe(409)
  await merge(number)
  expect((await refusal(merge(number))).status).toBe(405)
})

describe('from a fork', () => {
  let noah: RestClient
  let fork: GitClient
  const own = { owner: 'noah', repo: 'shop' }

  beforeAll(async () => {
    const clients = createRestClients(emulator)
    noah = clients.by(emulator.personalTokens['noah'] ?? '')
    const olivia = clients.by(emulator.personalTokens['olivia'] ?? '')
    await olivia.request('PUT /repos/{owner}/{repo}/collaborators/{username}', { ...shop, username: 'noah', permission: 'pull' })
    await noah.request('POST /repos/{owner}/{repo}/forks', shop)
    fork = await createGitClient({ name: 'Noah', email: 'noah@example.test' })
    await fork.run('clone', cloneUrl(emulator.url, 'noah/shop', emulator.personalTokens['noah']), '.')
    await fork.run('checkout', '-b', 'idea')
  })
  afterAll(() => fork.remove())

  const request = { ...shop, title: 'Idea', base: 'main' }
  const show = (pull_number: number) => dave.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', { ...shop, pull_number })

  test('a reader can open one, a push to the fork updates it, and it can be merged into the repository', async () => {
    const first = await fork.commit('idea', '1\n', 'Idea')
    await fork.run('push', 'origin', 'HEAD')
    const { data } = await noah.request('POST /repos/{owner}/{repo}/pulls', { ...request, head: 'noah:idea' })
    expect(data).toMatchObject({ head: { label: 'noah:idea', sha: first, repo: { fork: true } }, base: { label: 'acme:main' } })
    const listed = await dave.request('GET /repos/{owner}/{repo}/pulls', { ...shop, head: 'noah:idea' })
    expect(listed.data.map(one => one.number)).toEqual([data.number])
    const second = await fork.commit('idea', '1\n2\n', 'More')
    await fork.run('push', 'origin', 'HEAD')
    expect((await show(data.number)).data).toMatchObject({ commits: 2, head: { sha: second } })
    await git.run('fetch', 'origin', `refs/pull/${data.number}/head`)
    expect((await git.run('rev-parse', 'FETCH_HEAD')).stdout.trim()).toBe(second)
    expect(
      (await refusal(noah.request('PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge', { ...shop, pull_number: data.number })))
        .status,
    ).toBe(403)
    await merge(data.number)
    await git.run('fetch', 'origin')
    expect((await git.run('merge-base', '--is-ancestor', second, 'origin/main')).ok).toBe(true)
  })

  test('it does not let a person read a repository that they cannot see', async () => {
    await fork.commit('secret', '1\n', 'Secret')
    await fork.run('push', 'origin', 'HEAD:refs/heads/secret')
    const opened = dave.request('POST /repos/{owner}/{repo}/pulls', { ...request, head: 'noah:secret' })
    expect((await refusal(opened)).status).toBe(422)
    expect((await refusal(dave.request('GET /repos/{owner}/{repo}', own))).status).toBe(404)
    const foreign = { ...request, head: 'globex:main' }
    expect((await refusal(dave.request('POST /repos/{owner}/{repo}/pulls', foreign))).status).toBe(422)
  })

  test('only its author and writers can change it; deleting its branch closes it', async () => {
    await fork.run('checkout', '-b', 'far')
    await fork.commit('far', '1\n', 'Far')
    await fork.run('push', 'origin', 'HEAD')
    const { data } = await noah.request('POST /repos/{owner}/{repo}/pulls', { ...request, head: 'noah:far' })
    const mine = { ...shop, pull_number: data.number }
    await noah.request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', { ...mine, title: 'Better idea' })
    const { number } = (await openFrom('change-of-dave')).data
    const other = { ...shop, pull_number: number, state: 'closed' as const }
    expect((await refusal(noah.request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', other))).status).toBe(403)
    await fork.run('push', 'origin', ':far')
    expect((await show(data.number)).data.state).toBe('closed')
  })

  test('a pull request outlives its fork', async () => {
    const { data } = await noah.request('POST /repos/{owner}/{repo}/pulls', { ...request, head: 'noah:secret' })
    await noah.request('DELETE /repos/{owner}/{repo}', own)
    const { status, data: shown } = await plainly(`/repos/acme/shop/pulls/${data.number}`)
    expect([status, shown]).toMatchObject([200, { state: 'open', head: { repo: null, sha: data.head.sha } }])
    await merge(data.number)
  })
})

describe('drafts, bases and heads', () => {
  test('a draft cannot be merged until it is ready; its author can change both', async () => {
    await branch('draft', 'draft', '1')
    const opened = { ...shop, title: 'Draft', head: 'draft', base: 'main', draft: true }
    const { data } = await dave.request('POST /repos/{owner}/{repo}/pulls', opened)
    expect(data).toMatchObject({ draft: true, mergeable_state: 'unknown' })
    expect((await tested(data.number)).data.mergeable_state).toBe('draft')
    expect((await refusal(merge(data.number))).status).toBe(405)
    const browser = await signIn(emulator, 'dave')
    const at = `${emulator.url}/acme/shop/pull/${data.number}`
    await (await browser.open(at)).form('Ready for review').submit()
    await (await browser.open(at)).form('Convert to draft').submit()
    expect((await refusal(merge(data.number))).status).toBe(405)
    const ready = await (await browser.open(at)).form('Ready for review').submit()
    const merged = await ready.form('Squash and merge').submit()
    expect(merged.text).toContain('<strong>merged</strong>')
    await merged.form('Delete branch').submit()
    expect(
      (await refusal(dave.request('GET /repos/{owner}/{repo}/branches/{branch}', { ...shop, branch: 'draft' }))).status,
    ).toBe(404)
  })

  test('changing the base branch changes the commits', async () => {
    await branch('base-two', 'base-two', '1')
    await git.run('checkout', '-b', 'on-two')
    await git.commit('on-two', '1', 'On two')
    await git.run('push', 'origin', 'HEAD')
    const { data } = await open('on-two')
    expect(data.commits).toBe(2)
    const change = { ...shop, pull_number: data.number, base: 'base-two' }
    const changed = await dave.request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', change)
    expect(changed.data).toMatchObject({ commits: 1, base: { ref: 'base-two' } })
    const wrong = dave.request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', { ...change, base: 'none' })
    expect((await refusal(wrong)).status).toBe(422)
  })

  test('failing statuses make it unstable', async () => {
    const sha = await branch('shaky', 'shaky', '1')
    const { data } = await open('shaky')
    await dave.request('POST /repos/{owner}/{repo}/statuses/{sha}', { ...shop, sha, state: 'failure', context: 'ci' })
    const shown = () => tested(data.number)
    expect((await shown()).data.mergeable_state).toBe('unstable')
    await dave.request('POST /repos/{owner}/{repo}/statuses/{sha}', { ...shop, sha, state: 'success', context: 'ci' })
    expect((await shown()).data.mergeable_state).toBe('clean')
  })
})

describe('the test merge', () => {
  const show = async (pull_number: number) =>
    (await dave.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', { ...shop, pull_number })).data
  const mergeRef = async (number: number) => {
    const { stdout } = await git.run('ls-remote', 'origin', `refs/pull/${number}/merge`)
    return stdout.split('\t')[0]
  }
  const parentsOf = async (ref: string) =>
    (await dave.request('GET /repos/{owner}/{repo}/commits/{ref}', { ...shop, ref })).data.parents.map(one => one.sha)
  const main = async () =>
    (await dave.request('GET /repos/{owner}/{repo}/branches/{branch}', { ...shop, branch: 'main' })).data.commit.sha

  test('is unknown until it was asked for, and made again after a push to head or base', async () => {
    const head = await branch('tested', 'tested', '1')
    const { number } = (await open('tested')).data
    expect(await mergeRef(number)).toBe('')
    expect(await show(number)).toMatchObject({ mergeable: null, mergeable_state: 'unknown', merge_commit_sha: null })
    const first = await show(number)
    expect(first).toMatchObject({ mergeable: true, merge_commit_sha: await mergeRef(number) })
    expect(await parentsOf(first.merge_commit_sha ?? '')).toEqual([await main(), head])
    const next = await git.commit('tested', '2', 'More')
    await git.run('push', 'origin', 'HEAD:tested')
    expect(await show(number)).toMatchObject({ mergeable: null, merge_commit_sha: first.merge_commit_sha })
    const second = await show(number)
    expect(await parentsOf(second.merge_commit_sha ?? '')).toEqual([await main(), next])
    await branch('other-work', 'other-work', '1')
    await merge((await open('other-work')).data.number)
    expect((await show(number)).mergeable).toBeNull()
    expect(await parentsOf((await show(number)).merge_commit_sha ?? '')).toEqual([await main(), next])
  })

  test('a conflict leaves the ref of the last test that succeeded', async () => {
    await branch('stale', 'disputed', 'mine\n')
    await branch('faster', 'disputed', 'yours\n')
    const { number } = (await open('stale')).data
    await tested(number)
    const before = await mergeRef(number)
    await merge((await open('faster')).data.number)
    expect((await tested(number)).data).toMatchObject({ mergeable: false, merge_commit_sha: before })
    expect(await mergeRef(number)).toBe(before)
  })

  test('a fault keeps it unknown', async () => {
    const { number } = (await openFrom('untested')).data
    emulator.context.faults.arm({ kind: 'merge-not-tested' }, 2)
    expect([await show(number), await show(number), await show(number), await show(number)].map(one => one.mergeable)).toEqual([
      null,
      null,
      null,
      true,
    ])
  })
})

describe('labels and reviews', () => {
  const add = (by: RestClient, issue_number: number, labels: string[]) =>
    by.request('POST /repos/{owner}/{repo}/issues/{issue_number}/labels', { ...shop, issue_number, labels })

  test('labels need more than read access, and are shown with the pull request and in the list', async () => {
    const { number } = (await openFrom('labelled')).data
    const clients = createRestClients(emulator)
    const [noah, olivia] = ['noah', 'olivia'].map(login => clients.by(emulator.personalTokens[login] ?? ''))
    if (!noah || !olivia) throw new Error('the seed has neither')
    await olivia.request('PUT /repos/{owner}/{repo}/collaborators/{username}', { ...shop, username: 'noah', permission: 'pull' })
    await add(dave, number, ['Preview', 'preview', 'big'])
    expect((await refusal(add(noah, number, ['mine']))).status).toBe(403)
    const { data } = await dave.request('GET /repos/{owner}/{repo}/pulls', {
      ...shop,
      sort: 'updated',
      direction: 'desc',
      per_page: 1,
    })
    expect(data.map(one => [one.number, one.labels.map(label => label.name)])).toEqual([[number, ['Preview', 'big']]])
  })

  test('the author cannot approve; a review names the commit that was looked at', async () => {
    const head = await branch('reviewed', 'reviewed', '1')
    const { number } = (await open('reviewed')).data
    const olivia = createRestClients(emulator).by(emulator.personalTokens['olivia'] ?? '')
    const review = { ...shop, pull_number: number, event: 'APPROVE' as const }
    const path = 'POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews'
    expect((await refusal(dave.request(path, review))).status).toBe(422)
    expect((await refusal(olivia.request(path, { ...review, commit_id: await mainHead() }))).status).toBe(422)
    await git.commit('reviewed', '2', 'More')
    await git.run('push', 'origin', 'HEAD:reviewed')
    expect((await olivia.request(path, { ...review, commit_id: head })).data).toMatchObject({
      state: 'APPROVED',
      commit_id: head,
    })
  })

  const mainHead = async () =>
    (await dave.request('GET /repos/{owner}/{repo}/branches/{branch}', { ...shop, branch: 'main' })).data.commit.sha
})

test('the list is paged, by state, and costs nothing while it is the same', async () => {
  for (const name of ['listed-one', 'listed-two']) await openFrom(name)
  const ask = (query: string, etag?: string) =>
    fetch(`${emulator.apiUrl}/repositories/4001/pulls?${query}`, {
      headers: {
        authorization: `Bearer ${emulator.personalTokens['dave']}`,
        ...defined({ 'if-none-match': etag }),
      },
    })
  const first = await ask('state=open&per_page=1')
  expect(first.headers.get('link')).toContain('rel="next"')
  const etag = first.headers.get('etag') ?? ''
  expect((await ask('state=open&per_page=1', etag)).status).toBe(304)
  const [newest] = (await first.json()) as { number: number }[]
  await dave.request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', {
    ...shop,
    pull_number: newest?.number ?? 0,
    state: 'closed',
  })
  expect((await ask('state=open&per_page=1', etag)).status).toBe(200)
  const closed = (await (await ask('state=closed&per_page=100')).json()) as { number: number }[]
  expect(closed.map(one => one.number)).toContain(newest?.number)
})
