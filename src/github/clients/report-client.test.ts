// What is written about commits and pull requests, against a scripted GitHub: once, by id, and only what this App wrote is ever
// found.
import { describe, expect, test } from 'vitest'
import { type Clock, systemClock } from '../../lib/clock.ts'
import { SecretString } from '../../lib/secret-string.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import { type Asked, type ScriptedAnswer, scriptedGitHub } from '../testing/scripted-github.ts'
import { createReportClient, type DeploymentReport } from './report-client.ts'

const impatient: Clock = { ...systemClock, sleep: () => Promise.resolve() }
const appId = 7
const own = { performed_via_github_app: { id: appId } }
const sha = 'a'.repeat(40)

async function against(answer: (asked: Asked, index: number) => ScriptedAnswer) {
  const github = await scriptedGitHub(answer)
  const client = createReportClient({
    endpoints: { host: 'github.test', web: github.url, api: github.url },
    token: new SecretString(`ghs_${crypto.randomUUID()}`),
    log: silentLog,
    clock: impatient,
    appId,
  })
  return { client, github, [Symbol.asyncDispose]: () => github[Symbol.asyncDispose]() }
}

const deployment: DeploymentReport = {
  commit: sha,
  environment: 'preview/shop',
  isTransient: true,
  description: 'Preview of pull request #1',
  task: 'deploy:sekisho:shop-pr-1',
  marker: 'm',
}

describe('comments', () => {
  test('the first own one that begins with the marker is found, on any page, and no copy by somebody else', async () => {
    const others = Array.from({ length: 30 }, (_, index) => ({ id: index + 1, body: 'MARK', performed_via_github_app: null }))
    const last = [
      { id: 40, body: 'MARK', performed_via_github_app: { id: 8 } },
      { id: 41, body: 'see MARK', ...own },
      { id: 42, body: 'MARK text', ...own },
    ]
    await using one = await against(({ path }) => ({ status: 200, body: path.includes('page=2') ? last : others }))
    await expect(one.client.findComment(11, 3, 'MARK')).resolves.toBe(42)
    expect(one.github.asked.map(({ path }) => path)).toEqual([
      '/repositories/11/issues/3/comments?per_page=30&page=1',
      '/repositories/11/issues/3/comments?per_page=30&page=2',
    ])
  })

  test('an edit of one that a person deleted says so', async () => {
    await using one = await against(() => ({ status: 404, body: { message: 'Not Found' } }))
    await expect(one.client.editComment(11, 42, 'text')).resolves.toBe(false)
  })

  test('a write without an answer is not repeated: it could be there twice', async () => {
    await using one = await against(() => ({ status: 502, body: { message: 'Bad Gateway' } }))
    await expect(one.client.createComment(11, 3, 'text')).rejects.toMatchObject({ code: 'unavailable' })
    expect(one.github.asked.map(({ method, path }) => `${method} ${path}`)).toEqual(['POST /repositories/11/issues/3/comments'])
  })

  test('a limit names its end', async () => {
    const message = 'You have exceeded a secondary rate limit'
    await using one = await against(() => ({ status: 403, body: { message }, headers: { 'retry-after': '40' } }))
    await expect(one.client.createComment(11, 3, 'text')).rejects.toMatchObject({
      code: 'too_many_requests',
      retryAfterSeconds: 40,
    })
    expect(one.github.asked).toHaveLength(1)
  })
})

describe('deployments', () => {
  test('are created without a merge and without waiting for other statuses', async () => {
    await using one = await against(() => ({ status: 201, body: { id: 5 } }))
    await expect(one.client.createDeployment(11, deployment)).resolves.toBe(5)
    expect(JSON.parse(one.github.asked[0]?.body ?? '')).toEqual({
      ref: sha,
      task: 'deploy:sekisho:shop-pr-1',
      environment: 'preview/shop',
      description: 'Preview of pull request #1',
      auto_merge: false,
      required_contexts: [],
      transient_environment: true,
      production_environment: false,
      payload: { sekisho: 'm' },
    })
  })

  test('are found by commit, environment, task, App and marker', async () => {
    const body = [
      { id: 1, payload: { sekisho: 'm' }, performed_via_github_app: null },
      { id: 2, payload: { sekisho: 'other' }, ...own },
      { id: 3, payload: 'm', ...own },
      { id: 4, payload: { sekisho: 'm' }, ...own },
    ]
    await using one = await against(() => ({ status: 200, body }))
    await expect(one.client.findDeployment(11, deployment)).resolves.toBe(4)
    const [asked] = one.github.asked
    expect(new URL(asked?.path ?? '', 'http://x').searchParams.toString()).toBe(
      `sha=${sha}&environment=preview%2Fshop&task=deploy%3Asekisho%3Ashop-pr-1&per_page=100`,
    )
  })

  test('have the newest status; an empty URL is none', async () => {
    const shown = { state: 'success', description: 'Running', environment_url: 'https://a.test', log_url: 'https://b.test' }
    await using one = await against(() => ({ status: 200, body: [shown] }))
    const status = {
      state: 'success',
      description: 'Running',
      environmentUrl: 'https://a.test',
      logUrl: 'https://b.test',
    } as const
    await expect(one.client.findDeploymentStatus(11, 5)).resolves.toEqual(status)
  })

  test.each([true, false])('end others in the environment only when asked to: %s', async endsOthers => {
    await using one = await against(() => ({ status: 201, body: { id: 6 } }))
    const status = { state: 'success', description: 'Running', environmentUrl: undefined, logUrl: 'https://b.test' } as const
    await expect(one.client.createDeploymentStatus(11, 5, { ...status, endsOthers })).resolves.toBe(true)
    expect(JSON.parse(one.github.asked[0]?.body ?? '')).toMatchObject({ state: 'success', auto_inactive: endsOthers })
  })

  test('that a person deleted have none, and get none', async () => {
    await using one = await against(() => ({ status: 404, body: { message: 'Not Found' } }))
    const text = { description: 'Destroyed', environmentUrl: undefined, logUrl: 'https://b.test' }
    const status = { ...text, state: 'inactive', endsOthers: false } as const
    await expect(one.client.findDeploymentStatus(11, 5)).resolves.toBeUndefined()
    await expect(one.client.createDeploymentStatus(11, 5, status)).resolves.toBe(false)
  })
})

test('the status of a commit is the newest one of its context', async () => {
  const status = { state: 'success', context: 'sekisho/shop', description: 'Running', targetUrl: 'https://b.test' } as const
  const shown = { state: 'success', description: 'Running', target_url: 'https://b.test' }
  const body = [
    { ...shown, context: 'other', state: 'failure' },
    { ...shown, context: 'sekisho/shop' },
    { ...shown, context: 'sekisho/shop', state: 'pending' },
  ]
  await using one = await against(({ method }) => (method === 'GET' ? { status: 200, body } : { status: 201, body: { id: 1 } }))
  await expect(one.client.findCommitStatus(11, sha, 'sekisho/shop')).resolves.toEqual(status)
  await expect(one.client.findCommitStatus(11, sha, 'sekisho/none')).resolves.toBeUndefined()
  await one.client.createCommitStatus(11, sha, status)
  expect(one.github.asked.at(-1)).toMatchObject({ method: 'POST', path: `/repositories/11/statuses/${sha}` })
})
