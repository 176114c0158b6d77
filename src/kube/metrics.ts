// The runtime's metrics, on a registry that the process owns. Names follow client-go and controller-runtime where those have
// one. Labels are closed sets: verbs, codes, kinds, controllers, results. Every result of every controller starts as 0, so that
// a rate over the first failure is right. README.md has the table.
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { RequestObserver } from './client/transport.ts'
import type { WorkQueue } from './queue/workqueue.ts'

const results = ['success', 'requeue_after', 'error', 'timeout'] as const
export type ReconcileResult = (typeof results)[number]

/** Why a watch ended: in order, version too old, not within its time, connection failed, refused by the server, or unreadable. */
export type WatchEnd = 'ended' | 'expired' | 'silent' | 'unreachable' | 'refused' | 'unreadable'

export type KubeMetrics = ReturnType<typeof createKubeMetrics>

const buckets = [0.005, 0.025, 0.1, 0.5, 2, 8, 30, 120] // Of client-go’s every second one: each is a series of each label.

/** Registers all metrics on `registry`; call once per registry. */
export function createKubeMetrics(registry: Registry) {
  const registers = [registry]
  const counter = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    new Counter({ name, help, labelNames, registers })
  const histogram = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    new Histogram({ name, help, labelNames, buckets, registers })
  /** A gauge whose readers are called at each scrape, one per set of labels. */
  function readings<L extends string>(name: string, help: string, ...labelNames: L[]) {
    const readers: { readonly labels: Record<L, string>; readonly read: () => number }[] = []
    const collect = (): void => {
      for (const { labels, read } of readers) gauge.set(labels, read())
    }
    const gauge: Gauge<L> = new Gauge({ name, help, labelNames, registers, collect })
    return (labels: Record<L, string>, read: () => number): void => void readers.push({ labels, read })
  }

  const requests = counter('rest_client_requests_total', 'Requests to the API server; code 0: no response.', 'verb', 'code')
  const latency = histogram('rest_client_request_duration_seconds', 'Time until the head of the response.', 'verb')
  const reconciles = counter('controller_runtime_reconcile_total', 'Reconciles by outcome.', 'controller', 'result')
  const adds = counter('workqueue_adds_total', 'Keys added, including keys that are already queued.', 'controller')
  const retries = counter('workqueue_retries_total', 'Keys put back after a failure.', 'controller')
  const waits = histogram('workqueue_queue_duration_seconds', 'How long keys waited for a worker.', 'controller')
  const works = histogram('workqueue_work_duration_seconds', 'How long reconciles took.', 'controller')
  const depth = readings('workqueue_depth', 'Keys that wait for a worker.', 'controller', 'priority')
  const unfinished = readings('workqueue_unfinished_work_seconds', 'Summed run time of the reconciles in progress.', 'controller')
  const longest = readings(
    'workqueue_longest_running_processor_seconds',
    'Run time of the oldest reconcile in progress.',
    'controller',
  )
  const leader = new Gauge({ name: 'leader_election_master_status', help: '1 while this process is the leader.', registers })
  const ends = counter('sekisho_watch_ends_total', 'Watch connections by the reason of their end.', 'kind', 'reason')
  const lists = counter('sekisho_watch_lists_total', 'Lists: at the start, every hour, and after an expired version.', 'kind')
  const silence = readings('sekisho_watch_silence_seconds', 'Time since the server was last observed for a kind.', 'kind')
  const objects = readings('sekisho_cache_objects', 'Objects in the local copy.', 'kind')
  leader.set(0)

  return {
    observeRequest: (({ verb }, status, seconds) => {
      requests.inc({ verb, code: String(status) })
      latency.observe({ verb }, seconds)
    }) satisfies RequestObserver,
    /** The metrics of one controller; its queue is read at each scrape. */
    controller(controller: string, queue: Pick<WorkQueue, 'depth' | 'unfinished'>) {
      for (const result of results) reconciles.inc({ controller, result }, 0)
      for (const each of [adds, retries]) each.inc({ controller }, 0)
      for (const priority of ['normal', 'low'] as const) depth({ controller, priority }, () => queue.depth(priority))
      unfinished({ controller }, () => queue.unfinished().reduce((sum, milliseconds) => sum + milliseconds / 1000, 0))
      longest({ controller }, () => Math.max(0, ...queue.unfinished()) / 1000)
      return {
        added: () => adds.inc({ controller }),
        taken: (seconds: number) => waits.observe({ controller }, seconds),
        retried: () => retries.inc({ controller }),
        reconciled(result: ReconcileResult, seconds: number) {
          reconciles.inc({ controller, result })
          works.observe({ controller }, seconds)
        },
      }
    },
    /** The metrics of one cache and its watch. */
    watch(kind: string, read: { readonly objects: () => number; readonly silentSeconds: () => number }) {
      silence({ kind }, read.silentSeconds)
      objects({ kind }, read.objects)
      return { onList: () => lists.inc({ kind }), onWatchEnd: (reason: WatchEnd) => ends.inc({ kind, reason }) }
    },
    leading: (leads: boolean) => leader.set(leads ? 1 : 0),
  }
}
