// The git proxy with git's own client, the real API server and the emulator of GitHub: what a workload can clone, fetch and push
// without ever holding a token, and what is refused.
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cloneUrl, createGitClient } from '../../dev/github/testing/git-client.ts'
import type { AuditAction } from '../../src/api/audit/audit-event.ts'
import { type GitProxyFixture, withGitProxy } from '../fixtures/git-proxy-fixture.ts'
import { rawPush, shop } from '../fixtures/git-proxy-requests.ts'
import { type DeskEnvironment, startDeskEnvironment } from '../fixtures/token-desk-fixture.ts'

let environment: DeskEnvironment
beforeAll(async () => {
  environment = await startDeskEnvironment()
})
afterAll(() => environment?.stop())

/** As a person with a token of their own, past the proxy. */
async function atGitHub(name = 'acme/shop') {
  const git = await createGitClient()
  const url = cloneUrl(environment.github.url, name, environment.github.personalTokens['dave'])
  return { ...git, url }
}

const records = (fixture: GitProxyFixture, action: AuditAction) =>
  environment.store.audit.list({ namespace: fixture.namespace, action, limit: 100 })

describe('a pod', () => {
  test('clones, fetches and pushes, and each ref is in the log before and after', async () => {
    const fixture = await withGitProxy(environment)
    await fixture.approve('write-shop')
    const git = await fixture.pod('write-shop')
    expect(await git.run('clone', shop(fixture), 'work')).toMatchObject({ ok: true })
    const work = (...args: readonly string[]) => git.run('-C', 'work', ...args)
    const noise = randomBytes(3 * 1024 * 1024)
    await writeFile(join(git.folder, 'work', 'noise'), noise)
    await work('add', '.')
    await work('commit', '--quiet', '-m', 'Noise')
    const commit = (await work('rev-parse', 'HEAD')).stdout.trim()
    expect(await work('push', 'origin', 'HEAD:refs/heads/by-proxy', 'HEAD:refs/tags/v1')).toMatchObject({ ok: true })
    const person = await atGitHub()
    expect((await person.run('ls-remote', person.url, 'refs/heads/by-proxy', 'refs/tags/v1')).stdout.split(commit)).toHaveLength(
      3,
    )
    expect(await work('fetch', 'origin', 'by-proxy')).toMatchObject({ ok: true })
    expect(await work('push', 'origin', '--delete', 'refs/tags/v1')).toMatchObject({ ok: true })
    await person.remove()
    const refs = ['refs/heads/by-proxy', 'refs/tags/v1', 'refs/tags/v1']
    expect((await records(fixture, 'git.push-intended')).map(({ details }) => details.ref).sort()).toEqual(refs)
    const pushed = await records(fixture, 'git.pushed')
    expect(pushed.map(({ details, outcome }) => `${details.ref} ${outcome}`).sort()).toEqual(refs.map(ref => `${ref} allowed`))
    expect(pushed.find(({ details }) => details.ref === refs[0])).toMatchObject({
      actor: `system:serviceaccount:${fixture.namespace}:runner`,
      object: `RepositoryGrant/${fixture.namespace}/write-shop`,
      details: { to: commit, repositoryIds: [4001], host: 'github.localhost' },
    })
    expect((await records(fixture, 'token.delivered'))[0]?.details).toMatchObject({ delivery: 'GitProxy' })
  })

  test('never holds a token, whatever git says of its requests', async () => {
    const fixture = await withGitProxy(environment)
    await fixture.approve('write-shop')
    const git = await fixture.pod('write-shop')
    const trace = join(git.folder, 'trace')
    await git.run('-c', `trace2.eventTarget=${trace}`, 'clone', shop(fixture), 'work')
    const ran = await git.run('clone', '--verbose', shop(fixture), 'again')
    expect(ran.ok).toBe(true)
    const all = await new Promise<string>(resolve =>
      execFile('grep', ['-rl', '-e', 'ghs_', '-e', git.token, git.folder], (_error, stdout) => resolve(stdout)),
    )
    // The projected token is where the kubelet puts it, and nowhere else.
    expect(all.trim()).toBe(git.script('token'))
    expect(ran.stdout + ran.stderr).not.toMatch(/ghs_|eyJ/)
  })

  test('gets no token under a grant for the proxy, and the proxy serves no other grant', async () => {
    const fixture = await withGitProxy(environment)
    await fixture.approve('write-shop')
    await fixture.approve('token-shop', { delivery: 'TokenEndpoint' })
    const direct = cloneUrl(environment.github.url, 'acme/shop')
    const [proxied, delivered] = [await fixture.pod('write-shop'), await fixture.pod('token-shop')]
    const refused = await proxied.run('clone', direct, 'direct')
    expect(refused.ok).toBe(false)
    expect(refused.stderr).toContain('kubectl describe repositorygrant write-shop')
    expect(await delivered.run('clone', direct, 'direct')).toMatchObject({ ok: true })
    // The client of GitHub's API, with curl itself.
    const asked = await delivered.shell('github-api', ['token-shop', '/repos/acme/shop'])
    expect(JSON.parse(asked.stdout)).toMatchObject({ full_name: 'acme/shop', id: 4001 })
    expect(await proxied.shell('github-api', ['write-shop', '/repos/acme/shop'])).toMatchObject({ ok: false, stdout: '' })
    expect((await delivered.run('clone', shop(fixture), 'proxied')).stderr).toContain('there is no token for this workload')
  })

  test.each([
    ['a repository outside of the grant', 'write-shop', 'acme/secret-plans', 'the grant has no repository of this name'],
    ['a repository that does not exist', 'write-shop', 'acme/nope', 'the grant has no repository of this name'],
    ['a grant that does not exist', 'no-such', 'acme/shop', 'there is no token for this workload'],
  ])('is refused %s', async (_case, grant, name, message) => {
    const fixture = await withGitProxy(environment)
    await fixture.approve('write-shop')
    const git = await fixture.pod(grant)
    expect((await git.run('clone', shop(fixture, name), 'work')).stderr).toContain(message)
  })

  test('of another ServiceAccount, and another host, are refused', async () => {
    const fixture = await withGitProxy(environment)
    await fixture.approve('write-shop')
    const other = await fixture.pod('write-shop', 'other')
    expect((await other.run('clone', shop(fixture), 'work')).stderr).toContain('there is no token for this workload')
    const git = await fixture.pod('write-shop')
    const elsewhere = await git.run('clone', `${fixture.url}/github.com/acme/shop.git`, 'work')
    expect(elsewhere.stderr).toContain('the grant is for repositories of github.localhost')
  })

  test('pushes nothing with contents: read', async () => {
    const fixture = await withGitProxy(environment)
    await fixture.approve('read-shop', { permissions: { contents: 'read' } })
    const git = await fixture.pod('read-shop')
    expect(await git.run('clone', shop(fixture), 'work')).toMatchObject({ ok: true })
    const pushed = await git.run('-C', 'work', 'push', 'origin', 'HEAD:refs/heads/never')
    expect(pushed.stderr).toContain('does not have the permission contents: write')
    expect(await records(fixture, 'git.refused')).toMatchObject([{ outcome: 'denied', details: { check: 'NoPermission' } }])
  })

  test('is refused a ref that is no branch and no tag, with all refs of that push', async () => {
    const fixture = await withGitProxy(environment)
    await fixture.approve('write-shop')
    const git = await fixture.pod('write-shop')
    await git.run('clone', shop(fixture), 'work')
    const pushed = await git.run('-C', 'work', 'push', 'origin', 'HEAD:refs/pull/1/head', 'HEAD:refs/heads/beside')
    expect(pushed.ok).toBe(false)
    expect(pushed.stderr).toMatch(/remote rejected\].*refs\/pull\/1\/head \(only branches/)
    expect(pushed.stderr).toMatch(/remote rejected\].*beside \(another ref of this push is refused\)/)
    const person = await atGitHub()
    expect((await person.run('ls-remote', person.url)).stdout).not.toMatch(/beside|refs\/pull\/1\/head/)
    await person.remove()
    expect(await records(fixture, 'git.refused')).toMatchObject([
      { details: { check: 'RefNotAllowed', ref: 'refs/pull/1/head' } },
    ])
    expect(await records(fixture, 'git.push-intended')).toEqual([])
  })

  test('learns what GitHub refused, and so does the log', async () => {
    const fixture = await withGitProxy(environment)
    await fixture.approve('write-shop')
    const git = await fixture.pod('write-shop')
    await git.run('clone', shop(fixture), 'work')
    await git.run('-C', 'work', 'checkout', '--quiet', '--orphan', 'unrelated')
    await git.run('-C', 'work', 'commit', '--quiet', '--allow-empty', '-m', 'Unrelated')
    const zero = '0'.repeat(40)
    const head = (await git.run('-C', 'work', 'rev-parse', 'HEAD')).stdout.trim()
    // What git itself would not send: a branch that exists, as a new one.
    const answer = await rawPush(fixture, git.token, [`${zero} ${head} refs/heads/main`])
    expect(answer.text).toContain('the push has no pack')
    expect(await records(fixture, 'git.push-intended')).toEqual([])
    const stale = await rawPush(fixture, git.token, [`${'1'.repeat(40)} ${zero} refs/heads/main`])
    expect([stale.status, stale.text]).toEqual([200, expect.stringContaining('ng refs/heads/main')])
    expect(await records(fixture, 'git.pushed')).toMatchObject([{ outcome: 'denied', details: { ref: 'refs/heads/main' } }])
  })
})
