// Services without an answering cluster IP, for metrics.
import { Gauge, type Registry } from 'prom-client'

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
