// What is counted of build logs.
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { type BuildOutcome, buildOutcomes } from '../../../store/builds/build-record.ts'

export type BuildLogMetrics = {
  readonly written: (log: { readonly bytes: number; readonly leftOut: number }) => void
  readonly streams: (count: number) => void
  readonly ended: (outcome: BuildOutcome, seconds: number) => void
}

/** From a change of one file to a build that installs everything. */
const buckets = [15, 30, 60, 120, 300, 600, 1800, 3600]

/** Register it once per registry. */
export function createBuildLogMetrics(registry: Registry): BuildLogMetrics {
  const registers = [registry]
  const bytes = new Counter({
    name: 'sekisho_build_log_bytes_total',
    help: 'Bytes of build logs that were collected.',
    registers,
  })
  const leftOut = new Counter({
    name: 'sekisho_build_log_left_out_bytes_total',
    help: 'Bytes of build logs that were collected and are not kept, because a log was larger than SEKISHO_BUILD_LOG_MEGABYTES.',
    registers,
  })
  const streams = new Gauge({ name: 'sekisho_build_log_streams', help: 'Build logs that are being read.', registers })
  const duration = new Histogram({
    name: 'sekisho_build_duration_seconds',
    help: 'Time from the creation of a build to its end, by its outcome. Reported by the leader, which reads the logs.',
    labelNames: ['outcome'],
    buckets,
    registers,
  })
  for (const outcome of buildOutcomes) duration.zero({ outcome })
  return {
    written(log) {
      bytes.inc(log.bytes)
      leftOut.inc(Math.max(0, log.leftOut))
    },
    streams: count => streams.set(count),
    ended: (outcome, seconds) => duration.observe({ outcome }, Math.max(0, seconds)),
  }
}
