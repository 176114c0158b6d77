// Injects faults during a soak run: one after the other, between each process and the API server, and at GitHub. Counts them by
// name. Dropped watch events are excluded: only the resync repairs them, and its period is longer than the end of a run may
// wait.
import { randomInt } from 'node:crypto'
import type { ChaosProxy } from '../proxies/chaos-proxy/chaos-proxy.ts'
import { conflict, expired, internalError, tooManyRequests } from '../proxies/chaos-proxy/faults.ts'
import { isWrite, type RequestFacts } from '../proxies/chaos-proxy/request-facts.ts'
import type { SoakPlatform } from './platform.ts'
import { isSilent, watchBefore } from './silences.ts'

export type FaultInjection = {
  /** Injects the next fault. */
  readonly next: () => Promise<void>
  readonly counts: ReadonlyMap<string, number>
  /** Disarms all faults. */
  readonly end: () => Promise<void>
}

type Disarms = readonly (() => void)[]
/** Returns what disarms it at each proxy, where it can wait to be used. */
type Inject = () => Disarms | undefined | Promise<undefined>

export function createFaultInjection(fixture: SoakPlatform): FaultInjection {
  const { proxies } = fixture
  const { faults } = fixture.github.context
  const counts = new Map<string, number>()
  const armed = new Map<string, Disarms>()
  const request = (...args: Parameters<ChaosProxy['onRequest']>): Disarms => proxies.map(proxy => proxy.onRequest(...args).disarm)
  const arm = (...args: Parameters<typeof faults.arm>): undefined => void faults.arm(...args)
  const event = (...args: Parameters<ChaosProxy['onEvent']>): Disarms => proxies.map(proxy => proxy.onEvent(...args).disarm)

  /**
   * A watch that does not follow a silent one: two silences in a row are two faults, and each takes its own time to be
   * detected.
   */
  const mayBeSilenced = (watch: RequestFacts): boolean => {
    const log = proxies.map(proxy => proxy.log.entries()).find(entries => entries.some(each => each === watch)) ?? []
    const request = log.find(each => each === watch)
    return request?.verb === 'watch' && !isSilent(watchBefore(log, request))
  }

  const injections: Readonly<Record<string, Inject>> = {
    'API server: 500': () => request({ kind: 'refuse', ...internalError }, { uses: 5 }),
    'API server: 429': () => request({ kind: 'refuse', ...tooManyRequests(1) }, { uses: 5 }),
    'API server: 409 on writes': () => request({ kind: 'refuse', ...conflict }, { uses: 5, match: isWrite }),
    'API server: 410 when a watch opens': () =>
      request({ kind: 'refuse', ...expired }, { match: ({ verb }) => verb === 'watch' }),
    'API server: connection reset': () => request({ kind: 'reset' }, { uses: 3 }),
    'API server: answer of a write lost': () => request({ kind: 'lose-answer' }, { uses: 3, match: isWrite }),
    'API server: answers 1 s late': () => request({ kind: 'slow', milliseconds: 1000 }, { uses: 10 }),
    'API server: half-open connection': () => request({ kind: 'half-open' }, { match: mayBeSilenced }),
    'API server: away for 3 s': async () => {
      await Promise.all(proxies.map(proxy => proxy.down('refuse')))
      await new Promise(resolve => setTimeout(resolve, 3000))
      await Promise.all(proxies.map(proxy => proxy.up()))
      return undefined
    },
    'watch: 410 in mid-stream': () => event({ kind: 'error', ...expired }),
    'watch: silent': () => event({ kind: 'stall' }, { match: ({ watch }) => mayBeSilenced(watch) }),
    'watch: truncated line': () => event({ kind: 'truncate' }),
    'watch: closed': () => event({ kind: 'close-after' }, { uses: 3 }),
    'watch: events doubled': () => event({ kind: 'duplicate' }, { uses: 10 }),
    'GitHub: 502': () => arm({ kind: 'rest-status', status: 502 }, 3, 20),
    'GitHub: secondary limit': () => arm({ kind: 'rate-limited', limit: 'secondary', status: 403, retryAfter: 1 }, 2, 20),
    'GitHub: reset after the effect': () => arm({ kind: 'reset', when: 'after', path: '/app/installations' }, 1, 20),
    'GitHub: slow answers': () => arm({ kind: 'slow-answer', milliseconds: 1500 }, 3, 20),
    'GitHub: fresh token refused': () => arm({ kind: 'fresh-token-refused', status: 401 }, 2, 20),
    'GitHub: webhook lost': () => arm({ kind: 'lost-webhook' }, 2, 30),
    'GitHub: webhook doubled': () => arm({ kind: 'doubled-webhook' }, 3, 30),
    'GitHub: webhooks out of order': () => arm({ kind: 'reordered-webhook' }, 2, 30),
    'GitHub: git transport 503': () => arm({ kind: 'git-status', status: 503, path: '/acme/shop.git/git-upload-pack' }, 1, 20),
  }
  const names = Object.keys(injections)
  let order: string[] = []

  return {
    counts,
    async next() {
      // Each fault once per cycle, in a new random order.
      if (order.length === 0)
        order = names
          .map(name => ({ name, at: randomInt(1_000_000) }))
          .sort((a, b) => a.at - b.at)
          .map(({ name }) => name)
      const name = order.pop() ?? ''
      counts.set(name, (counts.get(name) ?? 0) + 1)
      // A replica that does not lead asks for little: what is left of a fault must not wait for the time when it leads.
      for (const disarm of armed.get(name) ?? []) disarm()
      armed.set(name, (await injections[name]?.()) ?? [])
    },
    async end() {
      for (const disarm of [...armed.values()].flat()) disarm()
      faults.reset()
      await Promise.all(proxies.map(proxy => proxy.up()))
    },
  }
}
