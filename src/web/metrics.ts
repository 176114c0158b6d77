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

/** Call once per registry. Returns a function that takes how many limits of the node are too low. */
export function createNodeMetrics(registry: Registry, node: string): (low: number) => void {
  const gauge = new Gauge({
    name: 'sekisho_node_limits_low',
    help: 'How many limits that all pods of the node share one pod may use up, on the node of this process.',
    labelNames: ['node'],
    registers: [registry],
  })
  return low => gauge.set({ node }, low)
}

/** Call once per registry. Returns a function that takes the end of the webhook's serving certificate. */
export function createWebhookCertificateMetrics(registry: Registry): (notAfter: Date) => void {
  const gauge = new Gauge({
    name: 'sekisho_admission_certificate_expiry_timestamp_seconds',
    help: 'When the serving certificate of the admission webhook in its Secret ends, in seconds since 1970. Reported by the leader where the platform renews it; renewal is due ten days before.',
    registers: [registry],
  })
  return notAfter => gauge.set(notAfter.getTime() / 1000)
}

/** Call once per registry. `count` is called at each scrape. */
export function createServiceProxyMetrics(registry: Registry, count: () => number): void {
  new Gauge({
    name: 'sekisho_services_beyond_endpoint_bound',
    help: 'Services of tenants whose cluster IP does not answer, because their namespace has more pairs of port and endpoint than one tenant may have.',
    registers: [registry],
    collect() {
      this.set(count())
    },
  })
}

const sealedValues = 'sekisho_sealed_values'

/** How many stored values each kind of key sealed; may be called by each process part, also on one registry. */
export function createSealingMetrics(registry: Registry) {
  const found = registry.getSingleMetric(sealedValues)
  const gauge =
    found instanceof Gauge
      ? found
      : new Gauge({
          name: sealedValues,
          help: 'Sealed values in the database by the key that sealed them: the first key of the keyring, a former one, or one that is not in the keyring. Reported by the leader, for the keyring of each process.',
          labelNames: ['keyring', 'key'],
          registers: [registry],
        })
  return (keyring: string, totals: { readonly rows: readonly number[]; readonly unknownKey: number }): void => {
    const [first = 0, ...former] = totals.rows
    gauge.set({ keyring, key: 'first' }, first)
    gauge.set(
      { keyring, key: 'former' },
      former.reduce((sum, rows) => sum + rows, 0),
    )
    gauge.set({ keyring, key: 'unknown' }, totals.unknownKey)
  }
}
