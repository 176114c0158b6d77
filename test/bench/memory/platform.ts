// The environment of a memory run: a control plane of its own with policies and webhooks, the GitHub emulator, a database, and the platform in
// one of its forms. Everything is started and stopped here.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { catalog } from '../../../dev/cluster/binaries/catalog.ts'
import { ensureBinary } from '../../../dev/cluster/binaries/ensure-binary.ts'
import { type ClientAccess, readKubeconfig } from '../../../dev/cluster/control-plane/kubeconfig.ts'
import type { ControlPlane } from '../../../dev/cluster/control-plane/start.ts'
import { removeTestCluster, startTestCluster } from '../../../dev/cluster/control-plane/test-cluster.ts'
import { openAuthority } from '../../../dev/cluster/pki/authority.ts'
import type { KeyPairFiles } from '../../../dev/cluster/pki/openssl.ts'
import { standardErrorProgress } from '../../../dev/cluster/progress.ts'
import { readClusterSettings, toolEnvironment } from '../../../dev/cluster/settings.ts'
import type { ToolPaths } from '../../../dev/demo/tools.ts'
import { type RunningEmulator, startEmulator } from '../../../dev/github/emulator.ts'
import { runtimeEnvironment } from '../../../dev/images/recipes/plain-sources.ts'
import { startPostgres } from '../../../dev/postgres/start-postgres.ts'
import { createKubectl } from '../../../dev/up/kubectl.ts'
import type { Mode as Form } from '../../../src/admission/identities.ts'
import { type Impersonation, impersonation } from '../../attack/impersonation.ts'
import { createProductionDatabase, newSealingKey } from '../../fixtures/production-database.ts'
import { applyApp, appName } from '../../soak/platform.ts'
import { accountToken, installAdmission } from '../../soak/platform-access.ts'
import { makeAppFolder } from './app-folder.ts'
import { type MeasuredProcess, startMeasuredProcess } from './measured-process.ts'

const cluster = { name: 'memory-cluster', portOffset: 80 }
/** Ports of the platform's listeners, all on loopback; those of the soak, which has the same webhook registrations. */
const ports = { broker: 24_443, tokenDesk: 24_444, admission: 24_445, source: 24_446, health: [24_447, 24_448, 24_449] } as const

type Variables = Readonly<Record<string, string>>
type Stop = () => Promise<unknown>

export type MemoryPlatform = {
  readonly github: RunningEmulator
  readonly admin: ControlPlane['admin']
  readonly people: Impersonation
  readonly tokenDeskUrl: string
  /** PEM of the authority of the broker's certificate. */
  readonly certificateAuthority: string
  /** The tools of people, and the PATH on which they find each other. */
  readonly tools: ToolPaths & { readonly path: string }
  readonly processes: readonly MeasuredProcess[]
  readonly stop: () => Promise<void>
}

/** `folder` is empty and stays until `stop`. */
export async function openPlatform(form: Form, folder: string): Promise<MemoryPlatform> {
  const stops: Stop[] = []
  const stop = async (): Promise<void> => {
    for (const end of stops.splice(0).reverse()) await end()
  }
  try {
    const surroundings = await openSurroundings(form, folder, end => stops.push(end))
    const { progress, controlPlane } = surroundings
    const processes: MeasuredProcess[] = []
    for (const [index, plan] of (await plansOf(form, surroundings, end => stops.push(end))).entries()) {
      const started = await startPlanned(plan, ports.health[index] ?? 0, surroundings)
      stops.push(started.stop)
      processes.push(started)
    }
    for (const started of processes) await progress.step(`${started.name} is ready`, started.ready)
    await progress.step('policies and webhooks', () => installAdmission(controlPlane, surroundings.certificateAuthority, form))
    const people = await impersonation(controlPlane.kubeconfig)
    stops.push(people.close)
    const { github, certificateAuthority, tools } = surroundings
    const tokenDeskUrl = `https://127.0.0.1:${ports.tokenDesk}`
    return { github, admin: controlPlane.admin, people, tokenDeskUrl, certificateAuthority, tools, processes, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Everything but the platform. */
async function openSurroundings(form: Form, folder: string, onStop: (stop: Stop) => void) {
  const settings = readClusterSettings()
  const progress = standardErrorProgress()
  const deps = { settings, progress }
  const { repository } = settings
  const controlPlane = await progress.step('control plane', () => startTestCluster(deps, cluster))
  onStop(() => removeTestCluster(deps, cluster))
  onStop(() => controlPlane.admin.close())
  const kubernetes = await ensureBinary(catalog.kubernetes, deps)
  const kubectl = createKubectl(kubernetes.path('kubectl'), controlPlane.kubeconfig)
  await progress.step('kinds and roles', async () => {
    await kubectl.applyFolder(join(repository, 'deploy/crds'))
    const established = ['wait', '--for=condition=Established', '--timeout=60s', 'crd', '-l', 'app.kubernetes.io/part-of=sekisho']
    await kubectl.run(established, 70_000)
    await kubectl.applyText(await readFile(join(repository, 'deploy/base/namespace.yaml'), 'utf8'))
    await kubectl.applyFolder(join(repository, 'deploy/rbac'))
    await kubectl.applyFolder(join(repository, 'deploy/rbac', form))
    await kubectl.applyText(await readFile(join(repository, 'deploy/base/chart-web.yaml'), 'utf8'))
  })
  const authority = await openAuthority(join(folder, 'pki'), 'ca', 'memory')
  const leaf = await authority.leaf('broker', { commonName: 'broker', usage: 'server', addresses: ['127.0.0.1'] })
  const names = { names: ['sekisho-admission'], addresses: ['127.0.0.1'] }
  const webhookLeaf = await authority.leaf('admission', { commonName: 'sekisho-admission', usage: 'server', ...names })
  const brokerUrl = `https://127.0.0.1:${ports.broker}`
  const github = await startEmulator({
    webhookCaFile: authority.files.certificate,
    app: {
      webhookUrl: `${brokerUrl}/webhooks/github`,
      callbackUrls: [`${brokerUrl}/login/callback`],
      setupUrl: `${brokerUrl}/onboard/callback`,
    },
  })
  onStop(() => github.stop())
  await applyApp(controlPlane, github)
  const logs = join(settings.stateFolder, 'bench')
  await mkdir(logs, { recursive: true })
  return {
    progress,
    folder,
    controlPlane,
    access: await readKubeconfig(controlPlane.kubeconfig),
    github,
    leaf,
    webhookLeaf,
    logs,
    app: await makeAppFolder(join(folder, 'app'), repository),
    certificateAuthority: await readFile(authority.files.certificate, 'utf8'),
    tools: {
      folder: join(folder, 'people'),
      kubectl: kubernetes.path('kubectl'),
      sekisho: join(repository, 'bin/sekisho'),
      issuer: brokerUrl,
      certificateAuthority: authority.files.certificate,
      cache: settings.cacheFolder,
      path: toolEnvironment()['PATH'] ?? '',
    },
  }
}

type Surroundings = Awaited<ReturnType<typeof openSurroundings>>

/** A process of the platform: its program, its ServiceAccount, and its own variables. */
type Plan = { readonly name: string; readonly entry: string; readonly account: string; readonly environment: Variables }

async function plansOf(form: Form, surroundings: Surroundings, onStop: (stop: Stop) => void): Promise<readonly Plan[]> {
  const { folder, github, leaf, webhookLeaf } = surroundings
  const broker = brokerVariables(github, leaf)
  const admission = admissionVariables(webhookLeaf)
  if (form === 'standalone') {
    const store = {
      SEKISHO_DATA_FOLDER: join(folder, 'data'),
      SEKISHO_SEALING_KEYS: newSealingKey().reveal(),
    }
    const environment = { ...broker, ...controllersVariables, ...admission, ...store }
    return [{ name: 'standalone', entry: 'src/standalone.ts', account: 'sekisho', environment }]
  }
  const postgres = await startPostgres()
  onStop(postgres.stop)
  const database = await createProductionDatabase(postgres)
  await database.migrate()
  await database.close()
  const store = (schema: 'broker' | 'desk'): Variables => ({
    SEKISHO_DATABASE_URL: database.url(schema).reveal(),
    SEKISHO_AUDIT_DATABASE_URL: database.url('audit').reveal(),
    SEKISHO_SEALING_KEYS: newSealingKey().reveal(),
    SEKISHO_DATA_FOLDER: join(folder, schema),
  })
  const plan = (name: string, environment: Variables): Plan => {
    return { name, entry: `src/${name}/main.ts`, account: `sekisho-${name}`, environment }
  }
  return [
    plan('broker', { ...broker, ...store('broker') }),
    plan('controllers', { ...controllersVariables, ...store('desk') }),
    plan('admission', admission),
  ]
}

async function startPlanned({ name, entry, account, environment }: Plan, healthPort: number, surroundings: Surroundings) {
  const { folder, app, logs, controlPlane, access } = surroundings
  return startMeasuredProcess({
    name,
    entry,
    app,
    environment: {
      ...runtimeEnvironment(app.folder),
      ...serviceOf(access.server),
      PATH: toolEnvironment()['PATH'] ?? '',
      HOME: folder,
      SEKISHO_HEALTH_ADDRESS: '127.0.0.1',
      SEKISHO_HEALTH_PORT: String(healthPort),
      ...environment,
    },
    accountFolder: await accountFolder(controlPlane, access, { account, folder: join(folder, `account-${name}`) }),
    healthUrl: `http://127.0.0.1:${healthPort}`,
    logFile: join(logs, `memory-${name}.log`),
  })
}

/** As the kubelet tells a pod where the API server is. */
function serviceOf(server: string): Readonly<Record<string, string>> {
  const { hostname, port } = new URL(server)
  return { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port }
}

async function accountFolder(
  controlPlane: ControlPlane,
  access: ClientAccess,
  { account, folder }: { readonly account: string; readonly folder: string },
): Promise<string> {
  await mkdir(folder)
  await writeFile(join(folder, 'token'), await accountToken(controlPlane, account), { mode: 0o600 })
  await writeFile(join(folder, 'ca.crt'), access.certificateAuthority ?? '')
  return folder
}

const publicUrl = { SEKISHO_PUBLIC_URL: `https://127.0.0.1:${ports.broker}` }

function brokerVariables(github: RunningEmulator, leaf: KeyPairFiles): Variables {
  return {
    ...publicUrl,
    SEKISHO_BROKER_ADDRESS: '127.0.0.1',
    SEKISHO_BROKER_PORT: String(ports.broker),
    SEKISHO_TLS_CERTIFICATE_PATH: leaf.certificate,
    SEKISHO_TLS_KEY_PATH: leaf.key,
    SEKISHO_GITHUB_APP: appName,
    SEKISHO_GITHUB_CLIENT_SECRET: github.app.clientSecret,
    SEKISHO_ACCOUNTS: 'any',
    SEKISHO_GITHUB_WEBHOOK_SECRET: github.app.webhookSecret,
  }
}

const controllersVariables: Variables = {
  ...publicUrl,
  SEKISHO_REGISTRY: 'registry.example.com/apps',
  SEKISHO_REGISTRY_AUTHENTICATION: 'none',
  SEKISHO_INGRESS_FROM: 'traefik',
  SEKISHO_INGRESS_CLASS: 'traefik',
  SEKISHO_APPLICATION_URL: 'http://localhost:8080',
  SEKISHO_SOURCE_URL: `http://127.0.0.1:${ports.source}`,
  SEKISHO_SOURCE_PORT: String(ports.source),
  SEKISHO_TOKEN_DESK_PORT: String(ports.tokenDesk),
  SEKISHO_TOKEN_DESK_HOST: 'localhost',
}

function admissionVariables(leaf: KeyPairFiles): Variables {
  return {
    SEKISHO_ADMISSION_ADDRESS: '127.0.0.1',
    SEKISHO_ADMISSION_PORT: String(ports.admission),
    SEKISHO_ADMISSION_CERTIFICATE_PATH: leaf.certificate,
    SEKISHO_ADMISSION_KEY_PATH: leaf.key,
  }
}
