// What a checkout knows, with git itself in folders of the test.
import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createCheckout, gitIn, repositoryOfUrl } from './checkout.ts'

let folder = ''
const git = (...args: readonly string[]): string => {
  const identity = ['-c', 'user.name=t', '-c', 'user.email=t@example.com', '-c', 'commit.gpgsign=false']
  return execFileSync('git', ['-C', folder, ...identity, ...args], { encoding: 'utf8' }).trim()
}
const commit = async (text: string): Promise<string> => {
  await writeFile(join(folder, 'file'), text)
  git('add', '.')
  git('commit', '--quiet', '--message', text)
  return git('rev-parse', 'HEAD')
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sekisho-checkout-'))
  git('init', '--quiet', '--initial-branch', 'main')
  git('remote', 'add', 'origin', 'https://github.com/Acme/shop.git')
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test.each([
  ['https://github.com/acme/shop.git', 'acme/shop'],
  ['https://dave:secret@github.com/acme/Shop', 'acme/shop'],
  ['git@github.com:acme/shop.git', 'acme/shop'],
  ['ssh://git@github.com:22/acme/shop/', 'acme/shop'],
  ['shop', undefined],
])('%s is %s', (url, repository) => {
  expect(repositoryOfUrl(url)).toBe(repository)
})

test('it says what was pushed, what is not pushed yet, and which commit is later', async () => {
  const checkout = createCheckout(gitIn(folder))
  const first = await commit('first')
  expect(await checkout.pushed('acme/shop', 'main')).toBeUndefined()
  git('update-ref', 'refs/remotes/origin/main', first)
  expect(await checkout.pushed('acme/shop', 'main')).toEqual({ commit: first, branch: 'origin/main', unpushed: undefined })
  const second = await commit('second')
  expect(await checkout.pushed('acme/shop', 'main')).toMatchObject({ commit: first, unpushed: second })
  expect(await checkout.pushed('acme/other', 'main')).toBeUndefined()
  expect(await checkout.pushed('acme/shop', 'other')).toBeUndefined()
  expect(await checkout.isLater(second, first)).toBe(true)
  expect(await checkout.isLater(first, second)).toBe(false)
  expect(await checkout.isLater(first, first)).toBe(false)
  expect(await checkout.isLater(second, 'd'.repeat(40))).toBe(false)
  git('checkout', '--quiet', '-b', 'forced', first)
  const third = await commit('third')
  expect(await checkout.isLater(third, second)).toBe(true)
})

test('a folder that is no checkout, and a computer without git, know nothing', async () => {
  expect(await createCheckout(gitIn(tmpdir())).pushed('acme/shop', 'main')).toBeUndefined()
  expect(await createCheckout(async () => undefined).isLater('a', 'b')).toBe(false)
})
