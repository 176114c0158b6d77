// ClusterGitHubApp and Installation on a real API server with an emulated GitHub: what is reported, when tokens are revoked,
// and that a second reconcile writes nothing. The token desk is a double; its own tests have the real one.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { installApp, setSuspended, uninstallApp } from '../../dev/github/actions/install-app.ts'
import { acceptMembership, setRole } from '../../dev/github/actions/memberships.ts'
import type { RunningEmulator } from '../../dev/github/emulator.ts'
import { organizationByLogin, userByLogin } from '../../dev/github/state/github-state.ts'
import { startStockedEmulator } from '../../dev/github/testing/stocked-emulator.ts'
import type { AuditRecord } from '../../src/api/audit/audit-event.ts'
import { namespaces, secrets } from '../../src/api/builtin/index.ts'
import { clusterGitHubApp } from '../../src/api/github/cluster-github-app.ts'
import { type Installation, installation } from '../../src/api/github/installation.ts'
import { platformNamespace, wakeAnnotation } from '../../src/api/names.ts'
import { createClusterGitHubAppController } from '../../src/controllers/cluster-github-app/index.ts'
import { createInstallationController } from '../../src/controllers/installation/index.ts'
import { createManager } from '../../src/kube/manager.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLog } from '../../src/lib/testing/silent-log.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { createPlatformSecrets } from '../../src/services/platform-secrets.ts'
import { createGitHubApps } from '../../src/services/token-desk/app-clients.ts'
import type { AuditEntry } from '../../src/store/audit/audit-chain.ts'
import type { LiveTokenFilter } from '../../src/store/token-registry.ts'
import { type Fixture, gone, readyReason, withFixture } from '../fixtures/application-fixture.ts'
import { testAdmin } from '../fixtures/harness.ts'
import { giveSecret } from '../fixtures/platform-rights.ts'
import { onlyNamed } from '../fixtures/test-clients.ts'

const fieldManager = 'test'
let github: RunningEmulator
beforeAll(async () => {
  github = await startStockedEmulator()
})
afterAll(() => github?.stop())

type InstallationFixture = Fixture & {
  readonly app: string
  readonly revoked: { readonly reason: string; readonly installationId: number }[]
  readonly audited: AuditRecord[]
  readonly putKey: (pem: string) => Promise<unknown>
}

async function withControllers(ownerCheckMilliseconds = 3_600_000): Promise<InstallationFixture> {
  const fixture = await withFixture()
  const app = `app-${randomBytes(4).toString('hex')}`
  await fixture.client.apply(
    namespaces,
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: platformNamespace } },
    { fieldManager, force: true },
  )
  // As docs/guide/install.md tells an admin for a key with a name of its own.
  const admin = await testAdmin()
  await giveSecret(admin, app)
  const revoked: InstallationFixture['revoked'] = []
  const audited: AuditRecord[] = []
  const clock = systemClock
  const log = silentLog
  const client = onlyNamed(fixture.controllersClient, clusterGitHubApp, app)
  const manager = createManager({ client, log, clock, random: Math.random })
  const githubApps = createGitHubApps({
    apps: manager.cache(clusterGitHubApp),
    secretOf: createPlatformSecrets({ client, clock }),
    isLeader: manager.isLeader,
    log,
    clock,
  })
  const shared = { client: manager.client, manager, githubApps, events: { record: () => {} }, clock, log }
  const desk = {
    revokeBy: async (filter: LiveTokenFilter, reason: string) =>
      revoked.push({ reason, installationId: filter.installation?.installationId ?? 0 }),
  }
  const audit = {
    append: async (record: AuditRecord) => audited.push(record),
    list: async () => [],
    appendOnce: async (record: AuditRecord, isRecorded: (earlier: readonly AuditEntry[]) => boolean) => {
      const earlier = audited.filter(({ action }) => action === record.action)
      if (!isRecorded(earlier as unknown as readonly AuditEntry[])) audited.push(record)
    },
  }
  manager.add(createClusterGitHubAppController(shared))
  const tokens = {
    intend: async () => 'intent',
    recordMinted: async () => {},
    markRevoking: async () => {},
    markRevoked: async () => {},
    abandon: async () => {},
  }
  manager.add(createInstallationController({ ...shared, desk, audit, tokens, ownerCheckMilliseconds }))
  await manager.start()
  onTestFinished(() => manager.stop())
  const putKey = (pem: string) =>
    fixture.client.apply(
      secrets,
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { namespace: platformNamespace, name: app },
        data: { 'private-key.pem': Buffer.from(pem).toString('base64') },
      },
      { fieldManager, force: true },
    )
  await fixture.client.create(
    clusterGitHubApp,
    {
      apiVersion: clusterGitHubApp.apiVersion,
      kind: clusterGitHubApp.kind,
      metadata: { name: app },
      spec: {
        host: 'github.localhost',
        endpoints: { web: github.url, api: github.apiUrl, insecure: true },
        appId: github.app.id,
        clientId: github.app.clientId,
        privateKeys: [{ secretName: app, key: 'private-key.pem' }],
      },
    },
    { fieldManager },
  )
  onTestFinished(() => fixture.client.delete(clusterGitHubApp, { name: app }))
  return { ...fixture, app, revoked, audited, putKey }
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
  readonly standIns?: readonly string[]
  readonly boundBy?: string
  readonly permissions?: object
  readonly accountId?: number
}

const standInOf = (login: string) => {
  const { id } = person(login)
  return { id, login, proof: { method: 'OrganizationOwner' as const, provedAt: new Date().toISOString() } }
}

function bind(fixture: InstallationFixture, binding: Binding): Promise<Installation> {
  const owner = person(binding.boundBy ?? 'olivia')
  return fixture.client.create(
    installation,
    {
      apiVersion: installation.apiVersion,
      kind: installation.kind,
      metadata: { namespace: fixture.namespace, name: 'github' },
      spec: {
        app: fixture.app,
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
        ...(binding.standIns && { standIns: binding.standIns.map(standInOf) }),
      },
    },
    { fieldManager },
  )
}

const becomes = (fixture: InstallationFixture, reason: string) =>
  readyReason(fixture.client, installation, { namespace: fixture.namespace, name: 'github' }, reason)
const wake = (fixture: InstallationFixture, value: string) =>
  fixture.client.mergePatch(
    installation,
    { namespace: fixture.namespace, name: 'github' },
    { metadata: { annotations: { [wakeAnnotation]: value } } },
    { fieldManager },
  )
const appBecomes = (fixture: InstallationFixture, reason: string) =>
  waitUntil(`the App is ${reason}`, async () => {
    const found = await fixture.client.get(clusterGitHubApp, { name: fixture.app })
    const ready = found?.status?.conditions?.find(condition => condition.type === 'Ready')
    if (found && ready?.reason === reason) return found
    throw new Error(`${ready?.reason}: ${ready?.message}`)
  })

describe('a ClusterGitHubApp', () => {
  test('says that its webhook is form-encoded as long as it is', async () => {
    const fixture = await withControllers()
    const [app] = github.context.state.apps
    if (app === undefined) throw new Error('no App')
    const before = app.webhookUrl
    app.webhookEncoding = 'form'
    app.webhookUrl = 'http://127.0.0.1:9/'
    onTestFinished(() => {
      delete app.webhookEncoding
      app.webhookUrl = before
    })
    await fixture.putKey(github.app.privateKeyPem)
    const webhookIs = (reason: string) =>
      waitUntil(`the webhook is ${reason}`, async () => {
        const found = await fixture.client.get(clusterGitHubApp, { name: fixture.app })
        return found?.status?.conditions?.find(({ type }) => type === 'WebhookReadable')?.reason === reason
      })
    await webhookIs('FormDeliveries')
    app.webhookEncoding = 'json'
    // Any change makes the controller look at once; otherwise it does within a minute.
    await fixture.client.mergePatch(
      clusterGitHubApp,
      { name: fixture.app },
      { metadata: { labels: { look: 'again' } } },
      { fieldManager },
    )
    await webhookIs('JsonDeliveries')
  })

  test('waits for its key, refuses a wrong one, and is verified without a restart when the right one arrives', async () => {
    const fixture = await withControllers()
    await appBecomes(fixture, 'PrivateKeyMissing')
    const { generateKeyPairSync } = await import('node:crypto')
    const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs1', format: 'pem' })
    await fixture.putKey(stranger.toString())
    await appBecomes(fixture, 'PrivateKeyRefused')
    await fixture.putKey(github.app.privateKeyPem)
    const verified = await appBecomes(fixture, 'Verified')
    expect(verified.status?.slug).toBe(github.app.slug)
    expect(verified.status?.permissions?.['contents']).toBe('write')
  })
})

describe('an Installation', () => {
  test('is verified with the App’s key, its owner with an audited single-use token; a second reconcile writes nothing', async () => {
    const fixture = await withControllers()
    await fixture.putKey(github.app.privateKeyPem)
    await bind(fixture, { installationId: installedOn('acme', 'olivia').id })
    const verified = await becomes(fixture, 'Verified')
    expect(verified.status?.appId).toBe(github.app.id)
    expect(verified.metadata.finalizers).toContain('sekisho.dev/installation')
    expect(fixture.audited.map(record => record.action)).toEqual(['token.intended', 'token.minted', 'token.revoked'])
    expect(fixture.audited[0]?.details['permissions']).toEqual({ members: 'read' })
    expect(fixture.revoked).toEqual([])

    const writes = fixture.writes.length
    await fixture.client.mergePatch(
      installation,
      { namespace: fixture.namespace, name: 'github' },
      { metadata: { labels: { touched: 'yes' } } },
      { fieldManager },
    )
    await wake(fixture, '2026-01-01T00:00:00.000Z/one')
    await waitUntil('the wake was observed', async () => {
      const found = await fixture.client.get(installation, { namespace: fixture.namespace, name: 'github' })
      return found?.status?.observedWake === '2026-01-01T00:00:00.000Z/one'
    })
    // Label and wake together: GitHub was read once more, and one status was written.
    expect(fixture.writes.slice(writes)).toEqual(['status Installation github'])
    expect(fixture.audited).toHaveLength(6)
  })

  test('revokes its tokens when it is suspended, and is verified again afterwards', async () => {
    const fixture = await withControllers()
    await fixture.putKey(github.app.privateKeyPem)
    const installed = installedOn('acme', 'olivia')
    await bind(fixture, { installationId: installed.id })
    await becomes(fixture, 'Verified')
    setSuspended(github.context, installed, person('olivia').id, true)
    await wake(fixture, 'suspended')
    await becomes(fixture, 'InstallationSuspended')
    await waitUntil('tokens were revoked', async () => fixture.revoked.length > 0)
    expect(fixture.revoked[0]).toEqual({ reason: 'InstallationSuspended', installationId: installed.id })
    setSuspended(github.context, installed, person('olivia').id, false)
    await wake(fixture, 'unsuspended')
    await becomes(fixture, 'Verified')
  })

  test('revokes its tokens when the person who bound it is no longer an owner', async () => {
    const fixture = await withControllers()
    await fixture.putKey(github.app.privateKeyPem)
    const inAcme = { context: github.context, organization: organization('acme'), sender: person('olivia') }
    setRole(inAcme, person('mia'), 'admin')
    await bind(fixture, { installationId: installedOn('acme', 'olivia').id, boundBy: 'mia' })
    await becomes(fixture, 'Verified')
    setRole(inAcme, person('mia'), 'member')
    await wake(fixture, 'demoted')
    await becomes(fixture, 'BinderNoLongerOwner')
    await waitUntil('tokens were revoked', async () => fixture.revoked.length > 0)
  })

  test('holds when the person who bound it leaves while another owner stands in, and no longer than that one does', async () => {
    const fixture = await withControllers()
    await fixture.putKey(github.app.privateKeyPem)
    const inAcme = { context: github.context, organization: organization('acme'), sender: person('olivia') }
    const key = { namespace: fixture.namespace, name: 'github' }
    const answers = (login: string | undefined, wokenBy: string) =>
      waitUntil(`${login} answers`, async () => {
        const found = await fixture.client.get(installation, key)
        return found?.status?.observedWake === wokenBy && found.status.standIn?.login === login ? found : undefined
      })
    for (const login of ['mia', 'dave']) setRole(inAcme, person(login), 'admin')
    onTestFinished(() => {
      for (const login of ['mia', 'dave']) setRole(inAcme, person(login), 'member')
    })
    await bind(fixture, { installationId: installedOn('acme', 'olivia').id, boundBy: 'mia', standIns: ['dave'] })
    await becomes(fixture, 'Verified')
    setRole(inAcme, person('mia'), 'member')
    await wake(fixture, 'mia left')
    const held = await answers('dave', 'mia left')
    const said = held.status?.conditions?.find(({ type }) => type === 'Verified')
    expect(said).toMatchObject({ status: 'True', reason: 'Verified' })
    expect(said?.message).toContain(
      `mia (id ${person('mia').id}) does not own acme any more, dave (id ${person('dave').id}) stands in`,
    )
    // Another owner comes to stand in: at rest, only the generation is observed.
    const patch = (standIns: unknown) => fixture.client.mergePatch(installation, key, { spec: { standIns } }, { fieldManager })
    const reads = fixture.audited.length
    const changed = await patch([standInOf('dave'), standInOf('olivia')])
    await waitUntil('the change was observed', async () => {
      const { status } = (await fixture.client.get(installation, key)) ?? {}
      return status?.observedGeneration === changed?.metadata.generation
    })
    expect(fixture.audited).toHaveLength(reads)
    expect(fixture.revoked).toEqual([])

    // Who answers withdraws: the next one is asked about at once; then nobody is left.
    await patch([standInOf('olivia')])
    await answers('olivia', 'mia left')
    expect(fixture.revoked).toEqual([])
    await patch(null)
    await becomes(fixture, 'BinderNoLongerOwner')
    await waitUntil('tokens were revoked', async () => fixture.revoked.length > 0)
  })

  test('ends when the person who stands in leaves, too, and is answered for again by the one who bound it', async () => {
    const fixture = await withControllers()
    await fixture.putKey(github.app.privateKeyPem)
    const inAcme = { context: github.context, organization: organization('acme'), sender: person('olivia') }
    for (const login of ['mia', 'dave']) setRole(inAcme, person(login), 'admin')
    await bind(fixture, { installationId: installedOn('acme', 'olivia').id, boundBy: 'mia', standIns: ['dave'] })
    await becomes(fixture, 'Verified')
    for (const login of ['mia', 'dave']) setRole(inAcme, person(login), 'member')
    await wake(fixture, 'both left')
    const lost = await becomes(fixture, 'BinderNoLongerOwner')
    expect(lost.status?.conditions?.[0]?.message).toContain('and nobody who stands in owns it')
    await waitUntil('tokens were revoked', async () => fixture.revoked.length > 0)
    setRole(inAcme, person('mia'), 'admin')
    await wake(fixture, 'mia is back')
    expect((await becomes(fixture, 'Verified')).status?.standIn).toBeUndefined()
    setRole(inAcme, person('mia'), 'member')
  })

  test('of its spec only who stands in changes: at most five, each once, never who bound it, and of an organisation', async () => {
    const fixture = await withControllers()
    const { client, namespace } = fixture
    await bind(fixture, { installationId: 7, boundBy: 'mia' })
    const refusalOf = (spec: object) =>
      client
        .mergePatch(installation, { namespace, name: 'github' }, { spec }, { fieldManager, dryRun: true })
        .then(() => undefined, String)
    const numbered = (count: number) => Array.from({ length: count }, (_, index) => ({ ...standInOf('dave'), id: 9000 + index }))
    expect(await refusalOf({ standIns: numbered(5) })).toBeUndefined()
    const kept = 'spec of Installation cannot change, except standIns'
    const refused: readonly (readonly [object, string])[] = [
      [{ app: 'other' }, kept],
      [{ installationId: 8 }, kept],
      [{ boundBy: { id: 5 } }, kept],
      [{ proof: { provedAt: '2026-01-01T00:00:00Z' } }, kept],
      [{ account: { login: 'x' } }, kept],
      [{ ceiling: { permissions: { contents: 'write' } } }, kept],
      [{ ceiling: { repositoryIds: [1] }, standIns: numbered(1) }, kept],
      [{ standIns: numbered(6) }, 'at most 5 items'],
      [{ standIns: [] }, 'at least 1 items'],
      [{ standIns: [standInOf('dave'), standInOf('dave')] }, 'Duplicate value'],
      [{ standIns: [standInOf('mia')] }, 'who bound the installation does not stand in, too'],
      [
        { standIns: [{ ...standInOf('dave'), proof: { method: 'AccountHolder', provedAt: '2026-01-01T00:00:00Z' } }] },
        'Unsupported',
      ],
    ]
    for (const [spec, message] of refused) expect(await refusalOf(spec)).toContain(message)
    const { apiVersion, kind } = installation
    const { id, login } = person('mia')
    const account = { host: 'github.localhost', id, login, type: 'User' as const }
    const proof = { method: 'AccountHolder' as const, provedAt: '2026-01-01T00:00:00Z' }
    const ceiling = { repositories: 'All' as const, permissions: {} }
    const spec = { app: fixture.app, installationId: 8, account, boundBy: { id, login }, proof, ceiling }
    const create = (change: object) =>
      client.create(
        installation,
        { apiVersion, kind, metadata: { namespace, name: 'user' }, spec: { ...spec, ...change } },
        { fieldManager, dryRun: true },
      )
    await expect(create({ standIns: [standInOf('dave')] })).rejects.toThrow('only for an organisation somebody stands in')
    await expect(create({})).resolves.toBeDefined()
  })

  test('is not verified for a person who is only invited as an owner', async () => {
    const fixture = await withControllers()
    await fixture.putKey(github.app.privateKeyPem)
    const inAcme = { context: github.context, organization: organization('acme'), sender: person('olivia') }
    setRole(inAcme, person('noah'), 'admin')
    await bind(fixture, { installationId: installedOn('acme', 'olivia').id, boundBy: 'noah' })
    await becomes(fixture, 'BinderNoLongerOwner')
    acceptMembership({ ...inAcme, sender: person('noah') })
    await wake(fixture, 'accepted')
    await becomes(fixture, 'Verified')
    setRole(inAcme, person('noah'), 'member')
  })

  test('is not verified for another account, an unknown installation, or a ceiling above what GitHub grants', async () => {
    const wrong: readonly (readonly [string, (id: number) => Binding])[] = [
      ['AccountMismatch', installationId => ({ installationId, accountId: organization('globex').id })],
      ['InstallationNotFound', () => ({ installationId: 987_654_321 })],
      ['CeilingAboveGitHub', installationId => ({ installationId, permissions: { administration: 'write' } })],
    ]
    for (const [reason, binding] of wrong) {
      const fixture = await withControllers()
      await fixture.putKey(github.app.privateKeyPem)
      await bind(fixture, binding(installedOn('acme', 'olivia').id))
      await becomes(fixture, reason)
    }
  })

  test('is deleted only after its tokens are revoked, also when it was uninstalled on GitHub', async () => {
    const fixture = await withControllers()
    await fixture.putKey(github.app.privateKeyPem)
    const installed = installedOn('globex', 'gary')
    await bind(fixture, { installationId: installed.id, boundBy: 'gary', accountId: organization('globex').id })
    await becomes(fixture, 'Verified')
    uninstallApp(github.context, installed, person('gary').id)
    await wake(fixture, 'uninstalled')
    await becomes(fixture, 'InstallationNotFound')
    const key = { namespace: fixture.namespace, name: 'github' }
    await fixture.client.delete(installation, key)
    await gone(fixture.client, installation, key)
    expect(fixture.revoked.at(-1)).toEqual({ reason: 'the Installation was deleted', installationId: installed.id })
    expect(fixture.audited.filter(({ action }) => action === 'installation.ended')).toMatchObject([
      { object: expect.stringMatching(/^Installation\//), details: { installationId: installed.id } },
    ])
  })
})
