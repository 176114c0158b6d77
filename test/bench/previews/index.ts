// Benches of previews: the life of one, many at once, many at rest, and many that come and go. Each has a platform of its own,
// on a control plane of its own, with the GitHub emulator; kpack and the kubelet are played and take no time.
import type { Bench, BenchContext, Measurement } from '../harness/bench.ts'
import { atRest, resyncSeconds } from './at-rest.ts'
import { burst } from './burst.ts'
import { openAndClose } from './cycles.ts'
import { onePreview } from './one-preview.ts'
import { openWorld } from './world.ts'

function bench(name: string, title: string, budgetSeconds: number, measurement: (context: BenchContext) => Measurement): Bench {
  return {
    ...{ name, title, budgetSeconds },
    open: async context => ({ comparisons: [], measurements: [measurement(context)], close: async () => {} }),
  }
}

const sized = ({ scale }: BenchContext, count: number): number => Math.max(1, Math.round(count * scale))

/** In pairs. More would need more than half of the writes of an hour, after which “building” is left out (ADR 0043). */
export const previews = bench('previews', '20 pull requests, one after the other', 1800, context => {
  const { note } = context
  return onePreview(() => openWorld({ repositories: 1, note }), sized(context, 10), note)
})

export const previewsAtOnce = bench('previews-at-once', '100 pull requests that are opened within a minute', 5400, context => {
  const { note, long } = context
  // GitHub's limit of an hour may hold some answers back for so long.
  const sizes = { repositories: sized(context, 10), pullRequests: sized(context, 100), observedSeconds: long ? 4200 : 420 }
  return burst(() => openWorld({ repositories: sizes.repositories, note }), sizes, note)
})

export const previewsAtRest = bench(
  'previews-at-rest',
  '500 open pull requests over 100 repositories, at rest',
  5400,
  context => {
    const { note, long } = context
    const repositories = sized(context, 100)
    const sizes = { repositories, pullRequests: sized(context, 500), resyncs: long ? 10 : 3, reported: Math.min(2, repositories) }
    const settings = { SEKISHO_SWEEP_SECONDS: String(resyncSeconds) }
    return atRest(() => openWorld({ repositories, settings, note }), sizes, note)
  },
)

/**
 * So many pull requests need more requests to GitHub in an hour than it answers for one installation, and more checks of grants
 * than the platform makes at once for one tenant: two tenants share them.
 */
const withoutHourlyLimit = { authenticated: 1_000_000, anonymous: 60, enforced: true, secondary: {} } as const

function cycles(name: string, title: string, withServices: boolean): Bench {
  return bench(name, title, 7200, context => {
    const { note } = context
    const repositories = sized(context, 20)
    const sizes = { repositories, cycles: sized(context, 1000), reported: 1 }
    const world = { repositories, withServices, isShared: true, rateLimit: withoutHourlyLimit, note }
    return openAndClose(() => openWorld(world), sizes, note)
  })
}

const comeAndGo = '1,000 pull requests opened and closed while webhooks are lost, doubled and reordered'

export const previewsCycles = cycles('previews-cycles', comeAndGo, false)
export const previewsServices = cycles('previews-services', `${comeAndGo}, each with a database and a bucket of its own`, true)
