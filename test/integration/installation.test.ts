// ClusterGitHubApp and Installation on a real API server with a real (emulated) GitHub: what is reported, when tokens are ended, and that
// a second look writes nothing. The token desk is played; its own tests have the real one.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { installApp, setSuspended, uninstallApp } from '../../dev/github/actions/install-app.ts'
import { acceptMembership, setRole } from '../../dev/github/actions/memberships.ts'
import { type RunningEmulator, startEmulator } from '../../dev/github/emulator.ts'
import { organizationByLogin, userByLogin } from '../../dev/github/state/github-state.ts'
import type { AuditRecord } from '../../src/api/audit-event.ts'
import { namespaces, secrets } from '../../src/api/builtin/index.ts'
import { clusterGitHubApp } from '../../src/api/github/cluster-github-app.ts'
import { type Installation, installation } from '../../src/api/github/installation.ts'
import { platformNamespace, wakeAnnotation } from '../../src/api/names.ts'
import { createClusterGitHubAppController } from '../../src/controllers/cluster-github-app/index.ts'
import { createInstallationController } from '../../src/controllers/installation/index.ts'
import { createManager } from '../../src/kube/manager.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLog } from '../../src/lib/log.ts'
import { createGitHubApps } from '../../src/token-desk/app-clients.ts'
import { installKinds, patience, readyReason, type Site, withSite } from '../fixtures/application-fixture.ts'
import { waitUntil } from '../fixtures/harness.ts'
import { onlyNamed } from '../fixtures/test-clients.ts'

const fieldManager = 'test'
let github: RunningEmulator
beforeAll(async () => {
  await installKinds()
  github = await startEmulator()
})
afterAll(() => github?.stop())

type World = Site & {
  readonly app: string
  readonly revoked: { readonly reason: string; readonly installationId: number }[]
  readonly audited: AuditRecord[]
  readonly putKey: (pem: string) => Promise<unknown>
}

async function withControllers(ownerCheckMilliseconds = 3_600_000): Promise<World> {
  const site = await withSite()
  const app = `app-${randomBytes(4).toString('hex')}`
  await site.client.apply(
    namespaces,
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: platformNamespace } },
    { fieldManager, force: true },
  )
  const revoked: World['revoked'] = []
  const audited: AuditRecord[] = []
  const clock = systemClock
  const log = silentLog
  const client = onlyNamed(site.controllersClient, clusterGitHubApp, app)
  const manager = createManager({ client, log, clock, random: Math.random })
  const githubApps = createGitHubApps({
    apps: manager.cache(clusterGitHubApp),
    secrets: manager.cache(secrets, { namespace: platformNamespace }),
    log,
    clock,
  })
  const shared = { client: manager.client, manager, githubApps, events: { record: () => {} }, clock, log }
  const desk = {
    revokeBy: async (filter: { readonly installation: { readonly installationId: number } }, reason: string) => {
      revoked.push({ reason, installationId: filter.installation.installationId })
    },
  }
  const audit = { append: async (record: AuditRecord) => audited.push(record) }
  manager.add(createClusterGitHubAppController(shared))
  const tokens = {
    intend: async () => 'played',
    recordMinted: async () => {},
    markRevoking: async () => {},
    markRevoked: async () => {},
    abandon: async () => {},
  }
  manager.add(createInstallationController({ ...shared, desk, audit, tokens, ownerCheckMilliseconds }))
  await manager.start()
  onTestFinished(() => manager.stop())
  const putKey = (pem: string) =>
    site.client.apply(
      secrets,
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { namespace: platformNamespace, name: app },
        data: { 'private-key.pem': Buffer.from(pem).toString('base64') },
      },
      { fieldManager, force: true },
    )
  await site.client.create(
    clusterGitHubApp,
    {
      apiVersion: clusterGitHubApp.apiVersion,
      kind: clusterGitHubApp.kind,
      metadata: { name: app },
      spec: {
        host: 'github.localhost',
        endpoints: { web: github.url, api: github.apiUrl },
        appId: github.app.id,
        clientId: github.app.clientId,
        privateKeys: [{ secretName: app, key: 'private-key.pem' }],
      },
    },
    { fieldManager },
  )
  onTestFinished(() => site.client.delete(clusterGitHubApp, { name: app }))
  return { ...site, app, revoked, audited, putKey }
}

const world = () => github.context.state
const person = (login: string) => userByLogin(world(), login) ?? expect.fail(`no person ${login}`)
const organization = (login: string) => organizationByLogin(world(), login) ?? expect.fail(`no organisation ${login}`)

function installedOn(login: string, by: string) {
  const [app] = world().apps
  if (!app) return expect.fail('no App')
  return installApp(github.context, app, {
    accountId: organization(login).id,
    installerId: person(by).id,
    repositorySelection: 'all',
    repositoryIds: [],
  })
}

type Binding = {
  readonly installationId: number
  readonly boundBy?: string
  readonly permissions?: object
  readonly accountId?: number
}

function bind(site: World, binding: Binding): Promise<Installation> {
  const owner = person(binding.boundBy ?? 'olivia')
  return site.client.create(
    installation,
    {
      apiVersion: installation.apiVersion,
      kind: installation.kind,
      metadata: { namespace: site.namespace, name: 'github' },
      spec: {
        app: site.app,
        installationId: binding.installationId,
        account: {
          host: 'github.localhost',
          id: binding.accountId ?? organization('acme').id,
          login: 'acme',
          type: 'Organization',
        },
        boundBy: { id: owner.id, login: owner.login },
        proof: { method: 'OrganizationOwner', provedAt: new Date().toISOString() },
        ceiling: { repositories: 'All', permissions: { contents: 'read', ...binding.permissions } },
      },
    },
    { fieldManager },
  )
}

const becomes = (site: World, reason: string) => readyReason(site.client, installation, site.namespace, 'github', reason)
const wake = (site: World, value: string) =>
  site.client.mergePatch(
    installation,
    { namespace: site.namespace, name: 'github' },
    { metadata: { annotations: { [wakeAnnotation]: value } } },
    { fieldManager },
  )
const appBecomes = (site: World, reason: string) =>
  waitUntil(
    `the App is ${reason}`,
    async () => {
      const found = await site.client.get(clusterGitHubApp, { name: site.app })
      const ready = found?.status?.conditions?.find(condition => condition.type === 'Ready')
      if (found && ready?.reason === reason) return found
      throw new Error(`${ready?.reason}: ${ready?.message}`)
    },
    patience,
  )

describe('a ClusterGitHubApp', () => {
  test('waits for its key, refuses a stranger’s, and is verified without a restart when the right one comes', async () => {
    const site = await withControllers()
    await appBecomes(site, 'PrivateKeyMissing')
    const { generateKeyPairSync } = await import('node:crypto')
    const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs1', format: 'pem' })
    await site.putKey(stranger.toString())
    await appBecomes(site, 'PrivateKeyRefused')
    await site.putKey(github.app.privateKeyPem)
    const verified = await appBecomes(site, 'Verified')
    expect(verified.status?.slug).toBe(github.app.slug)
    expect(verified.status?.permissions?.['contents']).toBe('write')
  })
})

describe('an Installation', () => {
  test('is verified with the App’s own key, its owner by an audited token that is revoked; another look writes nothing', async () => {
    const site = await withControllers()
    await site.putKey(github.app.privateKeyPem)
    await bind(site, { installationId: installedOn('acme', 'olivia').id })
    const verified = await becomes(site, 'Verified')
    expect(verified.status?.appId).toBe(github.app.id)
    expect(verified.metadata.finalizers).toContain('sekisho.dev/installation')
    expect(site.audited.map(record => record.action)).toEqual(['token.intended', 'token.minted', 'token.revoked'])
    expect(site.audited[0]?.details['permissions']).toEqual({ members: 'read' })
    expect(site.revoked).toEqual([])

    const writes = site.writes.length
    await site.client.mergePatch(
      installation,
      { namespace: site.namespace, name: 'github' },
      { metadata: { labels: { looked: 'at' } } },
      { fieldManager },
    )
    await wake(site, '2026-01-01T00:00:00.000Z/one')
    await waitUntil(
      'the wake was observed',
      async () => {
        const found = await site.client.get(installation, { namespace: site.namespace, name: 'github' })
        return found?.status?.observedWake === '2026-01-01T00:00:00.000Z/one' ? true : undefined
      },
      patience,
    )
    // Label and wake together: GitHub was asked anew once, and one status was written.
    expect(site.writes.slice(writes)).toEqual(['status Installation github'])
    expect(site.audited).toHaveLength(6)
  })

  test('ends its tokens when it is suspended, and holds again afterwards', async () => {
    const site = await withControllers()
    await site.putKey(github.app.privateKeyPem)
    const installed = installedOn('acme', 'olivia')
    await bind(site, { installationId: installed.id })
    await becomes(site, 'Verified')
    setSuspended(github.context, installed, person('olivia').id, true)
    await wake(site, 'suspended')
    await becomes(site, 'InstallationSuspended')
    await waitUntil('tokens ended', async () => (site.revoked.length > 0 ? true : undefined), patience)
    expect(site.revoked[0]).toEqual({ reason: 'InstallationSuspended', installationId: installed.id })
    setSuspended(github.context, installed, person('olivia').id, false)
    await wake(site, 'unsuspended')
    await becomes(site, 'Verified')
  })

  test('ends its tokens when the person who bound it is an owner no more', async () => {
    const site = await withControllers()
    await site.putKey(github.app.privateKeyPem)
    const inAcme = { context: github.context, organization: organization('acme'), sender: person('olivia') }
    setRole(inAcme, person('mia'), 'admin')
    await bind(site, { installationId: installedOn('acme', 'olivia').id, boundBy: 'mia' })
    await becomes(site, 'Verified')
    setRole(inAcme, person('mia'), 'member')
    await wake(site, 'demoted')
    await becomes(site, 'BinderNoLongerOwner')
    await waitUntil('tokens ended', async () => (site.revoked.length > 0 ? true : undefined), patience)
  })

  test('never holds for somebody who is only invited as an owner', async () => {
    const site = await withControllers()
    await site.putKey(github.app.privateKeyPem)
    const inAcme = { context: github.context, organization: organization('acme'), sender: person('olivia') }
    setRole(inAcme, person('noah'), 'admin')
    await bind(site, { installationId: installedOn('acme', 'olivia').id, boundBy: 'noah' })
    await becomes(site, 'BinderNoLongerOwner')
    acceptMembership({ ...inAcme, sender: person('noah') })
    await wake(site, 'accepted')
    await becomes(site, 'Verified')
    setRole(inAcme, person('noah'), 'member')
  })

  test('of another account, of nobody, or with a ceiling above what GitHub grants, does not hold', async () => {
    const wrong: readonly (readonly [string, (id: number) => Binding])[] = [
      ['AccountMismatch', installationId => ({ installationId, accountId: organization('globex').id })],
      ['InstallationNotFound', () => ({ installationId: 987_654_321 })],
      ['CeilingAboveGitHub', installationId => ({ installationId, permissions: { administration: 'write' } })],
    ]
    for (const [reason, binding] of wrong) {
      const site = await withControllers()
      await site.putKey(github.app.privateKeyPem)
      await bind(site, binding(installedOn('acme', 'olivia').id))
      await becomes(site, reason)
    }
  })

  test('is deleted only after its tokens ended, also when it was uninstalled on GitHub', async () => {
    const site = await withControllers()
    await site.putKey(github.app.privateKeyPem)
    const installed = installedOn('globex', 'gary')
    await bind(site, { installationId: installed.id, boundBy: 'gary', accountId: organization('globex').id })
    await becomes(site, 'Verified')
    uninstallApp(github.context, installed, person('gary').id)
    await wake(site, 'uninstalled')
    await becomes(site, 'InstallationNotFound')
    const key = { namespace: site.namespace, name: 'github' }
    await site.client.delete(installation, key)
    await waitUntil('gone', async () => ((await site.client.get(installation, key)) === undefined ? true : undefined), patience)
    expect(site.revoked.at(-1)).toEqual({ reason: 'the Installation was deleted', installationId: installed.id })
  })
})
