// The environment of a soak run: the whole platform in one of its forms, in which every process reaches the API server through
// a chaos proxy of its own.
import type { ThrowAwayCluster } from '../../dev/cluster/control-plane/test-cluster.ts'
import type { ControllersStore } from '../../src/store/store.ts'
import { openPlatform, type Platform, type PlatformOptions } from '../platform/open-platform.ts'
import type { Variables } from '../platform/process-plans.ts'
import type { ChaosProxy } from '../proxies/chaos-proxy/chaos-proxy.ts'
import { startReplicas } from './replicas.ts'
import type { SoakProcess } from './soak-process.ts'

const soakCluster: ThrowAwayCluster = { name: 'soak-cluster' }

/** Its processes are of the standalone form one, of the production form two replicas of each. */
export type SoakPlatform = Platform<SoakProcess> & {
  /** One for each process that calls the API server. */
  readonly proxies: readonly ChaosProxy[]
  /** A second connection to the database of the controllers. */
  readonly store: ControllersStore
  /** Undefined while all processes run, but for those that are being replaced; then how the first of the others ended. */
  readonly ended: () => string | undefined
}

export type SoakPlatformOptions = Pick<PlatformOptions<SoakProcess>, 'form' | 'github' | 'prepare'> & {
  readonly cluster?: ThrowAwayCluster
  /** Settings of every process, by their environment variables. */
  readonly settings?: Variables
}

export async function openSoakPlatform({ settings, ...options }: SoakPlatformOptions): Promise<SoakPlatform> {
  const proxies: ChaosProxy[] = []
  const platform = await openPlatform({
    cluster: soakCluster,
    database: 'postgres',
    ...options,
    async start(plans, ground) {
      const variables = { SEKISHO_SWEEP_SECONDS: '60', SEKISHO_LOG_LEVEL: 'info', ...settings }
      const started = await startReplicas(plans, { ...ground, settings: variables })
      proxies.push(...started.proxies)
      return started.processes
    },
  })
  const { processes } = platform
  const store = await platform.openControllersStore()
  return {
    ...platform,
    proxies,
    store,
    ended: () => processes.map(process => process.ended()).find(how => how !== undefined),
    async close() {
      await store.close()
      await platform.close()
    },
  }
}
