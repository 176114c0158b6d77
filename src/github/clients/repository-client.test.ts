// The clients that send a token, against a scripted GitHub.
import { describe, expect, test } from 'vitest'
import { type Clock, systemClock } from '../../lib/clock.ts'
import { SecretString } from '../../lib/secret-string.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import { scriptedGitHub } from '../testing/scripted-github.ts'
import { createRepositoryClient } from './repository-client.ts'
import { createUserClient } from './user-client.ts'

const impatient: Clock = { ...systemClock, sleep: () => Promise.resolve() }

function depsFor(url: string, clock: Clock = impatient) {
  return {
    endpoints: { host: 'github.test', web: url, api: url },
    token: new SecretString(`ghs_${crypto.randomUUID()}`),
    log: silentLog,
    clock,
  }
}

const sha = 'a'.repeat(40)
const main = { name: 'main', commit: { sha } }

describe('the repository client', () => {
  test('keeps the slashes of a branch inside one segment of the path', async () => {
    await using github = await scriptedGitHub(() => ({ status: 200, body: main }))
    await expect(createRepositoryClient(depsFor(github.url)).branch('acme/shop', 'feature/x')).resolves.toBe(sha)
    expect(github.asked.map(asked => asked.path)).toEqual(['/repos/acme/shop/branches/feature%2Fx'])
  })

  test('resolves to undefined for what the token cannot see', async () => {
    await using github = await scriptedGitHub(() => ({ status: 404, body: { message: 'Not Found' } }))
    const client = createRepositoryClient(depsFor(github.url))
    await expect(client.branch('acme/gone', 'main')).resolves.toBeUndefined()
    await expect(client.pullRequest('acme/gone', 1)).resolves.toBeUndefined()
    await expect(client.userById(5)).resolves.toBeUndefined()
    await expect(client.collaboratorPermission('acme/shop', 'dave')).resolves.toEqual({ permission: 'none', userId: 0 })
  })

  test.each([
    [409, 'Git Repository is empty.'],
    [422, 'No commit found for SHA: abc'],
    [451, 'Repository access blocked'],
  ])('resolves to undefined when GitHub refuses the read with %i', async (status, message) => {
    await using github = await scriptedGitHub(() => ({ status, body: { message } }))
    await expect(createRepositoryClient(depsFor(github.url)).branch('acme/shop', 'main')).resolves.toBeUndefined()
  })

  test('reads the head of a pull request whose fork and author are gone', async () => {
    const body = { head: { sha, repo: null }, base: { repo: { id: 11 } }, user: null }
    await using github = await scriptedGitHub(() => ({ status: 200, body }))
    const found = await createRepositoryClient(depsFor(github.url)).pullRequest('acme/shop', 7)
    expect(found).toEqual({ headSha: sha, baseRepositoryId: 11 })
    expect(github.asked[0]?.path).toBe('/repos/acme/shop/pulls/7')
  })

  test('reads the finer role, and the coarse permission when the role is a custom one', async () => {
    const roles = [
      { permission: 'write', role_name: 'maintain', user: { id: 3 } },
      { permission: 'write', role_name: 'release-captain', user: { id: 3 } },
    ]
    await using github = await scriptedGitHub((_asked, index) => ({ status: 200, body: roles[index] }))
    const client = createRepositoryClient(depsFor(github.url))
    await expect(client.collaboratorPermission('acme/shop', 'dave')).resolves.toEqual({ permission: 'maintain', userId: 3 })
    await expect(client.collaboratorPermission('acme/shop', 'dave')).resolves.toEqual({ permission: 'write', userId: 3 })
  })

  test('retries when GitHub does not know a fresh token yet', async () => {
    await using github = await scriptedGitHub((_asked, index) =>
      index < 2 ? { status: 401, body: { message: 'Bad credentials' } } : { status: 200, body: main },
    )
    await expect(createRepositoryClient(depsFor(github.url)).branch('acme/shop', 'main')).resolves.toBe(sha)
    expect(github.asked).toHaveLength(3)
  })

  test('does not retry when GitHub refuses an older token', async () => {
    let now = 0
    const later: Clock = { now: () => new Date(now), sleep: () => Promise.resolve() }
    await using github = await scriptedGitHub(() => ({ status: 401, body: { message: 'Bad credentials' } }))
    const client = createRepositoryClient(depsFor(github.url, later))
    now = 60_000
    await expect(client.branch('acme/shop', 'main')).rejects.toMatchObject({ reason: 'CredentialRefused' })
    expect(github.asked).toHaveLength(1)
  })

  test('names the field of an answer that is missing or of another type', async () => {
    await using github = await scriptedGitHub((_asked, index) => ({
      status: 200,
      body: index === 0 ? { commit: {} } : { head: { sha }, base: { repo: { id: '11' } } },
    }))
    const client = createRepositoryClient(depsFor(github.url))
    await expect(client.branch('acme/shop', 'main')).rejects.toThrow('branch.commit.sha is not a text')
    await expect(client.pullRequest('acme/shop', 7)).rejects.toThrow('base.repo.id is not an id')
  })
})

describe('the user client', () => {
  test('reads all pages', async () => {
    const page = (ids: readonly number[]) => ({ total_count: 3, installations: ids.map(installation) })
    const installation = (id: number) => ({
      id,
      app_id: 7,
      account: { id: 1, login: 'acme', type: 'Organization' },
      suspended_at: null,
      repository_selection: 'all',
      permissions: {},
    })
    await using github = await scriptedGitHub(asked =>
      asked.path.includes('page=2')
        ? { status: 200, body: page([3]) }
        : {
            status: 200,
            body: page([1, 2]),
            headers: { link: `<http://${asked.headers.host}/user/installations?page=2>; rel="next"` },
          },
    )
    const installations = await createUserClient(depsFor(github.url)).installations()
    expect(installations.map(item => item.id)).toEqual([1, 2, 3])
  })

  test('does not send the person’s token to another host for the next page', async () => {
    await using elsewhere = await scriptedGitHub(() => ({ status: 200, body: [] }))
    await using github = await scriptedGitHub(() => ({
      status: 200,
      body: [{ id: 1, login: 'acme' }],
      headers: { link: `<${elsewhere.url}/user/orgs?page=2>; rel="next"` },
    }))
    await expect(createUserClient(depsFor(github.url)).organizations()).rejects.toMatchObject({ code: 'upstream_failed' })
    expect(elsewhere.asked).toHaveLength(0)
  })

  test('resolves to undefined for an organisation that the person is not a member of', async () => {
    await using github = await scriptedGitHub(() => ({ status: 404, body: { message: 'Not Found' } }))
    await expect(createUserClient(depsFor(github.url)).organizationMembership('globex')).resolves.toBeUndefined()
  })

  test('reports a missing single sign-on instead of no membership', async () => {
    await using github = await scriptedGitHub(() => ({
      status: 403,
      body: { message: 'Resource protected by organization SAML enforcement.' },
      headers: { 'x-github-sso': 'required; url=https://github.test/sso' },
    }))
    await expect(createUserClient(depsFor(github.url)).organizationMembership('globex')).rejects.toMatchObject({
      code: 'forbidden',
      reason: 'SingleSignOnNeeded',
    })
  })
})
