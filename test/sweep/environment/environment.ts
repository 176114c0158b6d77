// One environment: a prefix, a namespace, a database, an account on GitHub, the proxies around the process under test, and its
// settings. Every crash point has its own environment, so that crash points do not affect each other.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { applicationChart } from '../../../src/api/apps/application-chart.ts'
import { configMaps, namespaces, secrets } from '../../../src/api/builtin/index.ts'
import { clusterGitHubApp } from '../../../src/api/github/cluster-github-app.ts'
import { labels, platformNamespace } from '../../../src/api/names.ts'
import type { ResourceType } from '../../../src/api/resource.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { firstUserOf } from '../../../src/lib/limits/user-range.ts'
import { SecretString } from '../../../src/lib/secret-string.ts'
import { reservePort } from '../../../src/lib/testing/reserved-port.ts'
import { silentLog } from '../../../src/lib/testing/silent-log.ts'
import { clusterBuilders } from '../../../src/services/builds/kpack/resources.ts'
import type { Schema } from '../../../src/store/access/rights.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { bothStores, type TestStore } from '../../fixtures/databases.ts'
import { giveRights } from '../../fixtures/platform-rights.ts'
import { roleUrl } from '../../fixtures/production-database.ts'
import { writeStatus } from '../../fixtures/write-status.ts'
import { applyAppKey, applyApp as applyGitHubApp, gitHubHost } from '../../platform/ground.ts'
import { brokerVariables, controllersVariables } from '../../platform/process-plans.ts'
import { upstreamWith } from '../../proxies/chaos-proxy/api-server.ts'
import { startChaosProxy } from '../../proxies/chaos-proxy/chaos-proxy.ts'
import { openUpstream } from '../../proxies/chaos-proxy/upstream.ts'
import { type CrashSwitch, createCrashSwitch } from '../../proxies/crash-switch.ts'
import { startDatabaseProxy } from '../../proxies/database-proxy.ts'
import { gitHubWrite, kubernetesWrite, registryWrite, viewOf } from '../../proxies/named-writes.ts'
import type { Component, RunSettings } from '../subject/messages.ts'
import { type Account, makeAccount } from './account.ts'
import type { Fixture } from './fixture.ts'
import { withdrawServices } from './services.ts'
import { startTenantsServer, type TenantsServer } from './tenants-server.ts'
import { startTenantsStore, type TenantsStore } from './tenants-store.ts'

export const fieldManager = 'sweep'
export const host = gitHubHost
export const chartName = (prefix: string): string => `${prefix}-chart`
/** The ClusterBuilder of the platform, and the one whose builds are pods. */
export const builderName = (prefix: string): string => `${prefix}-builder`
export const podBuilderName = (prefix: string): string => `${prefix}-pods`
const keyName = (prefix: string): string => `${prefix}-key`

export type EnvironmentRequest = {
  readonly component: Component
  /** `tenant`: the Tenant controller creates the namespaces; `made`: the environment creates one at the start. */
  readonly namespace: 'made' | 'tenant'
  /** `app`: also create the ClusterGitHubApp and its Secret; `repository`: also create a repository. */
  readonly github: 'none' | 'account' | 'app' | 'repository'
  /** `proxied`: what the process under test deletes in the registry counts as a write. */
  readonly registry?: 'proxied'
  /** A server that tenants share, of this environment alone: PostgreSQL, or a store of buckets. */
  readonly services?: 'databases' | 'buckets'
}

export type Environment = {
  readonly fixture: Fixture
  readonly prefix: string
  readonly namespace: string
  /** The namespaces that belong to the environment, whether or not they exist. */
  readonly namespaces: readonly string[]
  readonly appName: string
  readonly account: Account
  readonly store: TestStore
  readonly crash: CrashSwitch
  readonly ports: { readonly tokenDesk: number; readonly gitProxy: number; readonly sources: number; readonly broker: number }
  readonly githubUrl: string
  /** By which the process under test knows the registry. */
  readonly registryHost: string
  /** Undefined when the environment does not have it. */
  readonly databases: TenantsServer | undefined
  readonly buckets: TenantsStore | undefined
  readonly runSettings: (clock: Pick<RunSettings, 'aheadMilliseconds' | 'clockRate'>) => RunSettings
  readonly apply: (type: ResourceType, name: string, content: object, namespace?: string) => Promise<void>
  readonly setStatus: (type: ResourceType, name: string, status: object, namespace?: string) => Promise<void>
  /** Gives the process under test its rights in the namespace, as the Tenant controller does. */
  readonly giveRights: () => Promise<void>
  /** Closes every connection of the process under test. */
  readonly cut: () => void
  readonly close: () => Promise<void>
}

function environmentOf(environment: {
  readonly prefix: string
  readonly folder: string
  readonly kubeconfig: string
  readonly databaseUrl: string
  readonly auditDatabaseUrl: string
  readonly sealingKey: string
  readonly appName: string
  readonly ports: Environment['ports']
  readonly registryHost: string
  readonly fixture: Fixture
}): RunSettings['environment'] {
  const { prefix, folder, ports, fixture } = environment
  return {
    ...brokerVariables({ github: fixture.github, leaf: { certificate: '/nonexistent', key: '/nonexistent' } }),
    ...controllersVariables,
    KUBECONFIG: environment.kubeconfig,
    SEKISHO_DATABASE_URL: environment.databaseUrl,
    SEKISHO_AUDIT_DATABASE_URL: environment.auditDatabaseUrl,
    SEKISHO_SEALING_KEYS: environment.sealingKey,
    SEKISHO_DATA_FOLDER: folder,
    SEKISHO_REGISTRY: `${environment.registryHost}/apps`,
    SEKISHO_BUILDKIT_IMAGE: `registry.example.com/cnb/buildkit@sha256:${'b'.repeat(64)}`,
    SEKISHO_BUILDPACKS_IMAGE: fixture.registry.publishBuilder('cnb/phases'),
    // The builder whose builds are pods; of that of the platform too little is known, so that kpack builds.
    SEKISHO_CLUSTER_BUILDER: builderName(prefix),
    SEKISHO_BUILDERS: `pods=${podBuilderName(prefix)}`,
    SEKISHO_DNS_SERVERS: fixture.dns.address,
    SEKISHO_SOURCE_URL: `http://127.0.0.1:${ports.sources}`,
    SEKISHO_SOURCE_PORT: String(ports.sources),
    SEKISHO_TOKEN_DESK_PORT: String(ports.tokenDesk),
    SEKISHO_GIT_PROXY_PORT: String(ports.gitProxy),
    SEKISHO_PUBLIC_URL: `https://127.0.0.1:${ports.broker}`,
    SEKISHO_BROKER_ADDRESS: '127.0.0.1',
    SEKISHO_BROKER_PORT: String(ports.broker),
    SEKISHO_GITHUB_APP: environment.appName,
    // All environments would write their checkpoints into the same ConfigMap, each from its own log.
    SEKISHO_AUDIT_CHECKPOINT_SECONDS: '86400',
    // Its dry runs are refused or allowed, and write nothing: no crash changes what comes of them.
    SEKISHO_WALL_PROBE_SECONDS: '600',
  }
}

export async function openEnvironment(fixture: Fixture, request: EnvironmentRequest): Promise<Environment> {
  const prefix = fixture.nextPrefix()
  const crash = createCrashSwitch()
  const folder = await mkdtemp(join(tmpdir(), 'sweep-'))
  await fixture.makeDatabase(prefix)
  const { certificateAuthority, server } = fixture.access
  const view = viewOf({ prefix, namespace: request.namespace === 'made' ? prefix : undefined })
  const token = fixture.tokens[request.component]
  const [kubeProxy, githubProxy, databaseProxy, databases, buckets] = await Promise.all([
    startChaosProxy(upstreamWith({ server, certificateAuthority, token }), { crash, writeOf: kubernetesWrite(prefix), view }),
    startChaosProxy(openUpstream(fixture.github.url), { crash, writeOf: gitHubWrite }),
    startDatabaseProxy(fixture.postgres.url(prefix), crash),
    request.services === 'databases' ? startTenantsServer(crash, fixture.tenantsServers) : undefined,
    request.services === 'buckets' ? startTenantsStore(crash) : undefined,
  ])
  const registryProxy =
    request.registry === 'proxied'
      ? await startChaosProxy(openUpstream(`http://${fixture.registry.host}`), { crash, writeOf: registryWrite })
      : undefined
  const registryHost = registryProxy === undefined ? fixture.registry.host : new URL(registryProxy.url).host
  const optional = [registryProxy, databases, buckets].filter(proxy => proxy !== undefined)
  const proxies = [kubeProxy, githubProxy, databaseProxy, ...optional]
  const kubeconfig = join(folder, 'kubeconfig')
  await writeFile(kubeconfig, kubeProxy.kubeconfig(), { mode: 0o600 })
  const appName = `${prefix}-app`
  const ports = {
    tokenDesk: await reservePort(),
    gitProxy: await reservePort(),
    sources: await reservePort(),
    broker: await reservePort(),
  }
  const [account, store] = await Promise.all([
    makeAccount(fixture.github, prefix, request.github === 'repository'),
    openStore({
      url: fixture.postgres.url(prefix),
      sealingKeys: [new SecretString(fixture.sealingKey)],
      clock: systemClock,
      log: silentLog,
    }).then(bothStores),
  ])
  const urlOf = (schema: Schema): string => databaseProxy.through(roleUrl(fixture.postgres, prefix, schema)).reveal()
  const variables = environmentOf({
    prefix,
    folder,
    kubeconfig,
    databaseUrl: urlOf(request.component === 'broker' ? 'broker' : 'desk'),
    auditDatabaseUrl: urlOf('audit'),
    sealingKey: fixture.sealingKey,
    appName,
    ports,
    registryHost,
    fixture,
  })

  const apply: Environment['apply'] = async (type, name, content, namespace = type.namespaced ? prefix : undefined) => {
    const { apiVersion, kind } = type
    const metadata = { name, ...(namespace === undefined ? {} : { namespace }) }
    await fixture.kube.apply(type, { apiVersion, kind, metadata, ...content }, { fieldManager, force: true })
  }
  const environment: Environment = {
    fixture,
    prefix,
    namespace: prefix,
    namespaces: [prefix, `${prefix}-build`],
    appName,
    account,
    store,
    crash,
    ports,
    githubUrl: githubProxy.url,
    registryHost,
    databases,
    buckets,
    runSettings: clock => ({ environment: variables, ...clock }),
    apply,
    setStatus: (type, name, status, namespace = type.namespaced ? prefix : undefined) =>
      writeStatus(fixture.admin, type, { namespace, name }, status),
    giveRights: () => giveRights(fixture.admin, prefix, ['application']),
    cut() {
      for (const proxy of proxies) proxy.cut()
    },
    async close() {
      await Promise.all(proxies.map(proxy => proxy.close()))
      await store.close()
      // Objects that all other environments would list. Namespaces stay: they are removed with the control plane.
      await fixture.kube.delete(clusterGitHubApp, { name: appName })
      await fixture.kube.delete(applicationChart, { name: chartName(prefix) })
      for (const name of [builderName(prefix), podBuilderName(prefix)]) await fixture.kube.delete(clusterBuilders, { name })
      if (request.services !== undefined) await withdrawServices(fixture, prefix)
      for (const type of [secrets, configMaps])
        await fixture.kube.delete(type, {
          namespace: platformNamespace,
          name: type === secrets ? keyName(prefix) : chartName(prefix),
        })
      await rm(folder, { recursive: true, force: true })
    },
  }
  if (request.namespace === 'made') {
    const firstUser = String(firstUserOf(0))
    const tenants = { [labels.tenant]: prefix, [labels.namespacePurpose]: 'application', [labels.firstUser]: firstUser }
    await apply(namespaces, prefix, { metadata: { name: prefix, labels: tenants } })
    await environment.giveRights()
  }
  if (request.github === 'app' || request.github === 'repository') {
    await applyKey(environment)
    await applyApp(environment)
  }
  return environment
}

/** The Secret with a private key of the App; a scenario passes a `pem` that does not belong to the App to have it refused. */
export function applyKey({ fixture, prefix }: Environment, pem: string = fixture.github.app.privateKeyPem): Promise<void> {
  return applyAppKey(fixture.admin, keyName(prefix), pem)
}

export function applyApp({ fixture, prefix, appName: name, githubUrl: url }: Environment): Promise<void> {
  return applyGitHubApp(fixture.admin, fixture.github, { name, secret: keyName(prefix), url })
}
