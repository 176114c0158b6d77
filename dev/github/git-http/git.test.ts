// Git over HTTP with the git client: who can fetch and push what, and the refusals.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { RunningEmulator } from '../emulator.ts'
import { isSafeRevision, refCandidates } from '../git/revision.ts'
import { cloneUrl, createGitClient, type GitClient } from '../testing/git-client.ts'
import { exchange } from '../testing/oauth.ts'
import { install, signIn } from '../testing/people.ts'
import { startStockedEmulator } from '../testing/stocked-emulator.ts'

let emulator: RunningEmulator
let git: GitClient

beforeAll(async () => {
  emulator = await startStockedEmulator({ app: { callbackUrls: ['http://127.0.0.1:9/callback'] } })
  const headers = { authorization: `Bearer ${emulator.personalTokens['olivia']}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ name: 'open', description: 'For everybody', private: false, auto_init: true })
  await fetch(`${emulator.apiUrl}/orgs/acme/repos`, { method: 'POST', headers, body })
  await install(emulator, await signIn(emulator, 'olivia'), 2001, { repositoryIds: [4001] })
})
afterAll(() => emulator.stop())
beforeEach(async () => {
  git = await createGitClient()
})
afterEach(() => git.remove())

function url(fullName: string, login?: string): string {
  return cloneUrl(emulator.url, fullName, login === undefined ? undefined : emulator.personalTokens[login])
}

describe('fetching', () => {
  test('a public repository needs no credentials; a private one asks for them', async () => {
    expect(await git.run('ls-remote', url('acme/open'))).toMatchObject({ ok: true })
    const refused = await git.run('ls-remote', url('acme/shop'))
    expect(refused.stderr).toMatch(/could not read Username|Authentication failed/)
    const answer = await fetch(`${emulator.url}/acme/shop.git/info/refs?service=git-upload-pack`)
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Basic realm="GitHub"'])
  })

  test('the first commit of a repository that starts with a README has its name and its description', async () => {
    await git.run('clone', url('acme/open'), '.')
    expect((await git.run('show', 'HEAD:README.md')).stdout).toBe('# open\nFor everybody\n')
  })

  test('names are case-insensitive and .git can be omitted', async () => {
    expect(await git.run('ls-remote', url('ACME/Shop', 'dave'))).toMatchObject({ ok: true })
    expect(await git.run('ls-remote', url('acme/shop', 'dave').replace('.git', ''))).toMatchObject({ ok: true })
  })

  test.each([
    ['a member without a team', 'mia', 'acme/shop'],
    ['a team member, another repository', 'dave', 'acme/secret-plans'],
    ['a stranger', 'noah', 'acme/shop'],
    ['anybody, a repository that does not exist', 'olivia', 'acme/none'],
  ])('%s is told that the repository does not exist', async (_who, login, name) => {
    expect((await git.run('ls-remote', url(name, login))).stderr).toContain('not found')
  })

  test('a wrong token is refused, also for a public repository', async () => {
    // git sends a credential only when asked for it; a build may send it at once.
    const authorization = `Basic ${Buffer.from('x-access-token:ghp_wrong').toString('base64')}`
    const answer = await fetch(`${emulator.url}/acme/open.git/info/refs?service=git-upload-pack`, { headers: { authorization } })
    expect(answer.status).toBe(401)
  })

  test('one commit can be fetched by its id, with depth 1', async () => {
    await git.run('clone', url('acme/shop', 'dave'), '.')
    const first = await git.commit('a', '1', 'One')
    const second = await git.commit('a', '2', 'Two')
    await git.run('push', 'origin', 'HEAD:by-id')
    const builder = await createGitClient()
    await builder.run('init', '--quiet', '.')
    expect(await builder.run('fetch', '--depth=1', url('acme/shop', 'dave'), first)).toMatchObject({ ok: true })
    expect((await builder.run('rev-list', '--count', 'FETCH_HEAD')).stdout.trim()).toBe('1')
    expect((await builder.run('cat-file', '-e', second)).ok).toBe(false)
    await builder.remove()
  })

  test('a user token of the App reaches what both the user and the App can reach', async () => {
    const dave = await signIn(emulator, 'dave')
    const { access_token } = await exchange(emulator, dave)
    expect(await git.run('ls-remote', cloneUrl(emulator.url, 'acme/shop', access_token))).toMatchObject({ ok: true })
    const olivia = await signIn(emulator, 'olivia')
    const owner = (await exchange(emulator, olivia)).access_token
    expect(await git.run('ls-remote', url('acme/secret-plans', 'olivia'))).toMatchObject({ ok: true })
    expect((await git.run('ls-remote', cloneUrl(emulator.url, 'acme/secret-plans', owner))).ok).toBe(false)
  })
})

describe('pushing', () => {
  test('an empty repository takes its first push, of ten megabytes', async () => {
    const headers = { authorization: `Bearer ${emulator.personalTokens['noah']}`, 'content-type': 'application/json' }
    await fetch(`${emulator.apiUrl}/user/repos`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ name: 'empty', private: true }),
    })
    await git.run('init', '--quiet', '-b', 'main', '.')
    const noise = Array.from({ length: 160_000 }, (_none, at) => `${at} ${Math.sin(at)} ${Math.cos(at)} ${Math.tan(at)}`).join(
      '\n',
    )
    const sha = await git.commit('big', noise, 'Big')
    expect(await git.run('push', url('noah/empty', 'noah'), 'HEAD:main')).toMatchObject({ ok: true })
    expect((await git.run('ls-remote', url('noah/empty', 'noah'))).stdout).toContain(sha)
  })

  test('reading a public repository does not allow pushing to it', async () => {
    await git.run('clone', url('acme/open', 'noah'), '.')
    await git.commit('x', 'x', 'X')
    expect((await git.run('push', 'origin', 'HEAD:main')).stderr).toContain('403')
  })

  test('a push without force that loses commits is refused and changes nothing', async () => {
    await git.run('clone', url('acme/shop', 'dave'), '.')
    await git.run('checkout', '--orphan', 'unrelated')
    const sha = await git.commit('y', 'y', 'Y')
    expect((await git.run('push', 'origin', 'HEAD:main')).ok).toBe(false)
    expect((await git.run('ls-remote', 'origin', 'refs/heads/main')).stdout).not.toContain(sha)
  })

  test('two concurrent pushes are each reported as their own', async () => {
    const clone = async (file: string): Promise<GitClient> => {
      const client = await createGitClient()
      await client.run('clone', url('acme/shop', 'dave'), '.')
      await client.commit(file, file, file)
      return client
    }
    const seen: unknown[] = []
    const original = emulator.context.webhooks.emit
    Object.assign(emulator.context.webhooks, {
      emit: (event: { payload: Record<string, unknown> }) => seen.push(event.payload['ref']),
    })
    const both = await Promise.all([clone('left'), clone('right')])
    await Promise.all(both.map((client, at) => client.run('push', 'origin', `HEAD:both-${at}`)))
    Object.assign(emulator.context.webhooks, { emit: original })
    expect(seen.sort()).toEqual(['refs/heads/both-0', 'refs/heads/both-1'])
    await Promise.all(both.map(client => client.remove()))
  })
})

describe('names of commits', () => {
  test.each([
    '--upload-pack=x',
    '-x',
    '../x',
    'a..b',
    'main^',
    'main~1',
    'main:file',
    '@{-1}',
    'a b',
    'a\n',
    '',
    'x'.repeat(1001),
  ])('%j never reaches git', text => expect(isSafeRevision(text)).toBe(false))

  test('a branch comes before a tag and a commit id', () => {
    expect(refCandidates('abcdef1')).toEqual(['refs/heads/abcdef1', 'refs/tags/abcdef1', 'abcdef1'])
  })
})
