// The environment of a soak run: a control plane of its own with policies and webhooks, PostgreSQL, the GitHub emulator, and the whole platform
// as one child process that accesses the API server through the chaos proxy. Everything is started and stopped here.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { catalog } from '../../dev/cluster/binaries/catalog.ts'
import { ensureBinary } from '../../dev/cluster/binaries/ensure-binary.ts'
import type { ControlPlane } from '../../dev/cluster/control-plane/start.ts'
import { removeTestCluster, startTestCluster, type ThrowAwayCluster } from '../../dev/cluster/control-plane/test-cluster.ts'
import { openAuthority } from '../../dev/cluster/pki/authority.ts'
import { standardErrorProgress } from '../../dev/cluster/progress.ts'
import { readClusterSettings } from '../../dev/cluster/settings.ts'
import { waitUntil } from '../../dev/cluster/wait-until.ts'
import { type EmulatorOptions, type RunningEmulator, startEmulator } from '../../dev/github/emulator.ts'
import { startPostgres, type TestPostgres } from '../../dev/postgres/start-postgres.ts'
import { createKubectl } from '../../dev/up/kubectl.ts'
import { platformNamespace } from '../../src/api/names.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { SecretString } from '../../src/lib/secret-string.ts'
import { silentLog } from '../../src/lib/testing/silent-log.ts'
import { openStore } from '../../src/store/open-store.ts'
import { type Impersonation, impersonation } from '../attack/impersonation.ts'
import { type ChaosProxy, startChaosProxy } from '../faults/chaos-proxy/chaos-proxy.ts'
import { upstreamOf } from '../faults/chaos-proxy/upstream.ts'
import { bothStores, type TestStore } from '../fixtures/databases.ts'
import { admissionPort, installAdmission, platformKubeconfig } from './platform-access.ts'

const soakCluster: ThrowAwayCluster = { name: 'soak-cluster', portOffset: 60 }
/** Ports of the platform's listeners, all on loopback. */
const ports = { broker: 24_443, tokenDesk: 24_444, admission: admissionPort, source: 24_446, health: 24_447 }
export const appName = 'github'
export const gitHubHost = 'github.localhost'

export type SoakPlatform = {
  readonly github: RunningEmulator
  readonly proxy: ChaosProxy
  /** A second connection to the platform's database. */
  readonly store: TestStore
  readonly admin: ControlPlane['admin']
  /** Of the administrator. */
  readonly kubeconfig: string
  readonly people: Impersonation
  readonly pid: number
  /** Memory usage of the platform's process just after a garbage collection. */
  readonly memory: () => Promise<NodeJS.MemoryUsage>
  readonly healthUrl: string
  readonly tokenDeskUrl: string
  /** Undefined while the platform runs; then how it ended. */
  readonly ended: () => string | undefined
  readonly logFile: string
  /** Where the platform keeps its files. */
  readonly dataFolder: string
  /** Ends the platform's process and starts another; resolves when that is ready. */
  readonly restart: () => Promise<void>
  readonly stop: () => Promise<void>
}

/** What people, git and workloads use of a running platform. */
export type PlatformInUse = Pick<SoakPlatform, 'github' | 'admin' | 'people' | 'tokenDeskUrl'>

/** What differs from the soak's own environment. */
export type SoakPlatformOptions = {
  readonly cluster?: ThrowAwayCluster
  readonly github?: Pick<EmulatorOptions, 'seed' | 'rateLimit'>
  /** Called before the platform starts, which looks only then for kpack. */
  readonly prepare?: (admin: ControlPlane['admin']) => Promise<void>
  /** Settings of the platform, by their environment variables. */
  readonly settings?: Readonly<Record<string, string>>
}

export async function openSoakPlatform(options: SoakPlatformOptions = {}): Promise<SoakPlatform> {
  const { cluster = soakCluster } = options
  const deps = { settings: readClusterSettings(), progress: standardErrorProgress() }
  const stops: (() => Promise<unknown>)[] = []
  const stop = async (): Promise<void> => {
    for (const end of stops.splice(0).reverse()) await end()
  }
  try {
    const folder = await mkdtemp(join(tmpdir(), 'sekisho-soak-'))
    stops.push(() => rm(folder, { recursive: true, force: true }))
    const controlPlane = await deps.progress.step('control plane', () => startTestCluster(deps, cluster))
    stops.push(() => removeTestCluster(deps, cluster))
    stops.push(() => controlPlane.admin.close())
    const kubernetes = await ensureBinary(catalog.kubernetes, deps)
    const kubectl = createKubectl(kubernetes.path('kubectl'), controlPlane.kubeconfig)
    const deploy = join(deps.settings.repository, 'deploy')
    await deps.progress.step('kinds, roles and policies', async () => {
      await kubectl.applyFolder(join(deploy, 'crds'))
      await kubectl.run(
        ['wait', '--for=condition=Established', '--timeout=60s', 'crd', '-l', 'app.kubernetes.io/part-of=sekisho'],
        70_000,
      )
      await kubectl.applyText(await readFile(join(deploy, 'base/namespace.yaml'), 'utf8'))
      await kubectl.applyFolder(join(deploy, 'rbac'))
      await kubectl.applyFolder(join(deploy, 'rbac/standalone'))
      await kubectl.applyText(await readFile(join(deploy, 'base/chart-web.yaml'), 'utf8'))
    })
    const authority = await openAuthority(join(folder, 'pki'), 'ca', 'soak')
    const leaf = await authority.leaf('broker', { commonName: 'broker', usage: 'server', addresses: ['127.0.0.1'] })
    const names = { names: ['sekisho-admission'], addresses: ['127.0.0.1'] }
    const admission = await authority.leaf('admission', { commonName: 'sekisho-admission', usage: 'server', ...names })
    const postgres = await deps.progress.step('PostgreSQL', startPostgres)
    stops.push(postgres.stop)
    const webhookUrl = `https://127.0.0.1:${ports.broker}/webhooks/github`
    const github = await startEmulator({ ...options.github, webhookCaFile: authority.files.certificate, app: { webhookUrl } })
    stops.push(() => github.stop())
    const proxy = await startChaosProxy(await upstreamOf(await platformKubeconfig(controlPlane, folder)))
    stops.push(() => proxy.close())
    await applyApp(controlPlane, github)
    await options.prepare?.(controlPlane.admin)

    const sealingKey = randomBytes(32).toString('base64')
    const logFile = join(deps.settings.stateFolder, 'soak', 'platform.log')
    await mkdir(join(deps.settings.stateFolder, 'soak'), { recursive: true })
    const usual = await platformEnvironment({ folder, proxy, postgres, github, sealingKey, leaf, admission })
    const environment = { ...usual, ...options.settings }
    await rm(logFile, { force: true })
    const start = (): Promise<Platform> => startPlatform(deps.settings.repository, environment, logFile)
    let child = await start()
    stops.push(() => child.stop())
    const healthUrl = `http://127.0.0.1:${ports.health}`
    const untilItIsReady = (): Promise<true> =>
      waitUntil('/readyz to answer 200', () => ready(healthUrl), {
        timeoutMilliseconds: 90_000,
        hopeless: async () => child.ended(),
      })
    await deps.progress.step('the platform is ready', untilItIsReady)
    await deps.progress.step('policies and webhooks', () => installAdmission(controlPlane, authority.pem))
    const people = await impersonation(controlPlane.kubeconfig)
    stops.push(people.close)
    const url = postgres.url('postgres')
    const opened = await openStore({ url, sealingKeys: [new SecretString(sealingKey)], clock: systemClock, log: silentLog })
    const store = bothStores(opened)
    stops.push(store.close)
    return {
      github,
      proxy,
      store,
      admin: controlPlane.admin,
      kubeconfig: controlPlane.kubeconfig,
      people,
      get pid() {
        return child.pid
      },
      memory: () => child.memory(),
      healthUrl,
      tokenDeskUrl: `https://127.0.0.1:${ports.tokenDesk}`,
      ended: () => child.ended(),
      logFile,
      dataFolder: environment['SEKISHO_DATA_FOLDER'] ?? '',
      async restart() {
        await child.stop()
        child = await start()
        await untilItIsReady()
      },
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** As an installer does: the platform reads the keys of its Apps by name. */
async function mayReadAppKey(admin: ControlPlane['admin']): Promise<void> {
  const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/${platformNamespace}`
  const apiVersion = 'rbac.authorization.k8s.io/v1'
  const metadata = { name: 'app-keys', namespace: platformNamespace }
  const rules = [{ apiGroups: [''], resources: ['secrets'], resourceNames: ['github-key'], verbs: ['get'] }]
  await admin.call('POST', `${path}/roles`, { apiVersion, kind: 'Role', metadata, rules })
  const subjects = ['sekisho', 'sekisho-controllers'].map(name => ({
    kind: 'ServiceAccount',
    name,
    namespace: platformNamespace,
  }))
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: metadata.name }
  await admin.call('POST', `${path}/rolebindings`, { apiVersion, kind: 'RoleBinding', metadata, subjects, roleRef })
}

export async function applyApp({ admin }: ControlPlane, { app, url }: RunningEmulator): Promise<void> {
  const data = { 'private-key.pem': Buffer.from(app.privateKeyPem).toString('base64') }
  await admin.call('POST', `/api/v1/namespaces/${platformNamespace}/secrets`, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'github-key', namespace: platformNamespace },
    data,
  })
  await mayReadAppKey(admin)
  await admin.call('POST', '/apis/github.sekisho.dev/v1alpha1/clustergithubapps', {
    apiVersion: 'github.sekisho.dev/v1alpha1',
    kind: 'ClusterGitHubApp',
    metadata: { name: appName },
    spec: {
      host: gitHubHost,
      endpoints: { web: url, api: `${url}/api/v3`, insecure: true },
      appId: app.id,
      clientId: app.clientId,
      privateKeys: [{ secretName: 'github-key', key: 'private-key.pem' }],
    },
  })
}

async function platformEnvironment(parts: {
  readonly folder: string
  readonly proxy: ChaosProxy
  readonly postgres: TestPostgres
  readonly github: RunningEmulator
  readonly sealingKey: string
  readonly leaf: { readonly certificate: string; readonly key: string }
  readonly admission: { readonly certificate: string; readonly key: string }
}): Promise<Record<string, string>> {
  const { folder, proxy, postgres, github, sealingKey, leaf, admission } = parts
  const kubeconfig = join(folder, 'kubeconfig')
  await writeFile(kubeconfig, proxy.kubeconfig(), { mode: 0o600 })
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    KUBECONFIG: kubeconfig,
    SEKISHO_DATABASE_URL: postgres.url('postgres').reveal(),
    SEKISHO_SEALING_KEYS: sealingKey,
    SEKISHO_DATA_FOLDER: join(folder, 'data'),
    SEKISHO_PUBLIC_URL: `https://127.0.0.1:${ports.broker}`,
    SEKISHO_BROKER_ADDRESS: '127.0.0.1',
    SEKISHO_BROKER_PORT: String(ports.broker),
    SEKISHO_TLS_CERTIFICATE_PATH: leaf.certificate,
    SEKISHO_TLS_KEY_PATH: leaf.key,
    SEKISHO_GITHUB_APP: appName,
    SEKISHO_GITHUB_CLIENT_SECRET: github.app.clientSecret,
    SEKISHO_ACCOUNTS: 'any',
    SEKISHO_GITHUB_WEBHOOK_SECRET: github.app.webhookSecret,
    SEKISHO_REGISTRY: 'registry.example.com/apps',
    SEKISHO_REGISTRY_AUTHENTICATION: 'none',
    SEKISHO_INGRESS_FROM: 'traefik',
    SEKISHO_INGRESS_CLASS: 'traefik',
    SEKISHO_APPLICATION_URL: 'http://localhost:8080',
    SEKISHO_SOURCE_URL: `http://127.0.0.1:${ports.source}`,
    SEKISHO_SOURCE_PORT: String(ports.source),
    SEKISHO_TOKEN_DESK_PORT: String(ports.tokenDesk),
    SEKISHO_TOKEN_DESK_HOST: 'localhost',
    SEKISHO_ADMISSION_ADDRESS: '127.0.0.1',
    SEKISHO_ADMISSION_PORT: String(ports.admission),
    SEKISHO_ADMISSION_CERTIFICATE_PATH: admission.certificate,
    SEKISHO_ADMISSION_KEY_PATH: admission.key,
    SEKISHO_HEALTH_ADDRESS: '127.0.0.1',
    SEKISHO_HEALTH_PORT: String(ports.health),
    SEKISHO_SWEEP_SECONDS: '60',
    SEKISHO_LOG_LEVEL: 'info',
  }
}

type Platform = Pick<SoakPlatform, 'pid' | 'memory' | 'ended' | 'stop'>

const reporter = fileURLToPath(new URL('memory-reporter.ts', import.meta.url))
const reportMilliseconds = 60_000

async function startPlatform(repository: string, environment: Record<string, string>, logFile: string): Promise<Platform> {
  const log = await open(logFile, 'a', 0o600)
  const child: ChildProcess = spawn(process.execPath, ['--expose-gc', '--import', reporter, 'src/standalone.ts'], {
    cwd: repository,
    env: environment,
    stdio: ['ignore', log.fd, log.fd, 'ipc'],
  })
  let how: string | undefined
  const closed = new Promise<void>(resolve => {
    child.once('close', (code, signal) => {
      how = `the platform ended (${signal ?? `exit code ${code}`}); its log is ${logFile}`
      resolve()
    })
  })
  return {
    pid: child.pid ?? 0,
    ended: () => how,
    async memory() {
      const answer = once(child, 'message', { signal: AbortSignal.timeout(reportMilliseconds) })
      child.send('memory')
      const [usage] = (await answer) as [NodeJS.MemoryUsage]
      return usage
    },
    async stop() {
      if (how === undefined) child.kill('SIGTERM')
      const patience = setTimeout(() => child.kill('SIGKILL'), 40_000)
      await closed
      clearTimeout(patience)
      await log.close()
    },
  }
}

async function ready(healthUrl: string): Promise<true | undefined> {
  const answer = await fetch(`${healthUrl}/readyz`, { signal: AbortSignal.timeout(5000) })
  return answer.ok || undefined
}
