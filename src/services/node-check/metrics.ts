// How many limits of a node are too low, for metrics.
import { Gauge, type Registry } from 'prom-client'

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
