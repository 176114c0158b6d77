// Builds and their logs as people see them: a complete broker that asks the RBAC of a real API server, with the roles of
// tenants as they are shipped; the CLI as a process, the pages in a real browser, and everybody who must see nothing.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { remoteSync } from '../../src/api/apps/remote-sync.ts'
import { groups, tenantRoles } from '../../src/api/names.ts'
import { tenantRoleRules } from '../../src/api/tenancy/tenant-roles.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import type { BuildOutcome } from '../../src/store/builds/build-record.ts'
import { compressText } from '../../src/store/builds/log-text.ts'
import { openChromium } from '../browser/chromium.ts'
import { bindRole } from '../fixtures/bound-role.ts'
import { type BrokerEnvironment, bringOrganization, startBrokerEnvironment } from '../fixtures/broker-fixture.ts'
import { testAdmin } from '../fixtures/harness.ts'
import { apiCall, kubectlLogin, type Tokens } from '../fixtures/kubectl-login.ts'

let environment: BrokerEnvironment
let folder: string
let namespace: string
let uid: string
const tokensOf: Record<string, Tokens> = {}

/**
 * The roles of tenants in the tenant's namespace, as the Tenant controller binds them; names of the cluster are shared with
 * other tests.
 */
async function bindRoles(): Promise<void> {
  const admin = await testAdmin()
  const { host, organization } = environment
  const bound = { viewer: groups.members(host, organization.id), developer: groups.team(host, organization.id, 3001) } as const
  for (const role of ['viewer', 'developer'] as const) {
    const rules = tenantRoleRules().get(tenantRoles[role]) ?? []
    await bindRole(admin, { namespace, name: `${role}-of-builds` }, rules, [{ kind: 'Group', name: bound[role] }])
  }
}

async function addBuild(name: string, text: string, owner = { name: 'shop', uid }) {
  const id = randomUUID()
  const { buildLogs } = environment.replicas[0] ?? expect.unreachable()
  const createdAt = new Date()
  await buildLogs.begin({
    ...{ id, namespace, buildNamespace: `${namespace}-build`, name, remoteSync: owner },
    ...{ commit: 'd'.repeat(40), attempt: 1, createdAt },
  })
  let revision = 0
  let at = 0
  const write = async (more: string): Promise<void> => {
    const content = compressText(Buffer.from(more))
    const put = [{ sequence: revision, step: 'build', firstByte: at, endByte: at + more.length, content }]
    at += more.length
    const change = { put, drop: [], position: {}, steps: [{ name: 'build', state: 'Running' as const }], bytes: at }
    revision = await buildLogs.append(id, revision, { ...change, leftOut: 0, stored: content.length })
  }
  await write(text)
  return { write, end: (outcome: BuildOutcome, cause?: string) => buildLogs.end(id, { outcome, ...(cause ? { cause } : {}) }) }
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sekisho-builds-'))
  environment = await startBrokerEnvironment({ platformAdmins: ['ada'] })
  await writeFile(join(folder, 'ca.pem'), environment.certificateAuthority)
  await bringOrganization(environment)
  namespace = environment.organization.login
  await bindRoles()
  const { apiVersion, kind } = remoteSync
  const source = { branch: 'main' }
  const spec = { installation: 'github', repository: 'acme/shop', source, build: {}, application: 'shop', requestedBy: 'x' }
  const made = await environment.kube.apply(
    remoteSync,
    { apiVersion, kind, metadata: { namespace, name: 'shop' }, spec },
    { fieldManager: 'test' },
  )
  uid = made.metadata.uid ?? ''
  for (const login of ['dave', 'mia', 'ada']) {
    const { browser } = await environment.signIn(login)
    tokensOf[login] = await kubectlLogin(environment, browser, login)
  }
})
afterAll(async () => {
  await environment?.stop()
  await rm(folder, { recursive: true, force: true })
})

const api = (login: string, path: string) => apiCall(environment, tokensOf[login] ?? {}, `/api/v1/tenants/${path}`)
/** Until the broker's cache shows the RemoteSync. */
const visible = (name: string) =>
  waitUntil('the build', async () => (await api('dave', `${namespace}/builds/${name}`)).status === 200)

type Finished = { readonly code: number | null; readonly out: string; readonly err: string }
/** Runs the command line; `printed` gets all of standard output whenever it grows. */
function sekisho(args: readonly string[], printed: (out: string) => void = () => {}): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const env = { HOME: join(folder, 'dave'), SEKISHO_ISSUER: environment.url, SEKISHO_CA_FILE: join(folder, 'ca.pem') }
    const child = spawn(process.execPath, ['src/cli/main.ts', ...args], {
      env: { ...env, KUBECONFIG: join(folder, 'kubeconfig'), PATH: process.env['PATH'] ?? '' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let [out, err] = ['', '']
    child.stdout.on('data', chunk => {
      out += chunk
      printed(out)
    })
    child.stderr.on('data', chunk => {
      err += chunk
    })
    child.once('error', reject)
    child.once('close', code => resolve({ code, out, err }))
  })
}

describe('the rights of Kubernetes decide', () => {
  test('a developer and a viewer of the tenant read; a platform admin without a role there does not', async () => {
    await addBuild('shop-roles', 'hello\n')
    await visible('shop-roles')
    for (const login of ['dave', 'mia']) expect((await api(login, `${namespace}/builds`)).status, login).toBe(200)
    expect(await api('ada', `${namespace}/builds`)).toMatchObject({ status: 404 })
    expect(await api('ada', `${namespace}/builds/shop-roles`)).toMatchObject({ status: 404 })
  })

  test('people of other accounts, and browsers without a session, get nothing from the pages either', async () => {
    const { browser } = await environment.signIn('gary')
    for (const path of ['builds', 'builds/shop-roles', 'builds/shop-roles/log']) {
      const page = await browser.open(`${environment.url}/tenants/${namespace}/${path}`)
      expect(page.text).not.toContain('hello')
      const answer = await environment.fetch(`${environment.url}/tenants/${namespace}/${path}`, { redirect: 'manual' })
      expect([answer.status, answer.headers.get('location')]).toEqual([303, expect.stringContaining('/login?return_to=')])
    }
  })

  test('a build of a RemoteSync that is gone is not shown', async () => {
    await addBuild('former-1', 'secret of the former one\n', { name: 'shop', uid: 'uid-of-the-former' })
    expect((await api('dave', `${namespace}/builds/former-1`)).status).toBe(404)
  })
})

describe('sekisho builds', () => {
  beforeAll(async () => {
    const file = join(folder, 'url')
    const running = sekisho(['login', '--no-browser', '--print-url-file', file])
    const url = await waitUntil('the address', async () => (await readFile(file, 'utf8').catch(() => '')).trim() || undefined)
    const { browser } = await environment.signIn('dave')
    await (await browser.open(url)).form('Continue as dave').submit()
    expect((await running).code).toBe(0)
    const server = ['--server', 'https://127.0.0.1:1', '--certificate-authority', join(folder, 'ca.pem')]
    expect(await sekisho(['kubeconfig', ...server, '--namespace', namespace])).toMatchObject({ code: 0 })
  })

  test('lists builds, and prints the log of a RemoteSync without what could move the cursor', async () => {
    const { end } = await addBuild('shop-list', 'one\n\ttwo \u001b[31mred\n')
    await end('Succeeded')
    await visible('shop-list')
    const list = await sekisho(['builds'])
    expect(list).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^BUILD +REMOTESYNC +COMMIT +OUTCOME +BEGAN\nshop-list +shop +dddddddddd +Succeeded/),
    })
    expect(JSON.parse((await sekisho(['builds', 'list', '-o', 'json'])).out).builds[0]).toMatchObject({ name: 'shop-list' })
    expect(await sekisho(['builds', 'logs', 'shop'])).toMatchObject({ code: 0, out: 'one\n    two ?[31mred\n' })
    expect(await sekisho(['builds', 'logs', 'shop-list', '--tail', '1'])).toMatchObject({ code: 0, out: '    two ?[31mred\n' })
    expect(await sekisho(['builds', 'logs', 'nothing'])).toMatchObject({ code: 1, err: expect.stringContaining('no such build') })
  })

  test('follows a build to its end, and the exit code says how it ended', async () => {
    const build = await addBuild('shop-follow', 'first\n')
    await visible('shop-follow')
    const first = Promise.withResolvers<void>()
    const following = sekisho(['builds', 'logs', '-f', 'shop-follow'], out => {
      if (out.startsWith('first\n')) first.resolve()
    })
    await Promise.race([first.promise, following])
    await build.write('second\n')
    await build.end('Failed', 'package.json has no script "build"')
    expect(await following).toEqual({
      code: 6,
      out: 'first\nsecond\n',
      err: 'sekisho: build shop-follow ended: Failed: package.json has no script "build"\n',
    })
  })
})

test('in a real browser the page of a build refreshes by itself, shows text as text, and fits a phone', async () => {
  const build = await addBuild('shop-page', '<img src=x onerror=alert(1)>\n')
  await visible('shop-page')
  const browser = await openChromium(join(folder, 'browser'), 'dave')
  try {
    const { page } = browser
    await page.goto(`${environment.github.url}/login`)
    await page.getByRole('button', { name: 'Sign in as dave' }).click()
    await page.setViewportSize({ width: 360, height: 740 })
    await page.goto(`${environment.url}/tenants/${namespace}/builds`)
    const consent = page.getByRole('button', { name: 'Authorize sekisho-dev' })
    if (await consent.isVisible()) await consent.click()
    await page.getByRole('link', { name: 'shop-page' }).click()
    await page.getByText('<img src=x onerror=alert(1)>').waitFor()
    await build.write(`${'w'.repeat(2000)} second line\n`)
    await page.getByText('second line').waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true)
    await build.end('Failed', 'nothing says how to start')
    await page.getByRole('alert').filter({ hasText: 'nothing says how to start' }).waitFor()
    expect(await page.locator('meta[http-equiv=refresh]').count()).toBe(0)
    expect(browser.errors).toEqual([])
    await page.getByRole('link', { name: 'The whole log as text' }).click()
    expect(await page.locator('body').textContent()).toContain('second line')
  } finally {
    await browser.close()
  }
})
