// The CLI as users run it, as a process against a complete broker: login through the pages, tokens, refresh, audit.
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { groups } from '../../src/api/names.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { type BrokerEnvironment, bringOrganization, startBrokerEnvironment } from '../fixtures/broker-fixture.ts'
import { type Finished, runSekisho } from '../fixtures/run-sekisho.ts'

let fixture: BrokerEnvironment
let folder: string

/** The CLI of one user: with its own folders and nothing of this machine. */
const sekisho = (person: string, args: readonly string[]): Promise<Finished> =>
  runSekisho(args, { HOME: join(folder, person), SEKISHO_ISSUER: fixture.url, SEKISHO_CA_FILE: join(folder, 'ca.pem') })

async function login(person: string): Promise<Finished> {
  const file = join(folder, `${person}.url`)
  const running = sekisho(person, ['login', '--no-browser', '--print-url-file', file])
  const url = await waitUntil(
    'the address',
    async () => (await readFile(file, 'utf8').catch(() => undefined))?.trim() || undefined,
  )
  const { browser } = await fixture.signIn(person)
  const consent = await browser.open(url)
  expect(consent.text).toContain('Let kubectl act for you?')
  const done = await consent.form(`Continue as ${person}`).submit()
  expect(done.text).toContain('You are signed in')
  await rm(file, { force: true })
  return running
}

async function cachedTokens(person: string): Promise<{ path: string; tokens: Record<string, unknown> }> {
  const tokensFolder = join(folder, person, '.local', 'state', 'sekisho', 'tokens')
  const [name = ''] = (await readdir(tokensFolder)).filter(file => file.endsWith('.json'))
  const path = join(tokensFolder, name)
  return { path, tokens: JSON.parse(await readFile(path, 'utf8')) }
}

/** Makes the cached ID token look nearly expired, so that the next command has to refresh. */
async function age(person: string): Promise<Record<string, unknown>> {
  const { path, tokens } = await cachedTokens(person)
  await writeFile(path, JSON.stringify({ ...tokens, expiresAt: 1 }))
  return tokens
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sekisho-cli-'))
  fixture = await startBrokerEnvironment({ platformAdmins: ['olivia'] })
  await writeFile(join(folder, 'ca.pem'), fixture.certificateAuthority)
  await bringOrganization(fixture)
  const onboarded = async () => (await fixture.store.audit.list({ action: 'tenant.onboarded', limit: 1 })).at(0)
  await waitUntil('the tenant', onboarded)
})
afterAll(async () => {
  await fixture?.stop()
  await rm(folder, { recursive: true, force: true })
})

describe('sekisho login', () => {
  test('gives kubectl an ID token for ten minutes with numeric groups, in a file that only the user may read', async () => {
    const finished = await login('dave')
    expect(finished.err).toContain('signed in to')
    expect(finished.code).toBe(0)
    expect(finished.err.split('\n')[0]).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/oidc\/authorize\?/)
    const { path } = await cachedTokens('dave')
    expect((await stat(path)).mode & 0o777).toBe(0o600)

    const credential = JSON.parse((await sekisho('dave', ['token'])).out)
    expect(credential).toMatchObject({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential' })
    const claims = decodeJwt(credential.status.token)
    const { id } = fixture.organization
    expect(claims).toMatchObject({ iss: fixture.url, aud: 'kubernetes', sub: fixture.subjectOf('dave'), login: 'dave' })
    expect(claims['groups']).toEqual([groups.members(fixture.host, id), groups.team(fixture.host, id, 3001)])
    expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(600)
  })

  test('whoami shows role and tenant', async () => {
    const answer = JSON.parse((await sekisho('dave', ['whoami', '-o', 'json'])).out)
    const { login: name } = fixture.organization
    expect(answer).toMatchObject({ login: 'dave', platformAdmin: false, tenants: [{ name, namespace: name, role: 'developer' }] })
  })

  test('refreshes without interaction, and a reused refresh token ends the login', async () => {
    const before = await age('dave')
    const refreshed = await sekisho('dave', ['token'])
    expect(refreshed.code).toBe(0)
    const { tokens } = await cachedTokens('dave')
    expect(tokens['refreshToken']).not.toBe(before['refreshToken'])

    // Its answer was lost: the same refresh token is sent again.
    const { path } = await cachedTokens('dave')
    await writeFile(path, JSON.stringify({ ...tokens, expiresAt: 1, refreshToken: before['refreshToken'] }))
    expect((await sekisho('dave', ['token'])).code).toBe(0)
    await age('dave')
    expect((await sekisho('dave', ['token'])).code).toBe(0)

    await writeFile(path, JSON.stringify({ ...tokens, expiresAt: 1, refreshToken: before['refreshToken'] }))
    const replayed = await sekisho('dave', ['token'])
    expect(replayed.code).toBe(3)
    expect(replayed.out).toBe('')
    expect(replayed.err).toContain('run sekisho login')
    await writeFile(path, JSON.stringify({ ...tokens, expiresAt: 1 }))
    expect((await sekisho('dave', ['token'])).code).toBe(3)
  })

  test('several kubectl at once refresh once and open no browser', async () => {
    await login('mia')
    await age('mia')
    const all = await Promise.all(Array.from({ length: 6 }, () => sekisho('mia', ['token'])))
    expect(all.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0, 0])
    expect(new Set(all.map(({ out }) => out)).size).toBe(1)
  })

  test('a user who left the organization, and has no other role, gets no new token until they are back', async () => {
    const { login: organization, id } = fixture.organization
    const membership = `${fixture.github.apiUrl}/orgs/${organization}/memberships/mia`
    const headers = { authorization: `Bearer ${fixture.github.personalTokens['olivia']}` }
    expect((await fetch(membership, { method: 'DELETE', headers })).status).toBe(204)
    await age('mia')
    const refused = await sekisho('mia', ['token'])
    expect(refused).toMatchObject({ code: 1, out: '' })
    expect(refused.err).toMatch(/no role in any tenant of this platform: ask an owner/)

    const memberships = fixture.github.context.state.organizations.find(one => one.id === id)?.memberships
    fixture.github.context.store.change(() => memberships?.push({ userId: 1003, role: 'member', state: 'active' }))
    const credential = JSON.parse((await sekisho('mia', ['token'])).out)
    expect(decodeJwt(credential.status.token)['groups']).toEqual([groups.members(fixture.host, id)])
  })

  test('a user without any role gets no token, and the command says what to do', async () => {
    const file = join(folder, 'noah.url')
    const running = sekisho('noah', ['login', '--no-browser', '--print-url-file', file])
    const url = await waitUntil(
      'the address',
      async () => (await readFile(file, 'utf8').catch(() => undefined))?.trim() || undefined,
    )
    const { browser } = await fixture.signIn('noah')
    await browser.open(url)
    const { code, out, err } = await running
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(/the sign-in was refused: you have no role in any tenant of this platform: ask an owner/)
    expect(
      (await fixture.store.audit.list({ action: 'kubectl-token.issued', limit: 100 })).map(({ actor }) => actor),
    ).not.toContain(fixture.subjectOf('noah'))
  })

  test('without a login the command fails quickly with a hint and nothing on standard output', async () => {
    const finished = await sekisho('noah', ['token'])
    expect(finished).toMatchObject({ code: 3, out: '' })
    expect(finished.err).toContain('run sekisho login')
  })

  test('logout ends the refresh token at the platform', async () => {
    await login('olivia')
    const { tokens } = await cachedTokens('olivia')
    const ended = await sekisho('olivia', ['logout', '-o', 'json'])
    expect(JSON.parse(ended.out)).toEqual({ issuer: fixture.url, signedOut: true })
    const body = new URLSearchParams({
      grant_type: 'refresh_token',
      refresh_token: String(tokens['refreshToken']),
      client_id: 'kubernetes',
    })
    const answer = await fixture.fetch(`${fixture.url}/oidc/token`, { method: 'POST', body })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ error: 'invalid_grant' })
  })
})

describe('sekisho sessions', () => {
  test('a platform admin lists who is signed in and ends the sign-ins of a person', async () => {
    await login('olivia')
    await login('dave')
    const user = fixture.subjectOf('dave')
    const refused = await sekisho('dave', ['sessions', 'list'])
    expect(refused).toMatchObject({ code: 1, out: '' })
    expect(refused.err).toContain('only platform admins')
    const listed = JSON.parse((await sekisho('olivia', ['sessions', 'list', '-o', 'json'])).out)
    expect(listed).toContainEqual(expect.objectContaining({ user, login: 'dave' }))
    expect((await sekisho('olivia', ['sessions', 'list'])).out).toMatch(/^USER +LOGIN +WEB SESSIONS +PROGRAMS\n/)
    expect(await sekisho('olivia', ['sessions', 'revoke', 'dave'])).toMatchObject({ code: 2, out: '' })
    expect((await sekisho('olivia', ['sessions', 'revoke', user])).out).toContain(`ended all sign-ins of ${user}`)
    await age('dave')
    expect(await sekisho('dave', ['token'])).toMatchObject({ code: 3, out: '' })
  })

  test('logout --everywhere ends the sign-ins of the user on every computer', async () => {
    await login('olivia')
    const { tokens } = await cachedTokens('olivia')
    const ended = JSON.parse((await sekisho('olivia', ['logout', '--everywhere', '-o', 'json'])).out)
    expect(ended).toMatchObject({ issuer: fixture.url, signedOut: true, user: fixture.subjectOf('olivia') })
    expect(ended.programs).toBeGreaterThan(0)
    expect((await sekisho('olivia', ['token'])).code).toBe(3)
    const body = new URLSearchParams({
      grant_type: 'refresh_token',
      refresh_token: String(tokens['refreshToken']),
      client_id: 'kubernetes',
    })
    const answer = await fixture.fetch(`${fixture.url}/oidc/token`, { method: 'POST', body })
    expect(await answer.json()).toMatchObject({ error: 'invalid_grant' })
  })
})

describe('sekisho onboardings', () => {
  test('a platform admin lists and refuses what waits, and is told what does not exist', async () => {
    await login('olivia')
    expect(await sekisho('olivia', ['onboardings', 'list'])).toMatchObject({ code: 0, out: '' })
    const account = { host: fixture.host, id: 77, login: 'new\u001b[31m-here', type: 'Organization' }
    const { id } = await fixture.store.onboardings.begin({
      host: fixture.host,
      accountId: 77,
      installationId: 5,
      userId: 1004,
      state: 'proved',
      data: { intent: { app: 'x', account, boundBy: { id: 1004, login: 'gary' }, teams: [] } },
    })
    await fixture.store.onboardings.advance(id, 'waiting-for-admin')
    const listed = JSON.parse((await sekisho('olivia', ['onboardings', 'list', '-o', 'json'])).out)
    expect(listed).toMatchObject([{ id, account: { id: 77 }, requestedBy: { login: 'gary' } }])
    const text = (await sekisho('olivia', ['onboardings', 'list'])).out
    expect(text).toMatch(/^ID +ACCOUNT/)
    expect(text).toContain('new?[31m-here')
    const refused = await sekisho('olivia', ['onboardings', 'refuse', id, '--reason', 'unknown', '-o', 'json'])
    expect(JSON.parse(refused.out)).toEqual({ onboarding: id, decision: 'refused' })
    expect(await fixture.store.onboardings.find(id)).toMatchObject({ state: 'refused' })
    const again = await sekisho('olivia', ['onboardings', 'approve', id])
    expect(again).toMatchObject({ code: 1, out: '' })
    expect(again.err).toContain('does not wait for a platform admin')
    expect(await sekisho('olivia', ['onboardings', 'approve', 'acme'])).toMatchObject({ code: 2, out: '' })
  })
})

describe('sekisho audit', () => {
  test('a platform admin lists and verifies the log, and a second verification is compared with the first', async () => {
    await login('olivia')
    const listed = JSON.parse((await sekisho('olivia', ['audit', 'list', '--action', 'tenant.onboarded', '-o', 'json'])).out)
    expect(listed).toHaveLength(1)
    expect(listed[0]).toMatchObject({ actor: fixture.subjectOf('olivia'), namespace: fixture.organization.login })
    const first = await sekisho('olivia', ['audit', 'verify'])
    expect(first.err).not.toContain('sekisho:')
    expect(first.out).toContain('audit log verified')
    const second = await sekisho('olivia', ['audit', 'verify', '-o', 'json'])
    expect(JSON.parse(second.out)).toMatchObject({ ok: true, signed: true })
    expect(JSON.parse(second.out).remembered.sequence).toBeGreaterThan(0)
  })

  test('others cannot read the log: not a developer, not by a namespace', async () => {
    await login('dave')
    for (const args of [
      ['audit', 'list'],
      ['audit', 'list', '--namespace', fixture.organization.login],
      ['audit', 'verify'],
    ])
      expect((await sekisho('dave', args)).err).toContain('no audit log that you may read')
  })
})

describe('sekisho kubeconfig', () => {
  test('adds a context and keeps everything else', async () => {
    const path = join(folder, 'kubeconfig.yaml')
    await writeFile(path, '# mine\napiVersion: v1\nkind: Config\nclusters:\n- name: other\n  cluster: {server: https://other}\n')
    const args = ['kubeconfig', '--server', 'https://10.0.0.1:6443', '--namespace', 'acme', '--kubeconfig', path]
    expect((await sekisho('dave', args)).code).toBe(0)
    const again = await sekisho('dave', [...args, '-o', 'json'])
    expect(JSON.parse(again.out)).toEqual({ context: 'sekisho', kubeconfig: path, namespace: 'acme' })
    const text = await readFile(path, 'utf8')
    expect(text).toContain('# mine')
    expect(text.match(/name: other/g)).toHaveLength(1)
    expect(text).toContain('current-context: sekisho')
    expect(text.match(/interactiveMode: Never/g)).toHaveLength(1)
  })

  test('an authority that does not exist, or without --server, changes nothing', async () => {
    const path = join(folder, 'untouched.yaml')
    const server = ['--server', 'https://10.0.0.1:6443']
    const missing = ['--certificate-authority', join(folder, 'none.pem'), '--kubeconfig', path]
    for (const args of [missing, [...server, ...missing]]) {
      const finished = await sekisho('dave', ['kubeconfig', ...args])
      expect(finished).toMatchObject({ code: 2, out: '' })
      expect(finished.err).toContain('--certificate-authority')
      expect(finished.err.trim().split('\n')).toHaveLength(1)
    }
    await expect(stat(path)).rejects.toThrow('ENOENT')
  })
})
