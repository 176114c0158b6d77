// Opens the probe of the walls in a process: its metrics, and the caches that it shares with the Tenant controller.
import type { Registry } from 'prom-client'
import { configMaps, namespaces, networkPolicies } from '../../api/builtin/index.ts'
import { labels, platformNamespace } from '../../api/names.ts'
import { tenant } from '../../api/tenancy/tenant.ts'
import type { Manager } from '../../kube/manager.ts'
import type { EventRecorder } from '../../kube/object/events.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { createWallMetrics } from './metrics.ts'
import type { Clients } from './try-walls.ts'
import { createWallProbe, type WallProbe } from './wall-probe.ts'

type Deps = {
  readonly settings: { readonly wallProbeSeconds: number; readonly buildkitImage: string | undefined }
  readonly manager: Pick<Manager, 'cache' | 'client' | 'isLeader'>
  readonly kubeWith: Clients['clientWith']
  readonly events: Pick<EventRecorder, 'record'>
  readonly metrics: Registry | undefined
  readonly clock: Clock
  readonly log: Log
}

/** Call before the manager starts: it adds caches. Runs nothing before `start`. */
export function openWallProbe({ settings, manager, kubeWith, events, metrics, clock, log }: Deps): WallProbe {
  const labelled = { labelSelector: labels.tenant }
  const probe = createWallProbe({
    client: manager.client,
    clientWith: kubeWith,
    records: manager.cache(configMaps, { namespace: platformNamespace }),
    tenants: manager.cache(tenant),
    namespaces: manager.cache(namespaces, labelled),
    policies: manager.cache(networkPolicies, labelled),
    events,
    buildsDockerfiles: settings.buildkitImage !== undefined,
    isLeader: manager.isLeader,
    everyMilliseconds: settings.wallProbeSeconds * 1000,
    clock,
    log,
  })
  if (metrics !== undefined) createWallMetrics(metrics, probe.known)
  return probe
}
