// Finds out, again and again, whether this cluster enforces network policies, and says so: in the record from which the
// conditions of Tenants are made, in a metric and in the log. Policies that nothing enforces look like policies that hold, so
// this must not be taken from configuration.
import { type ConfigMap, configMaps } from '../../api/builtin/index.ts'
import { platformNamespace } from '../../api/names.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { type Periodic, periodic } from '../../lib/periodic.ts'
import { opensConnection } from './connect.ts'
import { type Enforcement, enforcementConfigMap, enforcementOf, isEnforced, recordedEnforcement } from './enforcement.ts'
import { probePorts } from './ports.ts'

export type NetworkProbeDeps = {
  readonly client: Pick<KubeClient, 'apply'>
  /** The ConfigMaps of the platform's namespace. */
  readonly records: Pick<Cache<ConfigMap>, 'get'>
  /** The host name of the probe's pod. */
  readonly host: string
  readonly isLeader: () => boolean
  /** Called after each round. */
  readonly observe: (enforcement: Enforcement) => void
  readonly clock: Pick<Clock, 'sleep'>
  readonly log: Pick<Log, 'info' | 'error'>
  /** Default a minute. */
  readonly everyMilliseconds?: number
  /** For tests; default the ports of the deployment. */
  readonly ports?: Readonly<Record<keyof typeof probePorts, number>>
}

const fieldManager = 'sekisho.dev/network-probe'
const defaultEveryMilliseconds = 60_000
const connectMilliseconds = 2000
/**
 * Network plugins learn of a new pod a moment after it can be reached (kubernetes/kubernetes#85966): an open port counts when
 * it stays open.
 */
const tries = 3
const pauseMilliseconds = 3000

/** A loop that runs nothing before `start`; only on the leader. */
export function createNetworkProbe(deps: NetworkProbeDeps): Pick<Periodic, 'start' | 'stop'> {
  const { clock, log } = deps
  let said: string | undefined
  return periodic({
    name: 'probe of network policies',
    everyMilliseconds: deps.everyMilliseconds ?? defaultEveryMilliseconds,
    enabled: deps.isLeader,
    clock,
    log,
    async work(signal) {
      const found = await settledEnforcement(deps, signal)
      deps.observe(found)
      const text = `ingress ${found.ingress}, egress ${found.egress}`
      if (text !== said) report(log, found)
      said = text
      await record(deps, found)
    },
  })
}

async function settledEnforcement(deps: NetworkProbeDeps, signal: AbortSignal): Promise<Enforcement> {
  for (let attempt = 1; ; attempt++) {
    const found = await probe(deps)
    if (isEnforced(found) || attempt === tries) return found
    await deps.clock.sleep(pauseMilliseconds, signal)
  }
}

async function probe({ host, ports = probePorts }: NetworkProbeDeps): Promise<Enforcement> {
  const opens = (port: number): Promise<boolean> => opensConnection(host, port, connectMilliseconds)
  const [ingress, egress] = await Promise.all([opens(ports.ingress), opens(ports.egress)])
  // Last: it must still answer after the others did not.
  return enforcementOf({ allowed: await opens(ports.allowed), ingress, egress })
}

function report(log: NetworkProbeDeps['log'], found: Enforcement): void {
  if (isEnforced(found)) {
    log.info({ ...found }, 'network policies are enforced')
    return
  }
  const message = Object.values(found).includes('NotEnforced')
    ? 'NETWORK POLICIES ARE NOT ENFORCED: tenants reach each other, the platform and the nodes; use a network plugin that enforces them'
    : 'it is not known whether network policies are enforced: the probe does not answer; see the Deployment sekisho-network-probe'
  log.error({ ...found }, message)
}

async function record({ client, records }: NetworkProbeDeps, found: Enforcement): Promise<void> {
  const key = { namespace: platformNamespace, name: enforcementConfigMap }
  const { ingress, egress } = recordedEnforcement(records.get(key))
  if (ingress === found.ingress && egress === found.egress) return
  const { apiVersion, kind } = configMaps
  await client.apply(configMaps, { apiVersion, kind, metadata: key, data: { ...found } }, { fieldManager, force: true })
}
