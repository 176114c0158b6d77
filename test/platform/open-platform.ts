// A whole platform on a control plane of its own, with policies and webhooks, a database and the GitHub emulator, in one of
// its forms. How its processes are started is the caller's: with proxies and replicas for soak runs, as in their pods for
// the bench of memory. Everything is started and stopped here.
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { catalog } from '../../dev/cluster/binaries/catalog.ts'
import { ensureBinary } from '../../dev/cluster/binaries/ensure-binary.ts'
import type { ControlPlane } from '../../dev/cluster/control-plane/start.ts'
import { removeTestCluster, startTestCluster, type ThrowAwayCluster } from '../../dev/cluster/control-plane/test-cluster.ts'
import { standardErrorProgress } from '../../dev/cluster/progress.ts'
import { readClusterSettings } from '../../dev/cluster/settings.ts'
import { type EmulatorOptions, type RunningEmulator, startEmulator } from '../../dev/github/emulator.ts'
import { startPostgres } from '../../dev/postgres/start-postgres.ts'
import type { Mode as Form } from '../../src/api/names.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLog } from '../../src/lib/testing/silent-log.ts'
import { openControllersStore, openStore } from '../../src/store/open-store.ts'
import type { ControllersStore } from '../../src/store/store.ts'
import { type Impersonation, impersonation } from '../attack/impersonation.ts'
import { type OnClose, openClosing } from '../fixtures/open-closing.ts'
import { newSealingKey } from '../fixtures/production-database.ts'
import { applyApp, applyAppKey, applyKindsAndRoles, installAdmission, makeCertificates } from './ground.ts'
import {
  appName,
  type PlanSources,
  type ProcessPlan,
  productionDatabases,
  productionPlans,
  servicePorts,
  standalonePlans,
} from './process-plans.ts'

/** Where the processes of a platform are started. */
export type Ground = {
  readonly repository: string
  /** For credentials and data. */
  readonly folder: string
  readonly logs: string
  readonly controlPlane: ControlPlane
  readonly onClose: OnClose
}

export type StartedProcess = { readonly name: string; readonly untilReady: () => Promise<unknown> }

export type PlatformOptions<P extends StartedProcess> = {
  readonly form: Form
  readonly cluster: ThrowAwayCluster
  readonly github?: Pick<EmulatorOptions, 'seed' | 'rateLimit'>
  /** Of the standalone form; production has PostgreSQL. */
  readonly database: 'postgres' | 'embedded'
  /** Called before the platform starts, which looks only then for kpack. */
  readonly prepare?: ((admin: ControlPlane['admin']) => Promise<void>) | undefined
  /** Resolves when all were started; they may not be ready yet. What it starts it also stops, by `onClose`. */
  readonly start: (plans: readonly ProcessPlan[], ground: Ground) => Promise<readonly P[]>
}

/** What people, git and workloads use of a running platform. */
export type PlatformInUse = {
  readonly github: RunningEmulator
  readonly admin: ControlPlane['admin']
  readonly people: Impersonation
  readonly tokenDeskUrl: string
}

export type Platform<P extends StartedProcess> = PlatformInUse & {
  readonly form: Form
  /** Of the administrator. */
  readonly kubeconfig: string
  readonly kubectl: string
  readonly folder: string
  readonly brokerUrl: string
  /** PEM of the authority of the certificates, as a file. */
  readonly authorityFile: string
  readonly processes: readonly P[]
  /** A second connection to the database of the controllers; close it. Rejects for the embedded one. */
  readonly openControllersStore: () => Promise<ControllersStore>
  readonly close: () => Promise<void>
}

export function openPlatform<P extends StartedProcess>(options: PlatformOptions<P>): Promise<Platform<P>> {
  return openClosing(onClose => open(options, onClose))
}

async function open<P extends StartedProcess>(
  options: PlatformOptions<P>,
  onClose: OnClose,
): Promise<Omit<Platform<P>, 'close'>> {
  const { form, cluster } = options
  const settings = readClusterSettings()
  const { repository } = settings
  const deps = { settings, progress: standardErrorProgress() }
  const folder = await mkdtemp(join(tmpdir(), 'sekisho-platform-'))
  onClose(() => rm(folder, { recursive: true, force: true }))
  const controlPlane = await deps.progress.step('control plane', () => startTestCluster(deps, cluster))
  const { admin, kubeconfig } = controlPlane
  onClose(() => removeTestCluster(deps, cluster))
  onClose(() => admin.close())
  const kubectl = (await ensureBinary(catalog.kubernetes, deps)).path('kubectl')
  await deps.progress.step('kinds and roles', () => applyKindsAndRoles(kubectl, kubeconfig, { repository, form }))
  const { authority, leaf, webhookLeaf } = await makeCertificates(join(folder, 'pki'))
  const brokerUrl = `https://127.0.0.1:${servicePorts.broker}`
  const github = await startEmulator({
    ...options.github,
    webhookCaFile: authority.files.certificate,
    app: {
      webhookUrl: `${brokerUrl}/webhooks/github`,
      callbackUrls: [`${brokerUrl}/login/callback`],
      setupUrl: `${brokerUrl}/onboard/callback`,
    },
  })
  onClose(() => github.stop())
  const secret = 'github-key'
  await applyAppKey(admin, secret, github.app.privateKeyPem)
  await applyApp(admin, github, { name: appName, secret })
  await options.prepare?.(admin)
  const { plans, openControllersStore } = await deps.progress.step('database', () =>
    plansOn(options, { github, leaf, webhookLeaf }, onClose),
  )
  const logs = join(settings.stateFolder, cluster.name)
  await mkdir(logs, { recursive: true })
  const processes = await options.start(plans, { repository, folder, logs, controlPlane, onClose })
  for (const process of processes) await deps.progress.step(`${process.name} is ready`, process.untilReady)
  await deps.progress.step('policies and webhooks', () =>
    installAdmission(admin, { authorityPem: authority.pem, port: servicePorts.admission }),
  )
  const people = await impersonation(kubeconfig)
  onClose(people.close)
  const tokenDeskUrl = `https://127.0.0.1:${servicePorts.tokenDesk}`
  const authorityFile = authority.files.certificate
  return {
    ...{ form, github, admin, people, tokenDeskUrl, kubeconfig, kubectl, folder, brokerUrl, authorityFile, processes },
    openControllersStore,
  }
}

type Planned = Pick<Platform<StartedProcess>, 'openControllersStore'> & { readonly plans: readonly ProcessPlan[] }

/** What runs on a new database. */
async function plansOn(
  { form, database }: Pick<PlatformOptions<StartedProcess>, 'form' | 'database'>,
  sources: PlanSources,
  onClose: OnClose,
): Promise<Planned> {
  const key = newSealingKey()
  if (form === 'standalone' && database === 'embedded') {
    const plans = standalonePlans(sources, { SEKISHO_SEALING_KEYS: key.reveal() })
    return { plans, openControllersStore: () => Promise.reject(new Error('the embedded database has one process')) }
  }
  const postgres = await startPostgres()
  onClose(postgres.stop)
  if (form === 'production') {
    const { stores, desk } = await productionDatabases(postgres)
    return { plans: productionPlans(sources, stores), openControllersStore: () => openControllersStore(desk) }
  }
  const url = postgres.url('postgres')
  const store = { SEKISHO_DATABASE_URL: url.reveal(), SEKISHO_SEALING_KEYS: key.reveal() }
  const openAll = () => openStore({ url, sealingKeys: [key], clock: systemClock, log: silentLog })
  return { plans: standalonePlans(sources, store), openControllersStore: async () => (await openAll()).controllers }
}
