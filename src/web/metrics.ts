// What a server answered and how long it took. Labels are closed sets: the routes are those of the code, never paths of
// requests.
import { Counter, Histogram, type Registry } from 'prom-client'

/** The servers that people, programs and workloads ask. */
export type ServerName = 'broker' | 'token-desk' | 'git-proxy'

export type AnsweredRequest = {
  /** The template of the route, such as `/tenants/:tenant`; `none` when there is no such route. */
  readonly route: string
  readonly status: number
  readonly seconds: number
}

const requestsName = 'sekisho_http_requests_total'
const durationName = 'sekisho_http_request_duration_seconds'
const buckets = [0.025, 0.1, 0.5, 2, 10]

/** May be called by each server of a process, also on one registry. */
export function createHttpMetrics(registry: Registry, server: ServerName): (request: AnsweredRequest) => void {
  const registers = [registry]
  const known = { requests: registry.getSingleMetric(requestsName), duration: registry.getSingleMetric(durationName) }
  const requests =
    known.requests instanceof Counter
      ? known.requests
      : new Counter({
          name: requestsName,
          help: 'Requests that the broker, the token desk or the git proxy answered, by status.',
          labelNames: ['server', 'code'],
          registers,
        })
  const duration =
    known.duration instanceof Histogram
      ? known.duration
      : new Histogram({
          name: durationName,
          help: 'Time until a request was answered by the broker, the token desk or the git proxy.',
          labelNames: ['server', 'route'],
          buckets,
          registers,
        })
  return ({ route, status, seconds }) => {
    requests.inc({ server, code: String(status) })
    duration.observe({ server, route }, seconds)
  }
}
