// Which names of an expression are metrics: one that does not exist must not get into the rules.
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { metricRegistries } from '../reference/metrics.ts'
import { metricsIn, unknownMetrics } from './expressions.ts'
import { alerts, expressions } from './files.ts'

test.each([
  ['max(a) > 0', ['a']],
  ['sum by (le, server) (rate(a_bucket{code=~"5..|x_y"}[10m])) / sum without (b) (c)', ['a_bucket', 'c']],
  ['time() - max(a) > 5 * 86400', ['a']],
  ['absent(a) or absent(b) unless c', ['a', 'b', 'c']],
  ['min_over_time(max(a)[30m:1m]) > 1e3', ['a']],
  ['histogram_quantile(0.95, sum by (le) (rate(a_bucket[$__rate_interval])))', ['a_bucket']],
  ['a * on (host) group_left (name) b', ['a', 'b']],
])('%s', (expression, names) => {
  expect(metricsIn(expression)).toEqual(names)
})

test('a histogram is known by its series, and nothing else by them', () => {
  const registers = [new Registry()]
  new Histogram({ name: 'time_seconds', help: 'h', registers })
  new Counter({ name: 'things_total', help: 'h', registers })
  new Gauge({ name: 'size', help: 'h', registers })
  expect(unknownMetrics('rate(time_seconds_bucket[1m]) + things_total + size', registers)).toEqual([])
  expect(unknownMetrics('time_seconds + things_total_count + sizes', registers)).toEqual([
    'time_seconds',
    'things_total_count',
    'sizes',
  ])
})

test('alerts and panels name metrics that the platform has, and every alert has a name of its own', () => {
  expect(expressions().flatMap(({ expression }) => unknownMetrics(expression, metricRegistries()))).toEqual([])
  expect(new Set(alerts.map(({ name }) => name)).size).toBe(alerts.length)
})
