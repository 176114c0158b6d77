// The environment of a memory run: a control plane of its own with policies and webhooks, the GitHub emulator, a database, and the platform in
// one of its forms. Everything is started and stopped here.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { catalog } from '../../../dev/cluster/binaries/catalog.ts'
import { ensureBinary } from '../../../dev/cluster/binaries/ensure-binary.ts'
import { type ClientAccess, readKubeconfig } from '../../../dev/cluster/control-plane/kubeconfig.ts'
import type { ControlPlane } from '../../../dev/cluster/control-plane/start.ts'
import { removeTestCluster, startTestCluster } from '../../../dev/cluster/control-plane/test-cluster.ts'
import { standardErrorProgress } from '../../../dev/cluster/progress.ts'
import { readClusterSettings, toolEnvironment } from '../../../dev/cluster/settings.ts'
import type { ToolPaths } from '../../../dev/demo/tools.ts'
import { type RunningEmulator, startEmulator } from '../../../dev/github/emulator.ts'
import { runtimeEnvironment } from '../../../dev/images/recipes/plain-sources.ts'
import { startPostgres } from '../../../dev/postgres/start-postgres.ts'
import type { Mode as Form } from '../../../src/admission/identities.ts'
import { type Impersonation, impersonation } from '../../attack/impersonation.ts'
import { newSealingKey } from '../../fixtures/production-database.ts'
import { applyApp, applyKindsAndRoles, makeCertificates } from '../../soak/platform.ts'
import { accountToken, installAdmission } from '../../soak/platform-access.ts'
import {
  listenVariables,
  type PlanSources,
  type ProcessPlan,
  productionDatabases,
  productionPlans,
  servicePorts,
  standalonePlans,
} from '../../soak/process-plans.ts'
import { makeAppFolder } from './app-folder.ts'
import { type MeasuredProcess, startMeasuredProcess } from './measured-process.ts'

const cluster = { name: 'memory-cluster' } as const
/** On loopback, beside the listeners of the platform in `servicePorts`. */
const healthPorts = [24_447, 24_448, 24_449] as const

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
      const started = await startPlanned(plan, healthPorts[index] ?? 0, surroundings)
      stops.push(started.stop)
      processes.push(started)
    }
    for (const started of processes) await progress.step(`${started.name} is ready`, started.ready)
    await progress.step('policies and webhooks', () => installAdmission(controlPlane, surroundings.certificateAuthority, form))
    const people = await impersonation(controlPlane.kubeconfig)
    stops.push(people.close)
    const { github, certificateAuthority, tools } = surroundings
    const tokenDeskUrl = `https://127.0.0.1:${servicePorts.tokenDesk}`
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
  await progress.step('kinds and roles', () =>
    applyKindsAndRoles(kubernetes.path('kubectl'), controlPlane.kubeconfig, { repository, form }),
  )
  const { authority, leaf, webhookLeaf } = await makeCertificates(join(folder, 'pki'))
  const brokerUrl = `https://127.0.0.1:${servicePorts.broker}`
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

async function plansOf(form: Form, sources: PlanSources & { readonly folder: string }, onStop: (stop: Stop) => void) {
  // As shipped: the standalone form on the embedded database.
  if (form === 'standalone') return standalonePlans(sources, { SEKISHO_SEALING_KEYS: newSealingKey().reveal() })
  const postgres = await startPostgres()
  onStop(postgres.stop)
  const { stores } = await productionDatabases(postgres)
  return productionPlans(sources, stores)
}

async function startPlanned({ name, program, account, variables }: ProcessPlan, healthPort: number, surroundings: Surroundings) {
  const { folder, app, logs, controlPlane, access } = surroundings
  return startMeasuredProcess({
    name,
    program,
    app,
    environment: {
      ...runtimeEnvironment(app.folder),
      ...serviceOf(access.server),
      PATH: toolEnvironment()['PATH'] ?? '',
      HOME: folder,
      SEKISHO_DATA_FOLDER: join(folder, `data-${name}`),
      ...variables,
      ...listenVariables(servicePorts, healthPort),
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
