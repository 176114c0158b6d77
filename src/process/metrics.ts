// A metrics registry with Node's default metrics. There is one per process, passed to its parts; nothing is registered globally.
import { collectDefaultMetrics, Registry } from 'prom-client'

/** `labels` are added to every metric. */
export function prometheusRegistry(labels: Readonly<Record<string, string>>): Registry {
  const registry = new Registry()
  registry.setDefaultLabels({ ...labels })
  collectDefaultMetrics({ register: registry })
  return registry
}
