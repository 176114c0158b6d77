// Benches of previews: the life of one, and many at once. Each has a platform of its own, on a control plane
// of its own, with the GitHub emulator; kpack and the kubelet are played and take no time.
import type { Bench, BenchContext, Measurement } from '../harness/bench.ts'
import { burst } from './burst.ts'
import { onePreview } from './one-preview.ts'
import { openWorld } from './world.ts'

function bench(name: string, title: string, budgetSeconds: number, measurement: (context: BenchContext) => Measurement): Bench {
  return {
    ...{ name, title, budgetSeconds },
    open: async context => ({ comparisons: [], measurements: [measurement(context)], close: async () => {} }),
  }
}

const sized = ({ scale }: BenchContext, count: number): number => Math.max(1, Math.round(count * scale))

export const previews = bench('previews', '40 pull requests, one after the other', 1800, context => {
  const { note } = context
  return onePreview(() => openWorld({ repositories: 1, note }), sized(context, 20), note)
})

export const previewsAtOnce = bench('previews-at-once', '100 pull requests that are opened within a minute', 5400, context => {
  const { note, long } = context
  // GitHub's limit of an hour may hold some answers back for so long.
  const sizes = { repositories: sized(context, 10), pullRequests: sized(context, 100), observedSeconds: long ? 4200 : 420 }
  return burst(() => openWorld({ repositories: sizes.repositories, note }), sizes, note)
})
