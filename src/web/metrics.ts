// A registry of metrics with what Node tells about itself. One per process, passed to whoever counts; nothing is registered globally.
import { collectDefaultMetrics, Registry } from 'prom-client'

export function prometheusRegistry(labels: Readonly<Record<string, string>>): Registry {
  const registry = new Registry()
  registry.setDefaultLabels({ ...labels })
  collectDefaultMetrics({ register: registry })
  return registry
}
