// The client of AppPipelines against a scripted GitHub: what it keeps of what outsiders write, and what it refuses.
import { describe, expect, test } from 'vitest'
import { systemClock } from '../../lib/clock.ts'
import { SecretString } from '../../lib/secret-string.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import { scriptedGitHub } from '../testing/scripted-github.ts'
import { createPullRequestClient } from './pull-request-client.ts'

const depsFor = (url: string) => ({
  endpoints: { host: 'github.test', web: url, api: url },
  token: new SecretString(`ghs_${crypto.randomUUID()}`),
  log: silentLog,
  clock: systemClock,
})

const sha = 'a'.repeat(40)
const answer = (changes: object = {}) => ({
  number: 7,
  state: 'open',
  title: 'Fix',
  draft: false,
  head: { sha, ref: 'fix', repo: { id: 9 } },
  base: {
    sha: 'b'.repeat(40),
    ref: 'main',
    repo: { id: 11, full_name: 'acme/shop', pushed_at: '2026-01-01T00:00:01Z' },
  },
  user: { id: 3, login: 'dave', type: 'User' },
  labels: [{ name: 'ok' }],
  updated_at: '2026-01-01T00:00:00Z',
  ...changes,
})

describe('a pull request', () => {
  test('is read by the id of its repository', async () => {
    await using github = await scriptedGitHub(() => ({ status: 200, body: answer() }))
    expect(await createPullRequestClient(depsFor(github.url)).pullRequest(11, 7)).toEqual({
      number: 7,
      repositoryName: 'acme/shop',
      state: 'open',
      draft: false,
      skips: false,
      headCommit: sha,
      headBranch: 'fix',
      headRepository: 9,
      baseCommit: 'b'.repeat(40),
      baseBranch: 'main',
      author: { id: 3, login: 'dave', isBot: false },
      labels: ['ok'],
      updatedAt: '2026-01-01T00:00:00Z',
      pushedAt: '2026-01-01T00:00:01Z',
    })
    expect(github.asked[0]?.path).toBe('/repositories/11/pulls/7')
  })

  test.each<[string, object, object]>([
    [
      'of a deleted fork and a deleted account',
      { head: { sha, ref: 'x', repo: null }, user: null },
      { headRepository: undefined, author: undefined },
    ],
    [
      'of a bot',
      { user: { id: 4, login: 'renovate[bot]', type: 'Bot' } },
      { author: { id: 4, login: 'renovate[bot]', isBot: true } },
    ],
    ['whose title asks for no preview, in any case', { title: 'Fix [Skip Preview] it' }, { skips: true }],
    [
      'with a branch name that is too long',
      { head: { sha, ref: '🚀'.repeat(300), repo: { id: 9 } } },
      { headBranch: `${'🚀'.repeat(127)}\ufffd` },
    ],
  ])('%s', async (_what, changes, expected) => {
    await using github = await scriptedGitHub(() => ({ status: 200, body: answer(changes) }))
    expect(await createPullRequestClient(depsFor(github.url)).pullRequest(11, 7)).toMatchObject(expected)
  })

  test.each<[string, object, string]>([
    ['of another repository', { base: { sha, ref: 'main', repo: { id: 12, full_name: 'x/y' } } }, 'integrity_violation'],
    ['with another number', { number: 8 }, 'integrity_violation'],
    ['whose head is not a commit', { head: { sha: '$(reboot)', ref: 'x', repo: null } }, 'upstream_failed'],
  ])('%s is refused', async (_what, changes, code) => {
    await using github = await scriptedGitHub(() => ({ status: 200, body: answer(changes) }))
    await expect(createPullRequestClient(depsFor(github.url)).pullRequest(11, 7)).rejects.toMatchObject({ code })
  })

  test('that GitHub does not show is undefined, and a list that it does not show is an error', async () => {
    await using github = await scriptedGitHub(() => ({ status: 404, body: { message: 'Not Found' } }))
    const client = createPullRequestClient(depsFor(github.url))
    await expect(client.pullRequest(11, 7)).resolves.toBeUndefined()
    await expect(client.openPullRequests(11, 1)).rejects.toMatchObject({ code: 'not_found' })
  })
})
