// The rules of pull requests: what cannot be opened, what cannot be merged, and what a merge leaves behind.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RunningEmulator, startEmulator } from '../emulator.ts'
import { cloneUrl, createGitClient, type GitClient } from '../testing/git-client.ts'
import { createRestClients, type RestClient, refusal } from '../testing/rest-client.ts'

const shop = { owner: 'acme', repo: 'shop' }
let emulator: RunningEmulator
let dave: RestClient
let git: GitClient

beforeAll(async () => {
  emulator = await startEmulator()
  dave = createRestClients(emulator).by(emulator.personalTokens['dave'] ?? '')
  git = await createGitClient()
  await git.run('clone', cloneUrl(emulator.url, 'acme/shop', emulator.personalTokens['dave']), '.')
})
afterAll(async () => {
  await git.remove()
  await emulator.stop()
})

/** A branch off main with one commit, pushed. */
const branch = async (name: string, path: string, text: string): Promise<string> => {
  await git.run('fetch', 'origin')
  await git.run('checkout', '-B', name, 'origin/main')
  const sha = await git.commit(path, text, `Change ${path}`)
  await git.run('push', 'origin', 'HEAD')
  return sha
}
const open = (head: string, base = 'main') =>
  dave.request('POST /repos/{owner}/{repo}/pulls', { ...shop, title: head, head, base })
const merge = (pull_number: number, more = {}) =>
  dave.request('PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge', { ...shop, pull_number, ...more })

test('what has no head, no base, no commits or is open already cannot be opened', async () => {
  await branch('good', 'good', '1')
  await git.run('push', 'origin', 'origin/main:refs/heads/same')
  for (const [head, base] of [['none'], ['good', 'none'], ['same']] as const)
    expect((await refusal(open(head, base))).status).toBe(422)
  await open('good')
  expect(await refusal(open('good'))).toMatchObject({ status: 422, message: 'Validation Failed' })
})

test('of two requests at once for the same branches one is refused', async () => {
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

test('a conflict is shown and cannot be merged', async () => {
  await branch('left', 'contested', 'left\n')
  await branch('right', 'contested', 'right\n')
  const [left, right] = [(await open('left')).data.number, (await open('right')).data.number]
  await merge(left)
  const shown = await dave.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', { ...shop, pull_number: right })
  expect(shown.data).toMatchObject({ mergeable: false, mergeable_state: 'dirty' })
  expect(await refusal(merge(right))).toEqual({ status: 405, message: 'Pull Request is not mergeable' })
})

test('a merge of a head that has moved on is refused, as are a rebase and a second merge', async () => {
  const before = await branch('moving', 'moving', '1')
  const { number } = (await open('moving')).data
  await git.commit('moving', '2', 'More')
  await git.run('push', 'origin', 'HEAD')
  expect((await refusal(merge(number, { sha: before }))).status).toBe(409)
  expect((await refusal(merge(number, { merge_method: 'rebase' }))).status).toBe(405)
  await merge(number)
  expect((await refusal(merge(number))).status).toBe(405)
})
