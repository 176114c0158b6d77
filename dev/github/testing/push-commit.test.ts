// What a commit without a client of git leaves behind is what a push leaves.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPullRequest } from '../actions/pull-requests/pull-requests.ts'
import type { RunningEmulator } from '../emulator.ts'
import { repositoryById, userByLogin } from '../state/github-state.ts'
import { addCommit, pushCommit } from './push-commit.ts'
import { startStockedEmulator } from './stocked-emulator.ts'

const shop = 4001

let github: RunningEmulator
beforeAll(async () => {
  github = await startStockedEmulator()
})
afterAll(() => github?.stop())

function daveInShop() {
  const { context } = github
  const repository = repositoryById(context.state, shop) ?? expect.fail('no repository')
  return { context, repository, sender: userByLogin(context.state, 'dave') ?? expect.fail('no dave') }
}

test('a branch begins at main, goes on from its last commit, and is replaced by one on another branch', async () => {
  const action = daveInShop()
  const { git } = action.context
  const main = await git.resolve(shop, 'main')
  const parentsOf = async (sha: string) => (await git.commit(shop, sha)).parents
  const first = await pushCommit(action, { branch: 'work', text: 'one' })
  expect(await parentsOf(first)).toEqual([main])
  const second = await pushCommit(action, { branch: 'work', text: 'two' })
  expect(await parentsOf(second)).toEqual([first])
  const replaced = await pushCommit(action, { branch: 'work', text: 'three', onto: 'main' })
  expect(await parentsOf(replaced)).toEqual([main])
  expect(await git.resolve(shop, 'work')).toBe(replaced)
  expect(await git.run(['show', `${replaced}:page.txt`], { cwd: git.pathOf(shop) })).toBe('three')
  await expect(pushCommit(action, { branch: 'work', text: 'x', onto: 'nowhere' })).rejects.toThrow('there is no nowhere')
})

test('the pull request of the branch follows a pushed commit, and not one of which nobody is told', async () => {
  const action = daveInShop()
  const before = await pushCommit(action, { branch: 'followed', text: 'one' })
  const wanted = { title: 'x', body: null, head: 'followed', seesHead: () => true, base: 'main', draft: false }
  const pull = await openPullRequest(action, wanted)
  expect(pull.head.sha).toBe(before)
  const after = await pushCommit(action, { branch: 'followed', text: 'two' })
  expect(pull.head.sha).toBe(after)
  expect(await addCommit(action, { branch: 'followed', text: 'three' })).toMatchObject({
    ref: 'refs/heads/followed',
    before: after,
  })
  expect(pull.head.sha).toBe(after)
})
