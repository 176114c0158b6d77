// Opens the probe of network policies in a process: its metric, and the ConfigMap from which Tenants learn the result.
import type { Registry } from 'prom-client'
import { configMaps } from '../../api/builtin/index.ts'
import { platformNamespace } from '../../api/names.ts'
import type { Manager } from '../../kube/manager.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { Verdict } from './enforcement.ts'
import { createProbeMetrics } from './metrics.ts'
import { createNetworkProbe } from './network-probe.ts'

type Deps = {
  readonly manager: Pick<Manager, 'cache' | 'client' | 'isLeader'>
  readonly host: string
  readonly metrics: Registry | undefined
  readonly clock: Clock
  readonly log: Log
}

/** Call before the manager starts: it adds a cache. Runs nothing before `start`. */
export function openNetworkProbe({ manager, metrics, ...deps }: Deps): ReturnType<typeof createNetworkProbe> {
  const gauges = metrics && createProbeMetrics(metrics)
  const known = (verdict: Verdict): boolean | undefined => (verdict === 'Unknown' ? undefined : verdict === 'Enforced')
  return createNetworkProbe({
    ...deps,
    client: manager.client,
    records: manager.cache(configMaps, { namespace: platformNamespace }),
    isLeader: manager.isLeader,
    observe: ({ ingress, egress }) => {
      gauges?.networkPoliciesEnforced('ingress', known(ingress))
      gauges?.networkPoliciesEnforced('egress', known(egress))
    },
  })
}
