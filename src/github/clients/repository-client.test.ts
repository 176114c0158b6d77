// The clients that send a token, against a scripted GitHub.
import { describe, expect, test } from 'vitest'
import { type Clock, systemClock } from '../../lib/clock.ts'
import { SecretString } from '../../lib/secret-string.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import { scriptedGitHub } from '../testing/scripted-github.ts'
import { createAnswerCache } from '../transport/answer-cache.ts'
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
    await expect(createRepositoryClient(depsFor(github.url)).branch(11, 'feature/x')).resolves.toBe(sha)
    expect(github.asked.map(asked => asked.path)).toEqual(['/repositories/11/branches/feature%2Fx'])
  })

  test('reads the present name of a branch after a redirect, as GitHub answers by the former one', async () => {
    await using github = await scriptedGitHub(({ path }) =>
      path.endsWith('/branches/master')
        ? { status: 301, headers: { location: '/repositories/11/branches/main' }, body: { message: 'Moved Permanently' } }
        : { status: 200, body: main },
    )
    const found = await createRepositoryClient(depsFor(github.url)).branchHead(11, 'master')
    expect(found).toEqual({ name: 'main', commit: sha, skips: false })
    expect(github.asked.map(asked => asked.path)).toEqual(['/repositories/11/branches/master', '/repositories/11/branches/main'])
  })

  test.each([
    ['docs [skip ci]', true],
    ['[CI Skip] docs', true],
    ['docs\n\n[no ci]', true],
    ['[skip actions] and [actions skip]', true],
    ['skip ci', false],
    ['[skip preview]', false],
    ['[skip  ci]', false],
  ])('the message %j', async (message, skips) => {
    const body = { ...main, commit: { sha, commit: { message } } }
    await using github = await scriptedGitHub(() => ({ status: 200, body }))
    expect(await createRepositoryClient(depsFor(github.url)).branchHead(11, 'main')).toMatchObject({ skips })
  })

  test('resolves to undefined for what the token cannot see', async () => {
    await using github = await scriptedGitHub(() => ({ status: 404, body: { message: 'Not Found' } }))
    const client = createRepositoryClient(depsFor(github.url))
    await expect(client.branch(12, 'main')).resolves.toBeUndefined()
    await expect(client.pullRequest(12, 1)).resolves.toBeUndefined()
    await expect(client.userById(5)).resolves.toBeUndefined()
    await expect(client.collaboratorPermission(11, 'dave')).resolves.toEqual({ permission: 'none', userId: 0 })
  })

  test.each([
    [409, 'Git Repository is empty.'],
    [422, 'No commit found for SHA: abc'],
    [451, 'Repository access blocked'],
  ])('resolves to undefined when GitHub refuses the read with %i', async (status, message) => {
    await using github = await scriptedGitHub(() => ({ status, body: { message } }))
    await expect(createRepositoryClient(depsFor(github.url)).branch(11, 'main')).resolves.toBeUndefined()
  })

  test('reads the head of a pull request whose fork and author are gone', async () => {
    const body = {
      state: 'open',
      head: { sha, repo: null },
      base: { ref: 'main', repo: { id: 11 } },
      mergeable: null,
      user: null,
    }
    await using github = await scriptedGitHub(() => ({ status: 200, body }))
    const found = await createRepositoryClient(depsFor(github.url)).pullRequest(11, 7)
    expect(found).toEqual({
      state: 'open',
      headSha: sha,
      headRepositoryId: undefined,
      baseRepositoryId: 11,
      baseBranch: 'main',
      mergeable: undefined,
      mergeCommit: undefined,
    })
    expect(github.asked[0]?.path).toBe('/repositories/11/pulls/7')
  })

  test('reads tree and parents of a commit, and refuses the answer about another one', async () => {
    const [tree, parent, other] = ['d', 'e', 'f'].map(letter => letter.repeat(40))
    const body = { sha, tree: { sha: tree }, parents: [{ sha: parent }] }
    await using github = await scriptedGitHub((_asked, index) => ({
      status: 200,
      body: index === 0 ? body : { ...body, sha: other },
    }))
    const client = createRepositoryClient(depsFor(github.url))
    await expect(client.commit(11, sha)).resolves.toMatchObject({ tree, parents: [parent] })
    expect(github.asked[0]?.path).toBe(`/repositories/11/git/commits/${sha}`)
    await expect(client.commit(11, sha)).rejects.toMatchObject({ code: 'integrity_violation' })
  })

  test('reads the finer role, and the coarse permission when the role is a custom one', async () => {
    const roles = [
      { permission: 'write', role_name: 'maintain', user: { id: 3 } },
      { permission: 'write', role_name: 'release-captain', user: { id: 3 } },
    ]
    await using github = await scriptedGitHub((_asked, index) => ({ status: 200, body: roles[index] }))
    const client = createRepositoryClient(depsFor(github.url))
    await expect(client.collaboratorPermission(11, 'dave')).resolves.toEqual({ permission: 'maintain', userId: 3 })
    await expect(client.collaboratorPermission(11, 'dave')).resolves.toEqual({ permission: 'write', userId: 3 })
  })

  const refusals = [
    [401, 'Bad credentials'],
    [403, 'Resource not accessible by integration'],
  ] as const

  test.each(refusals)('waits while GitHub does not know a fresh token, or what it may do, yet: %i', async (status, message) => {
    await using github = await scriptedGitHub((_asked, index) =>
      index < 2 ? { status, body: { message } } : { status: 200, body: main },
    )
    await expect(createRepositoryClient(depsFor(github.url)).branch(11, 'main')).resolves.toBe(sha)
    expect(github.asked).toHaveLength(3)
  })

  test.each(refusals)('gives up on a fresh token after four requests and 2.6 s: %i', async (status, message) => {
    const waits: number[] = []
    const counting: Clock = { ...systemClock, sleep: async milliseconds => void waits.push(milliseconds) }
    await using github = await scriptedGitHub(() => ({ status, body: { message } }))
    await expect(createRepositoryClient(depsFor(github.url, counting)).branch(11, 'main')).rejects.toThrow(message)
    expect([github.asked.length, waits]).toEqual([4, [200, 600, 1800]])
  })

  test.each([
    ['a suspended installation', 'This installation has been suspended', {}],
    ['a limit', 'You have exceeded a secondary rate limit', { 'retry-after': '60' }],
  ])('does not repeat what another wait does not change: %s', async (_what, message, headers) => {
    await using github = await scriptedGitHub(() => ({ status: 403, body: { message }, headers }))
    await expect(createRepositoryClient(depsFor(github.url)).branch(11, 'main')).rejects.toThrow(message)
    expect(github.asked).toHaveLength(1)
  })

  test('does not retry when GitHub refuses an older token', async () => {
    let now = 0
    const later: Clock = { now: () => new Date(now), sleep: () => Promise.resolve() }
    await using github = await scriptedGitHub(() => ({ status: 401, body: { message: 'Bad credentials' } }))
    const client = createRepositoryClient(depsFor(github.url, later))
    now = 60_000
    await expect(client.branch(11, 'main')).rejects.toMatchObject({ reason: 'CredentialRefused' })
    expect(github.asked).toHaveLength(1)
  })

  test('refuses an answer about another repository', async () => {
    await using github = await scriptedGitHub(() => ({
      status: 200,
      body: { id: 12, full_name: 'acme/shop', default_branch: 'main' },
    }))
    await expect(createRepositoryClient(depsFor(github.url)).repository(11)).rejects.toMatchObject({
      code: 'integrity_violation',
    })
  })

  test.each([
    ['behind', 0, true],
    ['identical', 0, true],
    ['ahead', 0, false],
    ['diverged', 0, false],
    ['diverged', 1, true],
  ])('a commit that is %s of the branch, and the newest of %i branches: %s', async (status, heads, expected) => {
    await using github = await scriptedGitHub(({ path }) => ({
      status: 200,
      body: path.includes('/compare/') ? { status } : Array.from({ length: heads }, () => ({ name: 'other' })),
    }))
    await expect(createRepositoryClient(depsFor(github.url)).hasCommit(11, sha, 'main')).resolves.toBe(expected)
    expect(github.asked[0]?.path).toBe(`/repositories/11/compare/main...${sha}?per_page=1&page=2`)
  })

  test.each<[string, object, readonly string[] | undefined]>([
    [
      'all files of a later commit, with former names',
      { status: 'ahead', files: [{ filename: 'a' }, { filename: 'c', previous_filename: 'b' }] },
      ['a', 'c', 'b'],
    ],
    ['nothing when it is the same commit', { status: 'identical' }, []],
    ['no answer for a commit that does not follow', { status: 'diverged', files: [{ filename: 'a' }] }, undefined],
    ['no answer when GitHub may have left files out', { status: 'ahead', files: Array(300).fill({ filename: 'a' }) }, undefined],
    ['no answer without a list', { status: 'ahead' }, undefined],
  ])('changed files: %s', async (_what, body, expected) => {
    await using github = await scriptedGitHub(() => ({ status: 200, body }))
    await expect(createRepositoryClient(depsFor(github.url)).changedFiles(11, sha, 'b'.repeat(40))).resolves.toEqual(expected)
    expect(github.asked[0]?.path).toBe(`/repositories/11/compare/${sha}...${'b'.repeat(40)}?per_page=1`)
  })

  test('a commit that GitHub does not know, or that has no common history, is not in the repository', async () => {
    await using github = await scriptedGitHub(({ path }) => ({
      status: path.includes('/compare/') ? 404 : 422,
      body: { message: 'No commit found' },
    }))
    await expect(createRepositoryClient(depsFor(github.url)).hasCommit(11, sha, 'main')).resolves.toBe(false)
  })

  test('names the tag of the last answer, and takes what it read then when GitHub says that nothing has changed', async () => {
    await using github = await scriptedGitHub(({ headers }, index) => {
      if (index === 3) return { status: 404, body: { message: 'Not Found' } }
      if (headers['if-none-match'] === '"one"' && index < 2) return { status: 304 }
      return { status: 200, body: { ...main, commit: { sha: index < 2 ? sha : 'b'.repeat(40) } }, headers: { etag: '"one"' } }
    })
    const answers = { cache: createAnswerCache(), scope: 'github.test/1' }
    const client = () => createRepositoryClient({ ...depsFor(github.url), answers })
    const asked = async () => [await client().branch(11, 'main'), github.asked.at(-1)?.headers['if-none-match']]
    expect(await asked()).toEqual([sha, undefined])
    expect(await asked()).toEqual([sha, '"one"'])
    expect(await asked()).toEqual(['b'.repeat(40), '"one"'])
    // Access that was lost is GitHub's refusal, never the remembered answer.
    expect(await asked()).toEqual([undefined, '"one"'])
    const elsewhere = createRepositoryClient({ ...depsFor(github.url), answers: { ...answers, scope: 'github.test/2' } })
    await elsewhere.branch(11, 'main')
    expect(github.asked.at(-1)?.headers['if-none-match']).toBeUndefined()
  })

  test('names the field of an answer that is missing or of another type', async () => {
    await using github = await scriptedGitHub((_asked, index) => ({
      status: 200,
      body: index === 0 ? { commit: {} } : { state: 'open', head: { sha }, base: { repo: { id: '11' } } },
    }))
    const client = createRepositoryClient(depsFor(github.url))
    await expect(client.branch(11, 'main')).rejects.toThrow('branch.commit.sha is not a text')
    await expect(client.pullRequest(11, 7)).rejects.toThrow('base.repo.id is not an id')
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

  test('leaves out an installation on an enterprise, and takes the login of an Enterprise Managed User', async () => {
    const account = { id: 3, slug: 'octo', name: 'Octo' }
    const page = { total_count: 1, installations: [{ id: 1, app_id: 7, account, target_type: 'Enterprise', permissions: {} }] }
    await using github = await scriptedGitHub(({ path }) =>
      path.startsWith('/user/installations') ? { status: 200, body: page } : { status: 404, body: { message: 'Not Found' } },
    )
    const client = createUserClient(depsFor(github.url))
    expect(await client.installations()).toEqual([])
    expect(await client.organizationMembership('mona_octo')).toBeUndefined()
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
