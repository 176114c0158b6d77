// What is counted of build logs.
import { Counter, Gauge, type Registry } from 'prom-client'

export type BuildLogMetrics = {
  readonly written: (log: { readonly bytes: number; readonly leftOut: number }) => void
  readonly streams: (count: number) => void
}

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
  return {
    written(log) {
      bytes.inc(log.bytes)
      leftOut.inc(Math.max(0, log.leftOut))
    },
    streams: count => streams.set(count),
  }
}
