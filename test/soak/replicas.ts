// Starts the replicas of every process of a form, each with the credential of its ServiceAccount and a chaos proxy of its own
// in front of the API server, and in front of several replicas the address by which the platform is reached, as a Service has
// it.
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readKubeconfig } from '../../dev/cluster/control-plane/kubeconfig.ts'
import { type Account, tokenOf } from '../fixtures/platform-rights.ts'
import { startService } from '../fixtures/service-endpoints.ts'
import type { Ground } from '../platform/open-platform.ts'
import {
  type ListenPorts,
  listenVariables,
  type ProcessName,
  type ProcessPlan,
  servicePorts,
  type Variables,
} from '../platform/process-plans.ts'
import { upstreamWith } from '../proxies/chaos-proxy/api-server.ts'
import { type ChaosProxy, startChaosProxy } from '../proxies/chaos-proxy/chaos-proxy.ts'
import { type SoakProcess, startSoakProcess } from './soak-process.ts'

export type ReplicaOptions = Ground & {
  /** Variables of every process, which replace its own. */
  readonly settings: Variables
}

export type Replicas = { readonly processes: readonly SoakProcess[]; readonly proxies: readonly ChaosProxy[] }

const host = '127.0.0.1'
const replicas = [0, 1]
const standaloneHealthPort = 24_447
const firstReplicaPort = 24_460
/** Admission has no client of the API server, and its ServiceAccount no credential. */
const withoutApiServer: ProcessName = 'admission'

/** The Services of the production form, and whose they are. */
const services: readonly (readonly [keyof ListenPorts, ProcessName])[] = [
  ['broker', 'broker'],
  ['tokenDesk', 'controllers'],
  ['admission', 'admission'],
]

function portsOf(replica: number): ListenPorts & { readonly health: Readonly<Record<ProcessName, number>> } {
  const [broker, tokenDesk, admission, source, gitProxy, ...health] = Array.from(
    { length: 9 },
    (_, at) => firstReplicaPort + 10 * replica + at,
  ) as [number, number, number, number, number, number, number, number, number]
  return {
    ...{ broker, tokenDesk, gitProxy, admission, source },
    health: {
      broker: health[0],
      controllers: health[1],
      admission: health[2],
      'data-services': health[3],
      standalone: standaloneHealthPort,
    },
  }
}

/**
 * Resolves when all were started; they may not be ready yet. A form of one process has one replica, at the addresses of the
 * platform.
 */
export async function startReplicas(plans: readonly ProcessPlan[], options: ReplicaOptions): Promise<Replicas> {
  const processes: SoakProcess[] = []
  const proxies: ChaosProxy[] = []
  const start = async (plan: ProcessPlan, name: string, listen: Variables): Promise<SoakProcess> => {
    const { started, proxy } = await startOne({ plan, name, listen }, options)
    processes.push(started)
    if (proxy !== undefined) proxies.push(proxy)
    return started
  }
  const [only, ...others] = plans
  if (only !== undefined && others.length === 0) {
    await start(only, only.name, listenVariables(servicePorts, standaloneHealthPort))
    return { processes, proxies }
  }
  const behind = new Map<number, SoakProcess>()
  for (const replica of replicas)
    for (const plan of plans) {
      const ports = portsOf(replica)
      const started = await start(plan, `${plan.name} ${replica}`, listenVariables(ports, ports.health[plan.name]))
      for (const [port, owner] of services) if (owner === plan.name) behind.set(ports[port], started)
    }
  for (const [port] of services) {
    const isReady = async (of: number): Promise<boolean> => (await behind.get(of)?.isReady()) === true
    const ports = replicas.map(replica => portsOf(replica)[port])
    const service = await startService({ address: { host, port: servicePorts[port] }, ports, isReady })
    options.onClose(service.close)
  }
  return { processes, proxies }
}

type Planned = { readonly plan: ProcessPlan; readonly name: string; readonly listen: Variables }

async function startOne({ plan, name, listen }: Planned, { onClose, ...options }: ReplicaOptions) {
  const { controlPlane, repository, folder, logs, settings } = options
  const file = name.replace(' ', '-')
  const proxy = plan.name === withoutApiServer ? undefined : await startProxy(controlPlane, plan.account)
  if (proxy !== undefined) onClose(() => proxy.close())
  const kubeconfig = join(folder, `${file}-kubeconfig`)
  if (proxy !== undefined) await writeFile(kubeconfig, proxy.kubeconfig(), { mode: 0o600 })
  const logFile = join(logs, `${file}.log`)
  await rm(logFile, { force: true })
  const started = await startSoakProcess({
    name,
    folder: repository,
    program: plan.program,
    environment: {
      PATH: process.env['PATH'] ?? '',
      HOME: folder,
      // It distinguishes replicas, as the names of pods do.
      HOSTNAME: file,
      ...(proxy === undefined ? {} : { KUBECONFIG: kubeconfig }),
      SEKISHO_DATA_FOLDER: join(folder, `${file}-data`),
      ...plan.variables,
      ...listen,
      ...settings,
    },
    healthPort: Number(listen['SEKISHO_HEALTH_PORT']),
    logFile,
  })
  onClose(started.stop)
  return { started, proxy }
}

/** With the rights of the ServiceAccount, and no more. */
async function startProxy({ kubeconfig, admin }: Ground['controlPlane'], account: Account): Promise<ChaosProxy> {
  const { server, certificateAuthority } = await readKubeconfig(kubeconfig)
  return startChaosProxy(upstreamWith({ server, certificateAuthority, token: await tokenOf(admin, account) }))
}
