// Whether network policies are in force, for metrics.
import { Gauge, type Registry } from 'prom-client'

/** Call once per registry. */
export function createProbeMetrics(registry: Registry) {
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
