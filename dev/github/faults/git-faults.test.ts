// The faults of git over HTTP, observed with the git client.
import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import type { RunningEmulator } from '../emulator.ts'
import { cloneUrl, createGitClient, type GitClient } from '../testing/git-client.ts'
import { startStockedEmulator } from '../testing/stocked-emulator.ts'

/** git and the validation are slow on a busy machine. */
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

let emulator: RunningEmulator
let git: GitClient
let url: string

beforeAll(async () => {
  emulator = await startStockedEmulator()
  url = cloneUrl(emulator.url, 'acme/shop', emulator.personalTokens['dave'])
})
afterAll(() => emulator.stop())
beforeEach(async () => {
  git = await createGitClient()
})
afterEach(async () => {
  emulator.context.faults.reset()
  await git.remove()
})

test('503 once, then the fetch works', async () => {
  emulator.context.faults.arm({ kind: 'git-status', path: '/acme/shop.git', status: 503, headers: { 'retry-after': '1' } })
  const broken = await git.run('clone', url, '.')
  expect([broken.ok, broken.stderr]).toEqual([false, expect.stringContaining('503')])
  expect(await git.run('clone', url, '.')).toMatchObject({ ok: true })
})

test('a reset in the middle of a pack leaves nothing behind; the next attempt succeeds', async () => {
  await git.run('clone', url, '.')
  const sha = await git.commit('big.txt', randomBytes(300_000).toString('hex'), 'Big')
  expect(await git.run('push', 'origin', 'HEAD:big')).toMatchObject({ ok: true })
  const reader = await createGitClient()
  emulator.context.faults.arm({
    kind: 'reset',
    method: 'POST',
    path: '/acme/shop.git/git-upload-pack',
    when: 'during',
    bytes: 50_000,
  })
  const broken = await reader.run('clone', '--branch=big', '-c', 'protocol.version=0', url, '.')
  expect([broken.ok, broken.stderr]).toEqual([false, expect.stringMatching(/reset by peer|early EOF|RPC failed/)])
  expect(emulator.context.faults.list()).toEqual([])
  expect(await reader.run('clone', '--branch=big', url, '.')).toMatchObject({ ok: true })
  expect((await reader.run('rev-parse', 'HEAD')).stdout.trim()).toBe(sha)
  await reader.remove()
})

test('a push whose response is reset has taken effect', async () => {
  await git.run('clone', url, '.')
  const sha = await git.commit('one.txt', '1', 'One')
  emulator.context.faults.arm({ kind: 'reset', path: '/acme/shop.git/git-receive-pack', when: 'after' })
  expect(await git.run('push', 'origin', 'HEAD:pushed')).toMatchObject({ ok: false })
  await waitUntil('the pushed commit', async seen =>
    seen((await git.run('ls-remote', url, 'refs/heads/pushed')).stdout).includes(sha),
  )
})

test('git also refuses a fresh token, and a slow pack arrives complete', async () => {
  const { state, faults } = emulator.context
  const [token] =
    Object.entries(state.credentials.accessTokens).find(([, one]) => one.kind === 'personal' && one.userId === 1002) ?? []
  faults.refuseToken(token ?? '', 403, 1)
  expect(await git.run('ls-remote', url)).toMatchObject({ ok: false, stderr: expect.stringContaining('403') })
  faults.arm({ kind: 'slow-body', path: '/acme/shop.git/info/refs', bytesPerSecond: 200 }, 2)
  // The first response only asks for credentials; the second one is the list of refs.
  const started = performance.now()
  expect(await git.run('ls-remote', url)).toMatchObject({ ok: true, stdout: expect.stringContaining('refs/heads/main') })
  expect(performance.now() - started).toBeGreaterThan(700)
})
