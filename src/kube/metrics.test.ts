// The table of metrics in README.md matches what a process exposes: names, types and labels.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { createFakeClock } from '../lib/testing/fake-clock.ts'
import { createKubeMetrics } from './metrics.ts'
import { createWorkQueue } from './queue/workqueue.ts'
import { things } from './testing/objects.ts'

/** One sample of every metric, so that every label appears. */
async function sampled(): Promise<Registry> {
  const registry = new Registry()
  const metrics = createKubeMetrics(registry)
  const clock = createFakeClock()
  const queue = createWorkQueue({ clock })
  const controller = metrics.controller('toy', queue)
  const watch = metrics.watch('v1 things *', { objects: () => 7, silentSeconds: () => 12 })
  controller.added()
  controller.taken(0.1)
  controller.retried()
  controller.reconciled('success', 0.2)
  watch.onList()
  watch.onWatchEnd('silent')
  metrics.observeRequest({ verb: 'get', type: things }, 200, 0.01)
  metrics.leading(true)
  queue.add('waits')
  queue.add('works')
  queue.next()
  await clock.advance(3000)
  return registry
}

test('README.md lists every metric with its type and labels, and no other', async () => {
  const shown = await (await sampled()).getMetricsAsJSON()
  const rows = shown.map(({ name, type, values }) => {
    const labels = Object.keys(values[0]?.labels ?? {}).filter(label => label !== 'le')
    return `| \`${name}\` | ${type} | ${labels.sort().join(', ')} |`
  })
  const text = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8')
  const written = text.split('\n').flatMap(line => /^(\| `[a-z_]+` \| \w+ \| [a-z, ]*\|)/.exec(line)?.[1] ?? [])
  const plain = (lines: readonly string[]) => lines.map(line => line.replace(/ +/g, ' ')).sort()
  expect(plain(written)).toEqual(plain(rows))
})

test('gauges are read at each scrape', async () => {
  const registry = await sampled()
  const value = async (name: string, labels: Record<string, string>) => {
    const found = await registry.getSingleMetric(name)?.get()
    return found?.values.find(each => Object.entries(labels).every(([label, wanted]) => each.labels[label] === wanted))?.value
  }
  expect(await value('workqueue_depth', { controller: 'toy', priority: 'normal' })).toBe(1)
  expect(await value('workqueue_depth', { controller: 'toy', priority: 'low' })).toBe(0)
  expect(await value('workqueue_unfinished_work_seconds', { controller: 'toy' })).toBe(3)
  expect(await value('workqueue_longest_running_processor_seconds', { controller: 'toy' })).toBe(3)
  expect(await value('sekisho_watch_silence_seconds', { kind: 'v1 things *' })).toBe(12)
  expect(await value('sekisho_cache_objects', { kind: 'v1 things *' })).toBe(7)
  expect(await value('leader_election_master_status', {})).toBe(1)
  expect(await value('controller_runtime_reconcile_total', { controller: 'toy', result: 'timeout' })).toBe(0)
})
