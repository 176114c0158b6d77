// What is counted of the git proxy. Labels are closed lists of the code: never a tenant, a repository or a ref.
import { Counter, Gauge, type Registry } from 'prom-client'
import { type CutReason, cutReasons } from './streams/git-streams.ts'

const directions = ['to workloads', 'to GitHub'] as const

export type ProxyMetrics = {
  readonly passed: (direction: (typeof directions)[number], bytes: number) => void
  readonly cut: (why: CutReason) => void
}

/** Register it once per registry. `transfers`: how many go on now. */
export function createProxyMetrics(registry: Registry, transfers: () => number): ProxyMetrics {
  const registers = [registry]
  new Gauge({
    name: 'sekisho_git_proxy_transfers',
    help: 'Transfers of git that go on through the git proxy; at most 128 in one process.',
    registers,
    collect() {
      this.set(transfers())
    },
  })
  const bytes = new Counter({
    name: 'sekisho_git_proxy_bytes_total',
    help: 'Bytes that passed the git proxy: to workloads what GitHub answered, to GitHub what was pushed.',
    labelNames: ['direction'],
    registers,
  })
  const cuts = new Counter({
    name: 'sekisho_git_proxy_cut_total',
    help: 'Transfers that the git proxy cut: silent for a minute, after an hour, because the grant ended or was halted, or because the process stopped.',
    labelNames: ['reason'],
    registers,
  })
  for (const direction of directions) bytes.inc({ direction }, 0)
  for (const reason of cutReasons) cuts.inc({ reason }, 0)
  return {
    passed: (direction, count) => bytes.inc({ direction }, count),
    cut: reason => cuts.inc({ reason }),
  }
}
