// Injects faults during a soak run: one after the other, at the API server and at GitHub, each through its own proxy or emulator. Counts them by
// name. Dropped watch events are excluded: only the resync repairs them, and its period is longer than the end of a run may wait.
import { randomInt } from 'node:crypto'
import { conflict, expired, internalError, tooManyRequests } from '../faults/chaos-proxy/faults.ts'
import { isWrite, type RequestFacts } from '../faults/chaos-proxy/request-facts.ts'
import type { SoakPlatform } from './platform.ts'
import { isSilent, watchBefore } from './silences.ts'

export type FaultInjection = {
  /** Injects the next fault. */
  readonly next: () => Promise<void>
  readonly counts: ReadonlyMap<string, number>
  /** Disarms all faults. */
  readonly end: () => Promise<void>
}

type Inject = () => void | Promise<void>

export function createFaultInjection(fixture: SoakPlatform): FaultInjection {
  const { proxy } = fixture
  const { faults } = fixture.github.context
  const counts = new Map<string, number>()
  const disarms = new Set<() => void>()
  const request: typeof proxy.onRequest = (fault, options) => keep(proxy.onRequest(fault, options))
  const event: typeof proxy.onEvent = (fault, options) => keep(proxy.onEvent(fault, options))
  function keep<Armed extends { readonly disarm: () => void }>(armed: Armed): Armed {
    disarms.add(armed.disarm)
    return armed
  }

  /** A watch that does not follow a silent one: two silences in a row are two faults, and each takes its own time to be detected. */
  const mayBeSilenced = (watch: RequestFacts): boolean => {
    const log = proxy.log.entries()
    const request = log.find(each => each === watch)
    return request?.verb === 'watch' && !isSilent(watchBefore(log, request))
  }

  const injections: Readonly<Record<string, Inject>> = {
    'API server: 500': () => void request({ kind: 'refuse', ...internalError }, { uses: 5 }),
    'API server: 429': () => void request({ kind: 'refuse', ...tooManyRequests(1) }, { uses: 5 }),
    'API server: 409 on writes': () => void request({ kind: 'refuse', ...conflict }, { uses: 5, match: isWrite }),
    'API server: 410 when a watch opens': () =>
      void request({ kind: 'refuse', ...expired }, { match: ({ verb }) => verb === 'watch' }),
    'API server: connection reset': () => void request({ kind: 'reset' }, { uses: 3 }),
    'API server: answer of a write lost': () => void request({ kind: 'lose-answer' }, { uses: 3, match: isWrite }),
    'API server: answers 1 s late': () => void request({ kind: 'slow', milliseconds: 1000 }, { uses: 10 }),
    'API server: half-open connection': () => void request({ kind: 'half-open' }, { match: mayBeSilenced }),
    'API server: away for 3 s': async () => {
      await proxy.down('refuse')
      await new Promise(resolve => setTimeout(resolve, 3000))
      await proxy.up()
    },
    'watch: 410 in mid-stream': () => void event({ kind: 'error', ...expired }),
    'watch: silent': () => void event({ kind: 'stall' }, { match: ({ watch }) => mayBeSilenced(watch) }),
    'watch: truncated line': () => void event({ kind: 'truncate' }),
    'watch: closed': () => void event({ kind: 'close-after' }, { uses: 3 }),
    'watch: events doubled': () => void event({ kind: 'duplicate' }, { uses: 10 }),
    'GitHub: 502': () => void faults.arm({ kind: 'rest-status', status: 502 }, 3, 20),
    'GitHub: secondary limit': () =>
      void faults.arm({ kind: 'rate-limited', limit: 'secondary', status: 403, retryAfter: 1 }, 2, 20),
    'GitHub: reset after the effect': () => void faults.arm({ kind: 'reset', when: 'after', path: '/app/installations' }, 1, 20),
    'GitHub: slow answers': () => void faults.arm({ kind: 'slow-answer', milliseconds: 1500 }, 3, 20),
    'GitHub: fresh token refused': () => void faults.arm({ kind: 'fresh-token-refused', status: 401 }, 2, 20),
    'GitHub: webhook lost': () => void faults.arm({ kind: 'lost-webhook' }, 2, 30),
    'GitHub: webhook doubled': () => void faults.arm({ kind: 'doubled-webhook' }, 3, 30),
    'GitHub: webhooks out of order': () => void faults.arm({ kind: 'reordered-webhook' }, 2, 30),
    'GitHub: git transport 503': () =>
      void faults.arm({ kind: 'git-status', status: 503, path: '/acme/shop.git/git-upload-pack' }, 1, 20),
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
      await injections[name]?.()
    },
    async end() {
      for (const disarm of disarms) disarm()
      faults.reset()
      await proxy.up()
    },
  }
}
