// A tenant's world for the tests of Tenant, RepositoryGrant and the token desk: the real controllers and desk on the real API server, the
// GitHub emulator with the App installed on acme, a store in memory. The Installation's status is played: its controller has its own tests.
import { randomBytes } from 'node:crypto'
import { onTestFinished } from 'vitest'
import { adminClientFor } from '../../dev/cluster/control-plane/admin-client.ts'
import { type RunningEmulator, startEmulator } from '../../dev/github/emulator.ts'
import { install, signIn } from '../../dev/github/testing/people.ts'
import { installation } from '../../src/api/installation.ts'
import { labels, userSubject } from '../../src/api/names.ts'
import { type RepositoryGrant, repositoryGrant } from '../../src/api/repository-grant.ts'
import type { ResourceType } from '../../src/api/resource.ts'
import { tenant } from '../../src/api/tenant.ts'
import { createRepositoryGrantController } from '../../src/controllers/repository-grant/index.ts'
import { createTenantController } from '../../src/controllers/tenant/index.ts'
import { createTokenDesk, type TokenDesk } from '../../src/controllers/token-desk/index.ts'
import { createAppDoor } from '../../src/github/index.ts'
import type { KubeClient } from '../../src/kube/client/client.ts'
import { createKubeClient } from '../../src/kube/client/kube-client.ts'
import { createManager } from '../../src/kube/manager.ts'
import { mergeConditions } from '../../src/kube/object/conditions.ts'
import { createEventRecorder } from '../../src/kube/object/events.ts'
import { loadKubeConnection } from '../../src/kubeconfig/kubeconfig.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLog } from '../../src/lib/log.ts'
import { SecretString } from '../../src/lib/secret-string.ts'
import type { Store } from '../../src/store/store.ts'
import { openTestStore } from '../store/databases.ts'
import { testKubeconfig } from './harness.ts'
import { narrowed, onlyNamed, recording, type Where } from './test-clients.ts'

export const people = { olivia: 1001, dave: 1002, mia: 1003, noah: 1005 } as const
const host = 'github.localhost'
const fieldManager = 'test'

export type DeskSite = {
  readonly github: RunningEmulator
  readonly installationId: number
  readonly store: Store
  readonly stop: () => Promise<void>
}

/** The emulator with the App installed on all of acme, and a store. One for a test file: both take seconds to start. */
export async function startDeskSite(): Promise<DeskSite> {
  // After the installation GitHub sends the browser to the App's set-up page: it is read off the address and never opened.
  const setupUrl = 'http://127.0.0.1:9/setup'
  const github = await startEmulator({ app: { setupUrl } })
  const browser = await signIn(github, 'olivia')
  browser.stops.push(setupUrl)
  const end = await install(github, browser, 2001, { repositoryIds: 'all' })
  const installationId = Number(new URL(end.url).searchParams.get('installation_id'))
  const store = await openTestStore({ dataFolder: 'memory://' })
  return {
    github,
    installationId,
    store,
    async stop() {
      await store.close()
      await github.stop()
    },
  }
}

export type TenantWorld = {
  readonly client: KubeClient
  readonly namespace: string
  readonly desk: TokenDesk
  readonly endpoints: { readonly host: string; readonly web: string; readonly api: string }
  /** Writes of the controllers, in order. */
  readonly writes: string[]
  readonly applyTenant: (changes?: object) => Promise<void>
  /** A bound Installation that its controller has found ready, or not. */
  readonly bind: (changes?: {
    readonly ceiling?: object
    readonly ready?: 'True' | 'False'
    readonly permissions?: Readonly<Record<string, string>>
  }) => Promise<void>
  readonly requestGrant: (
    name: string,
    by: keyof typeof people | { readonly subject: string },
    changes?: object,
  ) => Promise<RepositoryGrant>
  readonly setStatus: (type: ResourceType, namespace: string | undefined, name: string, status: object) => Promise<void>
}

export async function withTenantWorld(site: DeskSite): Promise<TenantWorld> {
  const namespace = `t-${randomBytes(4).toString('hex')}`
  const connection = await loadKubeConnection({ environment: { KUBECONFIG: testKubeconfig() }, clock: systemClock })
  const client = createKubeClient({ connection, component: 'test', clock: systemClock, random: Math.random })
  const writes: string[] = []
  const manager = createManager({
    client: recording(seeing(client, namespace), writes),
    log: silentLog,
    clock: systemClock,
    random: Math.random,
  })
  const endpoints = { host, web: site.github.url, api: site.github.apiUrl }
  const desk = addControllers(site, manager, endpoints)
  await manager.start()
  onTestFinished(async () => {
    await client.delete(tenant, { name: namespace })
    await manager.stop()
    await client.close()
  })

  const setStatus: TenantWorld['setStatus'] = async (type, where, name, status) => {
    const admin = await adminClientFor(testKubeconfig())
    const scope = where === undefined ? '' : `/namespaces/${where}`
    const path = `/apis/${type.apiVersion}${scope}/${type.plural}/${name}/status`
    await admin.call('PATCH', path, { status }, 'application/merge-patch+json')
    await admin.close()
  }
  const apply = (type: ResourceType, metadata: { readonly name: string; readonly namespace?: string }, spec: object) =>
    client.apply(type, { apiVersion: type.apiVersion, kind: type.kind, metadata, spec }, { fieldManager, force: true })

  return {
    client,
    namespace,
    desk,
    endpoints,
    writes,
    setStatus,
    async applyTenant(changes = {}) {
      const account = { host, id: 2001, login: 'acme', type: 'Organization' }
      const roles = [
        { role: 'admin', subject: { type: 'Owners' } },
        { role: 'developer', subject: { type: 'Team', id: 3001, name: 'developers' } },
      ]
      await apply(tenant, { name: namespace }, { account, namespace, roles, ...changes })
    },
    async bind({ ceiling, ready = 'True', permissions = { metadata: 'read' } } = {}) {
      const spec = {
        app: 'sekisho',
        installationId: site.installationId,
        account: { host, id: 2001, login: 'acme', type: 'Organization' },
        boundBy: { id: people.olivia, login: 'olivia' },
        proof: { method: 'OrganizationOwner', provedAt: '2026-01-01T00:00:00Z' },
        ceiling: { repositories: 'All', permissions: { contents: 'write', statuses: 'write' }, ...ceiling },
      }
      await apply(installation, { name: 'github', namespace }, spec)
      const conditions = mergeConditions([], [{ type: 'Ready', status: ready, reason: 'Test', message: '' }], 1, new Date())
      await setStatus(installation, namespace, 'github', { conditions, permissions })
    },
    async requestGrant(name, by, changes = {}) {
      const spec = {
        installation: 'github',
        repositories: ['acme/shop'],
        permissions: { contents: 'read' },
        subjects: [{ kind: 'ServiceAccount', name: 'runner' }],
        reason: 'a test reads the shop',
        requestedBy: typeof by === 'string' ? userSubject(host, people[by]) : by.subject,
        ...changes,
      }
      await apply(repositoryGrant, { name, namespace }, spec)
      const made = await client.get(repositoryGrant, { namespace, name })
      if (made === undefined) throw new Error(`RepositoryGrant ${name} was not made`)
      return made
    },
  }
}

function addControllers(
  site: DeskSite,
  manager: ReturnType<typeof createManager>,
  endpoints: TenantWorld['endpoints'],
): TokenDesk {
  const { app } = site.github
  const shared = { log: silentLog, clock: systemClock }
  const privateKeys = [new SecretString(app.privateKeyPem)]
  const door = createAppDoor({ ...shared, endpoints, appId: app.id, clientId: app.clientId, privateKeys })
  const githubApps = { door: async () => ({ door, endpoints, appId: app.id }) }
  const { client } = manager
  const { audit, tokens } = site.store
  const tenants = manager.cache(tenant)
  const tenantOf = (name: string) => tenants.list().find(({ spec }) => spec.namespace === name)
  const desk = createTokenDesk({ ...shared, client, githubApps, appNameOf: () => 'sekisho', tokens, audit, tenantOf })
  const events = createEventRecorder({ ...shared, client, component: 'test' })
  const settings = { buildEgress: [], sourceStorePort: 8081, certificateAuthority: 'PEM' }
  manager.add(createTenantController({ ...shared, manager, client, desk, events, settings, githubApps, audit, tokens }))
  manager.add(createRepositoryGrantController({ ...shared, manager, client, desk, events, githubApps, audit, tokens }))
  return desk
}

/** Only what belongs to this world's tenant: test files share one API server and must not reconcile each other's objects. */
function seeing(client: KubeClient, name: string): KubeClient {
  const within = <O extends Where>(type: ResourceType, options: O): O => {
    if (options.labelSelector === labels.tenant) return { ...options, labelSelector: `${labels.tenant}=${name}` }
    return type.namespaced ? { ...options, namespace: name } : options
  }
  return narrowed(onlyNamed(client, tenant, name), within)
}
