// A process of the platform that calls the API server: all but admission. Nothing is opened that its `main.ts` does not name.
import { platformNamespace } from '../api/names.ts'
import { createKubeClient } from '../kube/client/kube-client.ts'
import { loadKubeConnection } from '../kube/kubeconfig/kubeconfig.ts'
import { createManager, type Manager } from '../kube/manager.ts'
import { createKubeMetrics, type KubeMetrics } from '../kube/metrics.ts'
import type { Environment } from '../lib/config.ts'
import { SecretString } from '../lib/secret-string.ts'
import { type BareProcess, type BareProcessOptions, openBareProcess } from './bare-process.ts'

export type OpenProcess = BareProcess & {
  readonly kubeMetrics: KubeMetrics
  readonly kube: ReturnType<typeof createKubeClient>
  /** A client with this token as its only credential. Close it. */
  readonly kubeWith: (token: SecretString) => ReturnType<typeof createKubeClient>
  readonly random: () => number
}

export type OpenProcessOptions = BareProcessOptions & { readonly environment: Environment }

/** A process with a client of the API server. Rejects with `invalid_configuration` when there is none to connect to. */
export async function openProcess({ environment, ...options }: OpenProcessOptions): Promise<OpenProcess> {
  const process = await openBareProcess(options)
  const { metrics, clock } = process
  const kubeMetrics = createKubeMetrics(metrics)
  const connection = await loadKubeConnection({ environment, clock })
  const random = Math.random
  const kube = createKubeClient({ connection, component: options.name, clock, random, observe: kubeMetrics.observeRequest })
  options.onStop(kube.close)
  const kubeWith = (token: SecretString) => {
    const { ca, servername, insecure } = connection.tls
    const header = new SecretString(`Bearer ${token.reveal()}`)
    const bare = { server: connection.server, tls: { ca, servername, insecure }, authorization: async () => header }
    return createKubeClient({ connection: bare, component: options.name, clock, random })
  }
  return { ...process, kubeMetrics, kube, kubeWith, random }
}

/** A manager whose controllers run on one replica: `lease` is the name that the replicas of this process compete for. */
export function electedManager(process: OpenProcess, lease: string, identity: string): Manager {
  const { kube, log, clock, random, kubeMetrics } = process
  const leaderElection = { namespace: platformNamespace, name: lease, identity }
  return createManager({ client: kube, log, clock, random, metrics: kubeMetrics, leaderElection })
}
