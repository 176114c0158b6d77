// What the token server refused: counted in metrics and reported in the log, at most one line per client and kind of refusal in
// a minute. The count is in the next line, so a flood is visible and costs nothing.
import { Counter, type Registry } from 'prom-client'
import { BoundedMap } from '../../../lib/bounded-map.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Log } from '../../../lib/log.ts'

const results = ['issued', 'narrowed', 'refused', 'limited'] as const
/** `narrowed`: the token holds less than was asked for. `refused`: the credential is not valid. `limited`: too many requests. */
export type TokenResult = (typeof results)[number]

/** Counts token requests by result. Register it once per registry. */
export function createRegistryMetrics(registry: Registry): (result: TokenResult) => void {
  const counter = new Counter({
    name: 'sekisho_registry_token_requests_total',
    help: 'Requests for tokens of the image registry: issued, narrowed (less than was asked for), refused, or limited.',
    labelNames: ['result'],
    registers: [registry],
  })
  for (const result of results) counter.inc({ result }, 0)
  return result => counter.inc({ result })
}

export type RefusalLog = (refusal: { readonly kind: string; readonly client: string; readonly detail: string }) => void

const quietMilliseconds = 60_000
const maxClients = 1000

// Memory (refused registry tokens): kind of refusal and client → refusals since the last line in the log
//   life: a minute without a line in the log; then until the next refusal
//   bound: 1,000, the one reported longest ago forgotten first
//   freshness: the next refusal after the minute
//   replicas: each counts and reports its own
/** `detail` is text of the client: it is bounded and printed as JSON. */
export function createRefusalLog({ log, clock }: { readonly log: Log; readonly clock: Clock }): RefusalLog {
  const seen = new BoundedMap<{ readonly until: number; silent: number }>(maxClients)
  return ({ kind, client, detail }) => {
    const key = `${kind} ${client}`
    const now = clock.now().getTime()
    const last = seen.get(key)
    if (last !== undefined && now < last.until) {
      last.silent += 1
      return
    }
    seen.set(key, { until: now + quietMilliseconds, silent: 0 })
    const fields = { kind, client: client.slice(0, 100), detail: detail.slice(0, 300), unreported: last?.silent ?? 0 }
    log.info(fields, 'registry token refused')
  }
}
