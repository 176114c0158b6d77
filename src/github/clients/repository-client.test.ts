// The clients that carry a token, against a scripted GitHub.
import { describe, expect, test } from 'vitest'
import { type Clock, systemClock } from '../../lib/clock.ts'
import { silentLog } from '../../lib/log.ts'
import { SecretString } from '../../lib/secret-string.ts'
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

const shop = {
  id: 11,
  full_name: 'acme/shop',
  private: true,
  archived: false,
  default_branch: 'main',
  clone_url: 'http://github.test/acme/shop.git',
}

describe('the repository client', () => {
  test('turns an id into today’s name before it asks for a branch, and keeps slashes of a branch inside one segment', async () => {
    await using github = await scriptedGitHub(asked =>
      asked.path.startsWith('/repositories/')
        ? { status: 200, body: shop }
        : { status: 200, body: { name: 'feature/x', commit: { sha: 'a'.repeat(40) } } },
    )
    await expect(createRepositoryClient(depsFor(github.url)).branch(11, 'feature/x')).resolves.toBe('a'.repeat(40))
    expect(github.asked.map(asked => asked.path)).toEqual(['/repositories/11', '/repos/acme/shop/branches/feature%2Fx'])
  })

  test('says undefined for what the token cannot see', async () => {
    await using github = await scriptedGitHub(() => ({ status: 404, body: { message: 'Not Found' } }))
    const client = createRepositoryClient(depsFor(github.url))
    await expect(client.repository('acme/gone')).resolves.toBeUndefined()
    await expect(client.branch(11, 'main')).resolves.toBeUndefined()
    await expect(client.userById(5)).resolves.toBeUndefined()
    await expect(client.collaboratorPermission('acme/shop', 'dave')).resolves.toEqual({ permission: 'none', userId: 0 })
  })

  test('says undefined for a commit id that GitHub does not know', async () => {
    await using github = await scriptedGitHub(() => ({ status: 422, body: { message: 'No commit found for SHA: abc' } }))
    await expect(createRepositoryClient(depsFor(github.url)).commit('acme/shop', 'abc')).resolves.toBeUndefined()
  })

  test('a commit is found however much it changed', async () => {
    const change = { filename: 'a', patch: 'x'.repeat(200_000) }
    await using github = await scriptedGitHub(({ path }) => {
      const files = Number(new URL(path, 'http://github.test').searchParams.get('per_page') ?? 100)
      return { status: 200, body: { sha: 'a'.repeat(40), files: Array.from({ length: files }, () => change) } }
    })
    await expect(createRepositoryClient(depsFor(github.url)).commit('acme/shop', 'abc')).resolves.toBe('a'.repeat(40))
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

  test('tries again when GitHub does not know a fresh token yet', async () => {
    await using github = await scriptedGitHub((_asked, index) =>
      index < 2 ? { status: 401, body: { message: 'Bad credentials' } } : { status: 200, body: shop },
    )
    await expect(createRepositoryClient(depsFor(github.url)).repository(11)).resolves.toMatchObject({ id: 11 })
    expect(github.asked).toHaveLength(3)
  })

  test('takes the refusal of an older token for final', async () => {
    let now = 0
    const later: Clock = { now: () => new Date(now), sleep: () => Promise.resolve() }
    await using github = await scriptedGitHub(() => ({ status: 401, body: { message: 'Bad credentials' } }))
    const client = createRepositoryClient(depsFor(github.url, later))
    now = 60_000
    await expect(client.repository(11)).rejects.toMatchObject({ reason: 'CredentialRefused' })
    expect(github.asked).toHaveLength(1)
  })

  test('says which field of an answer is missing', async () => {
    await using github = await scriptedGitHub(() => ({ status: 200, body: { ...shop, id: '11' } }))
    await expect(createRepositoryClient(depsFor(github.url)).repository(11)).rejects.toThrow('repository.id')
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

  test('does not follow a page to another host with the person’s token', async () => {
    await using elsewhere = await scriptedGitHub(() => ({ status: 200, body: [] }))
    await using github = await scriptedGitHub(() => ({
      status: 200,
      body: [{ id: 1, login: 'acme' }],
      headers: { link: `<${elsewhere.url}/user/orgs?page=2>; rel="next"` },
    }))
    await expect(createUserClient(depsFor(github.url)).organizations()).rejects.toMatchObject({ code: 'upstream_failed' })
    expect(elsewhere.asked).toHaveLength(0)
  })

  test('says undefined for an organisation the person is no member of', async () => {
    await using github = await scriptedGitHub(() => ({ status: 404, body: { message: 'Not Found' } }))
    await expect(createUserClient(depsFor(github.url)).organizationMembership('globex')).resolves.toBeUndefined()
  })

  test('names the missing single sign-on instead of calling it no membership', async () => {
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
