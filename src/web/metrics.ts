// A metrics registry with Node's default metrics. There is one per process, passed to its parts; nothing is registered globally.
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'

/** `labels` are added to every metric. */
export function prometheusRegistry(labels: Readonly<Record<string, string>>): Registry {
  const registry = new Registry()
  registry.setDefaultLabels({ ...labels })
  collectDefaultMetrics({ register: registry })
  return registry
}

/** The metrics of the platform beside those of the runtime; call once per registry. */
export function createPlatformMetrics(registry: Registry) {
  const enforced = new Gauge({
    name: 'sekisho_network_policies_enforced',
    help: '1 when a connection that a network policy forbids was refused, 0 when it opened, NaN while it is not known. Reported by the leader.',
    labelNames: ['direction'],
    registers: [registry],
  })
  return {
    /** `undefined`: not known. */
    networkPoliciesEnforced: (direction: 'ingress' | 'egress', is: boolean | undefined): void =>
      enforced.set({ direction }, is === undefined ? Number.NaN : Number(is)),
  }
}
