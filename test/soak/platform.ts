// The environment of a soak run: a control plane of its own with policies and webhooks, PostgreSQL, the GitHub emulator, and the whole platform in
// one of its forms, in which every process reaches the API server through a chaos proxy of its own. Everything is started and stopped here.
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { catalog } from '../../dev/cluster/binaries/catalog.ts'
import { ensureBinary } from '../../dev/cluster/binaries/ensure-binary.ts'
import type { ControlPlane } from '../../dev/cluster/control-plane/start.ts'
import { removeTestCluster, startTestCluster, type ThrowAwayCluster } from '../../dev/cluster/control-plane/test-cluster.ts'
import { openAuthority } from '../../dev/cluster/pki/authority.ts'
import { standardErrorProgress } from '../../dev/cluster/progress.ts'
import { readClusterSettings } from '../../dev/cluster/settings.ts'
import { type EmulatorOptions, type RunningEmulator, startEmulator } from '../../dev/github/emulator.ts'
import { startPostgres } from '../../dev/postgres/start-postgres.ts'
import { createKubectl } from '../../dev/up/kubectl.ts'
import type { Mode as Form } from '../../src/admission/identities.ts'
import { platformNamespace } from '../../src/api/names.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLog } from '../../src/lib/testing/silent-log.ts'
import { openControllersStore, openStore } from '../../src/store/open-store.ts'
import type { ControllersStore } from '../../src/store/store.ts'
import { type Impersonation, impersonation } from '../attack/impersonation.ts'
import { newSealingKey } from '../fixtures/production-database.ts'
import type { ChaosProxy } from '../proxies/chaos-proxy/chaos-proxy.ts'
import { installAdmission } from './platform-access.ts'
import {
  appName,
  type PlanSources,
  type ProcessPlan,
  productionDatabases,
  productionPlans,
  servicePorts,
  standalonePlans,
  type Variables,
} from './process-plans.ts'
import { startReplicas } from './replicas.ts'
import type { SoakProcess } from './soak-process.ts'

const soakCluster: ThrowAwayCluster = { name: 'soak-cluster' }
export const gitHubHost = 'github.localhost'

export type SoakPlatform = {
  readonly form: Form
  readonly github: RunningEmulator
  /** One for each process that calls the API server. */
  readonly proxies: readonly ChaosProxy[]
  /** A second connection to the database of the controllers. */
  readonly store: ControllersStore
  readonly admin: ControlPlane['admin']
  /** Of the administrator. */
  readonly kubeconfig: string
  readonly people: Impersonation
  /** Of the standalone form one, of the production form two replicas of each. */
  readonly processes: readonly SoakProcess[]
  readonly tokenDeskUrl: string
  /** Undefined while all processes run, but for those that are being replaced; then how the first of the others ended. */
  readonly ended: () => string | undefined
  readonly stop: () => Promise<void>
}

/** What people, git and workloads use of a running platform. */
export type PlatformInUse = Pick<SoakPlatform, 'github' | 'admin' | 'people' | 'tokenDeskUrl'>

export type SoakPlatformOptions = {
  readonly form: Form
  readonly cluster?: ThrowAwayCluster
  readonly github?: Pick<EmulatorOptions, 'seed' | 'rateLimit'>
  /** Called before the platform starts, which looks only then for kpack. */
  readonly prepare?: (admin: ControlPlane['admin']) => Promise<void>
  /** Settings of every process, by their environment variables. */
  readonly settings?: Variables
}

type Stop = () => Promise<unknown>

export async function openSoakPlatform(options: SoakPlatformOptions): Promise<SoakPlatform> {
  const { form, cluster = soakCluster } = options
  const deps = { settings: readClusterSettings(), progress: standardErrorProgress() }
  const stops: Stop[] = []
  const onStop = (end: Stop): void => void stops.push(end)
  const stop = async (): Promise<void> => {
    for (const end of stops.splice(0).reverse()) await end()
  }
  try {
    const folder = await mkdtemp(join(tmpdir(), 'sekisho-soak-'))
    onStop(() => rm(folder, { recursive: true, force: true }))
    const controlPlane = await deps.progress.step('control plane', () => startTestCluster(deps, cluster))
    onStop(() => removeTestCluster(deps, cluster))
    onStop(() => controlPlane.admin.close())
    const kubernetes = await ensureBinary(catalog.kubernetes, deps)
    await deps.progress.step('kinds and roles', () =>
      applyKindsAndRoles(kubernetes.path('kubectl'), controlPlane.kubeconfig, { repository: deps.settings.repository, form }),
    )
    const { authority, leaf, webhookLeaf } = await makeCertificates(join(folder, 'pki'))
    const webhookUrl = `https://127.0.0.1:${servicePorts.broker}/webhooks/github`
    const github = await startEmulator({ ...options.github, webhookCaFile: authority.files.certificate, app: { webhookUrl } })
    onStop(() => github.stop())
    await applyApp(controlPlane, github)
    await options.prepare?.(controlPlane.admin)

    const { plans, openControllersStore } = await deps.progress.step('PostgreSQL', () =>
      plansOn(form, { github, leaf, webhookLeaf }, onStop),
    )
    const logs = join(deps.settings.stateFolder, 'soak')
    await mkdir(logs, { recursive: true })
    const { processes, proxies } = await startReplicas(plans, {
      controlPlane,
      repository: deps.settings.repository,
      folder,
      logs,
      settings: { SEKISHO_SWEEP_SECONDS: '60', SEKISHO_LOG_LEVEL: 'info', ...options.settings },
      onStop,
    })
    for (const process of processes) await deps.progress.step(`${process.name} is ready`, process.untilReady)
    await deps.progress.step('policies and webhooks', () => installAdmission(controlPlane, authority.pem, form))
    const people = await impersonation(controlPlane.kubeconfig)
    onStop(people.close)
    const store = await openControllersStore()
    onStop(store.close)
    return {
      form,
      github,
      proxies,
      store,
      admin: controlPlane.admin,
      kubeconfig: controlPlane.kubeconfig,
      people,
      processes,
      tokenDeskUrl: `https://127.0.0.1:${servicePorts.tokenDesk}`,
      ended: () => processes.map(process => process.ended()).find(how => how !== undefined),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The kinds, and the rights that the ServiceAccounts of a form have. */
export async function applyKindsAndRoles(
  program: string,
  kubeconfig: string,
  { repository, form }: { readonly repository: string; readonly form: Form },
): Promise<void> {
  const kubectl = createKubectl(program, kubeconfig)
  const deploy = join(repository, 'deploy')
  await kubectl.applyFolder(join(deploy, 'crds'))
  const established = ['wait', '--for=condition=Established', '--timeout=60s', 'crd', '-l', 'app.kubernetes.io/part-of=sekisho']
  await kubectl.run(established, 70_000)
  await kubectl.applyText(await readFile(join(deploy, 'base/namespace.yaml'), 'utf8'))
  await kubectl.applyFolder(join(deploy, 'rbac'))
  await kubectl.applyFolder(join(deploy, 'rbac', form))
  await kubectl.applyText(await readFile(join(deploy, 'base/chart-web.yaml'), 'utf8'))
}

/** An authority, and what the broker and the webhook serve with. */
export async function makeCertificates(folder: string) {
  const authority = await openAuthority(folder, 'ca', 'soak')
  const leaf = await authority.leaf('broker', { commonName: 'broker', usage: 'server', addresses: ['127.0.0.1'] })
  const names = { names: ['sekisho-admission'], addresses: ['127.0.0.1'] }
  const webhookLeaf = await authority.leaf('admission', { commonName: 'sekisho-admission', usage: 'server', ...names })
  return { authority, leaf, webhookLeaf }
}

/** What runs on a new PostgreSQL. */
async function plansOn(
  form: Form,
  sources: PlanSources,
  onStop: (stop: Stop) => void,
): Promise<{ readonly plans: readonly ProcessPlan[]; readonly openControllersStore: () => Promise<ControllersStore> }> {
  const postgres = await startPostgres()
  onStop(postgres.stop)
  if (form === 'production') {
    const { stores, desk } = await productionDatabases(postgres)
    return { plans: productionPlans(sources, stores), openControllersStore: () => openControllersStore(desk) }
  }
  const url = postgres.url('postgres')
  const key = newSealingKey()
  const store = { SEKISHO_DATABASE_URL: url.reveal(), SEKISHO_SEALING_KEYS: key.reveal() }
  const open = () => openStore({ url, sealingKeys: [key], clock: systemClock, log: silentLog })
  return { plans: standalonePlans(sources, store), openControllersStore: async () => (await open()).controllers }
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
