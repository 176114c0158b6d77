// What the runtime counts, on a registry that the process owns. Labels are closed sets: verbs, codes, kinds, controllers, results.
// Every result of every controller is there from the start as 0, so that a rate over the first failure is right.
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { RequestObserver } from './transport.ts'

export type ReconcileResult = 'success' | 'requeue_after' | 'error' | 'terminal_error' | 'timeout'
const results: readonly ReconcileResult[] = ['success', 'requeue_after', 'error', 'terminal_error', 'timeout']

export type KubeMetrics = {
  readonly observeRequest: RequestObserver
  readonly controllerAdded: (controller: string, depth: () => number) => void
  readonly reconciled: (controller: string, result: ReconcileResult, seconds: number) => void
  readonly watchAdded: (kind: string, silentSeconds: () => number) => void
  readonly leading: (leads: boolean) => void
}

const secondsBuckets = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 120]

/** Registers on `registry`; call once per registry. */
export function createKubeMetrics(registry: Registry): KubeMetrics {
  const registers = [registry]
  const depths = new Map<string, () => number>()
  const silences = new Map<string, () => number>()
  const requests = new Histogram({
    name: 'sekisho_kube_request_duration_seconds',
    help: 'Requests to the API server until the head of the answer; code 0 means no answer.',
    labelNames: ['verb', 'kind', 'code'] as const,
    buckets: secondsBuckets,
    registers,
  })
  const reconciles = new Counter({
    name: 'sekisho_reconcile_total',
    help: 'Reconciles by outcome.',
    labelNames: ['controller', 'result'] as const,
    registers,
  })
  const durations = new Histogram({
    name: 'sekisho_reconcile_duration_seconds',
    help: 'How long reconciles took.',
    labelNames: ['controller'] as const,
    buckets: secondsBuckets,
    registers,
  })
  const leader = new Gauge({ name: 'sekisho_leader', help: '1 while this process holds the lease.', registers })
  registry.registerMetric(
    new Gauge({
      name: 'sekisho_workqueue_depth',
      help: 'Keys that wait for a worker.',
      labelNames: ['controller'] as const,
      registers: [],
      collect() {
        for (const [controller, depth] of depths) this.set({ controller }, depth())
      },
    }),
  )
  registry.registerMetric(
    new Gauge({
      name: 'sekisho_watch_silence_seconds',
      help: 'Since the API server was last heard about a kind. Beyond 90 the cache may be stale.',
      labelNames: ['kind'] as const,
      registers: [],
      collect() {
        for (const [kind, seconds] of silences) this.set({ kind }, seconds())
      },
    }),
  )
  return {
    observeRequest: (request, status, seconds) =>
      requests.observe({ verb: request.verb, kind: request.type.kind, code: String(status) }, seconds),
    controllerAdded(controller, depth) {
      depths.set(controller, depth)
      for (const result of results) reconciles.inc({ controller, result }, 0)
    },
    reconciled(controller, result, seconds) {
      reconciles.inc({ controller, result })
      durations.observe({ controller }, seconds)
    },
    watchAdded: (kind, silentSeconds) => {
      silences.set(kind, silentSeconds)
    },
    leading: leads => leader.set(leads ? 1 : 0),
  }
}
