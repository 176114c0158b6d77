// Which metrics an expression names, and whether they exist. The grammar of Prometheus is checked by promtool, in
// test/monitoring; here only names count.
import type { Registry } from 'prom-client'

/** Words of the language that can stand where a metric could. Source: https://prometheus.io/docs/prometheus/latest/querying/ */
const words = new Set(['by', 'without', 'and', 'or', 'unless', 'on', 'ignoring', 'group_left', 'group_right', 'offset', 'bool'])

/** The names of the metrics in an expression. */
export function metricsIn(expression: string): readonly string[] {
  const bare = expression
    .replaceAll(/"[^"]*"/g, '')
    .replaceAll(/\{[^}]*\}/g, '')
    .replaceAll(/\[[^\]]*\]/g, '')
    .replaceAll(/\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, '')
  const found = [...bare.matchAll(/(?<![\w.])([a-zA-Z_:][\w:]*)\b(?!\s*\()/g)].map(([, name = '']) => name)
  return [...new Set(found.filter(name => !words.has(name)))]
}

/** The metrics of an expression that the platform does not have. The parts of a histogram count as it. */
export function unknownMetrics(expression: string, registries: readonly Registry[]): readonly string[] {
  const known = new Set(
    registries.flatMap(registry =>
      registry.getMetricsAsArray().flatMap(({ name, type }) => {
        // The types of prom-client say that this is a number; it is a word.
        return String(type) === 'histogram' ? ['_bucket', '_sum', '_count'].map(part => `${name}${part}`) : [name]
      }),
    ),
  )
  return metricsIn(expression).filter(name => !known.has(name))
}
