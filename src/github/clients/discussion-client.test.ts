// What counts as an approval on a pull request, against a scripted GitHub.
import { describe, expect, test } from 'vitest'
import { systemClock } from '../../lib/clock.ts'
import { SecretString } from '../../lib/secret-string.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import { type Asked, type ScriptedAnswer, scriptedGitHub } from '../testing/scripted-github.ts'
import { createAnswerCache } from '../transport/answer-cache.ts'
import { approvedCommit, createDiscussionClient, type DiscussionClient } from './discussion-client.ts'
import type { RepositoryPermission } from './repository-client.ts'
import { writerById } from './write-access.ts'

const sha = 'a'.repeat(40)
const mia = { id: 42, login: 'mia', type: 'User' }
const at = '2026-01-01T00:00:00Z'

const comment = (change: object = {}): object => ({
  body: `/sekisho approve ${sha}`,
  user: mia,
  created_at: at,
  updated_at: at,
  performed_via_github_app: null,
  ...change,
})
const review = (change: object = {}): object => ({ state: 'APPROVED', commit_id: sha, user: mia, body: '', ...change })
const statement = { by: { id: 42, login: 'mia' }, headCommit: sha }

async function withClient<T>(
  answer: (asked: Asked, index: number) => ScriptedAnswer,
  work: (client: DiscussionClient, asked: readonly Asked[]) => Promise<T>,
): Promise<T> {
  await using github = await scriptedGitHub(answer)
  const client = createDiscussionClient({
    endpoints: { host: 'github.test', web: github.url, api: github.url },
    token: new SecretString(`ghs_${crypto.randomUUID()}`),
    log: silentLog,
    clock: { ...systemClock, sleep: () => Promise.resolve() },
    answers: { cache: createAnswerCache(), scope: 'github.test/9' },
  })
  return await work(client, github.asked)
}

const commentsOf = (items: readonly object[]) =>
  withClient(
    () => ({ status: 200, body: items }),
    client => client.approvingComments(11, 7, items.length),
  )

describe('the command', () => {
  test.each([
    ['the command alone', `/sekisho approve ${sha}`],
    ['followed by a line of its own', `/sekisho approve ${sha}\r\nlooks good`],
    ['with spaces at its end', `/sekisho approve ${sha}  \n`],
  ])('is %s', (_what, body) => {
    expect(approvedCommit(body)).toBe(sha)
  })

  test.each([
    ['a short id, which can be forged', `/sekisho approve ${sha.slice(0, 12)}`],
    ['a longer one', `/sekisho approve ${sha}a`],
    ['no id', '/sekisho approve'],
    ['the head, which can change', '/sekisho approve HEAD'],
    ['a quoted command', `> /sekisho approve ${sha}`],
    ['a command in a code block', `\`\`\`\n/sekisho approve ${sha}\n\`\`\``],
    ['a command after other text', `Please write\n/sekisho approve ${sha}`],
    ['text behind it', `/sekisho approve ${sha} or not?`],
    ['two ids', `/sekisho approve ${sha} ${sha}`],
    ['another command', `/sekisho approved ${sha}`],
    ['indented text', `    /sekisho approve ${sha}`],
    ['an id of other characters', `/sekisho approve ${'g'.repeat(40)}`],
    ['an id with a character that looks like one', `/sekisho approve ${'а'.repeat(40)}`],
  ])('is not %s', (_what, body) => {
    expect(approvedCommit(body)).toBeUndefined()
  })
})

describe('comments', () => {
  test('that are as they were written approve, with the id of the person', async () => {
    await expect(commentsOf([comment()])).resolves.toEqual([statement])
  })

  test.each([
    ['edited ones', { updated_at: '2026-01-01T00:00:05Z' }],
    ['those of a bot', { user: { id: 43, login: 'merge[bot]', type: 'Bot' } }],
    ['those of an organisation', { user: { id: 44, login: 'acme', type: 'Organization' } }],
    ['those of a deleted account', { user: null }],
    ['those of the user that stands for deleted accounts', { user: { id: 10137, login: 'ghost', type: 'User' } }],
    ['those that a program wrote in the name of a person', { performed_via_github_app: { id: 5 } }],
    ['those without a text', { body: null }],
  ])('do not count: %s', async (_what, change) => {
    await expect(commentsOf([comment(change)])).resolves.toEqual([])
  })

  test('are read from the end, however many there are', async () => {
    const pages = await withClient(
      ({ path }) => ({ status: 200, body: path.endsWith('&page=9') ? full : [comment()] }),
      async (client, asked) => {
        await client.approvingComments(11, 7, 950)
        return asked.map(({ path }) => path)
      },
    )
    expect(pages).toEqual([
      '/repositories/11/issues/7/comments?per_page=100&page=9',
      '/repositories/11/issues/7/comments?per_page=100&page=10',
    ])
  })

  test('cost nothing while nothing new was said', async () => {
    await withClient(
      ({ headers }) =>
        headers['if-none-match'] === '"x"' ? { status: 304 } : { status: 200, body: [comment()], headers: { etag: '"x"' } },
      async (client, asked) => {
        await client.approvingComments(11, 7, 1)
        await expect(client.approvingComments(11, 7, 1)).resolves.toEqual([statement])
        expect(asked.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"x"'])
      },
    )
  })
})

const full: readonly object[] = Array.from({ length: 100 }, () => comment({ body: 'spam' }))

describe('reviews', () => {
  const reviewsOf = (items: readonly object[]) =>
    withClient(
      () => ({ status: 200, body: items }),
      client => client.approvingReviews(11, 7),
    )

  test('approve the commit that they are about', async () => {
    await expect(reviewsOf([review()])).resolves.toEqual([statement])
  })

  test.each([
    ['comments', { state: 'COMMENTED', body: `/sekisho approve ${sha}` }],
    ['requests for changes', { state: 'CHANGES_REQUESTED' }],
    ['dismissed ones', { state: 'DISMISSED' }],
    ['those of a bot', { user: { id: 43, login: 'approve[bot]', type: 'Bot' } }],
    ['those of a deleted account', { user: null }],
    ['those whose commit is gone', { commit_id: null }],
    ['those whose commit is not one', { commit_id: 'main' }],
  ])('do not count: %s', async (_what, change) => {
    await expect(reviewsOf([review(change)])).resolves.toEqual([])
  })

  test('are read to the end, within a bound', async () => {
    const asked = await withClient(
      () => ({ status: 200, body: Array.from({ length: 100 }, () => review({ state: 'COMMENTED' })) }),
      async (client, requests) => {
        await client.approvingReviews(11, 7)
        return requests.length
      },
    )
    expect(asked).toBe(10)
  })
})

describe('a pull request', () => {
  test('has its head, its author by id and the number of its comments', async () => {
    const body = { state: 'open', head: { sha, repo: { id: 12, owner: { id: 42 } } }, user: mia, comments: 3 }
    const found = await withClient(
      () => ({ status: 200, body }),
      client => client.pullRequest(11, 7),
    )
    expect(found).toEqual({
      isOpen: true,
      headCommit: sha,
      headRepositoryId: 12,
      headOwnerId: 42,
      author: { id: 42, login: 'mia' },
      comments: 3,
    })
  })

  test('whose fork and author are gone has neither', async () => {
    const body = { state: 'closed', head: { sha, repo: null }, user: null, comments: 0 }
    const found = await withClient(
      () => ({ status: 200, body }),
      client => client.pullRequest(11, 7),
    )
    expect(found).toEqual({
      isOpen: false,
      headCommit: sha,
      headRepositoryId: undefined,
      headOwnerId: undefined,
      author: undefined,
      comments: 0,
    })
  })

  test('that is not there is undefined', async () => {
    const found = await withClient(
      () => ({ status: 404, body: {} }),
      client => client.pullRequest(11, 7),
    )
    expect(found).toBeUndefined()
  })
})

describe('write access', () => {
  const client = (permission: RepositoryPermission, userId = 42, known = true) => ({
    userById: async (id: number) => (known ? { id, login: 'mia-now' } : undefined),
    collaboratorPermission: async (_repository: number, login: string) => {
      expect(login).toBe('mia-now')
      return { permission, userId }
    },
  })

  test.each(['write', 'maintain', 'admin'] as const)('is %s, under the present login', async permission => {
    await expect(writerById(client(permission), 11, 42)).resolves.toEqual({ id: 42, login: 'mia-now' })
  })

  test.each(['none', 'read', 'triage'] as const)('is not %s', async permission => {
    await expect(writerById(client(permission), 11, 42)).resolves.toBeUndefined()
  })

  test('is not that of whoever took the login, nor of an account that is gone', async () => {
    await expect(writerById(client('admin', 99), 11, 42)).resolves.toBeUndefined()
    await expect(writerById(client('admin', 42, false), 11, 42)).resolves.toBeUndefined()
  })
})
