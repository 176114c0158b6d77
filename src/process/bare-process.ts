// What every process of the platform begins with: its log, its metrics and its health port. A process that does not call the
// API server imports only this, and so does not load a client of it either. It knows no process: each `main.ts` says what else
// it needs.
import type { Registry } from 'prom-client'
import { type Clock, systemClock } from '../lib/clock.ts'
import { createLog, type Log } from '../lib/log.ts'
import type { readProcessSettings } from './config.ts'
import { createHealthServer, type ReadinessChecks } from './health.ts'
import { prometheusRegistry } from './metrics.ts'
import type { Stop } from './run.ts'

/** Which processes there are: the label `process` of their metrics, and part of their names in logs and at the API server. */
export type ProcessName = 'standalone' | 'broker' | 'controllers' | 'admission' | 'authorizer' | 'data-services'

export type BareProcess = {
  readonly log: Log
  readonly metrics: Registry
  readonly clock: Clock
  /** Not ready before all parts have started, and from the moment in which the first of them stops. */
  readonly startInOrder: (parts: readonly Part[], checks: ReadinessChecks) => Promise<void>
}

/** Started in order, stopped in the opposite order. */
export type Part = { readonly start: () => Promise<unknown>; readonly stop: Stop }

export type BareProcessOptions = {
  readonly name: ProcessName
  readonly settings: ReturnType<typeof readProcessSettings>
  readonly onStop: (stop: Stop) => void
}

/**
 * Serves the health port from the start, so that a process that waits (for the database, for its
 * caches) is alive and not ready.
 */
export async function openBareProcess({ name, settings, onStop }: BareProcessOptions): Promise<BareProcess> {
  const log = createLog({ level: settings.logLevel, name: name === 'standalone' ? 'sekisho' : `sekisho-${name}` })
  onStop(() => log.info({}, 'sekisho stopped'))
  const metrics = prometheusRegistry({ process: name })
  let checks: ReadinessChecks = { started: () => false }
  const address = { host: settings.healthAddress, port: settings.healthPort }
  const health = createHealthServer({ log, metrics, address, checks: () => checks })
  await health.start()
  onStop(health.stop)
  return {
    log,
    metrics,
    clock: systemClock,
    async startInOrder(parts, ready) {
      for (const part of parts) {
        await part.start()
        onStop(part.stop)
      }
      checks = ready
      onStop(() => {
        checks = { stopping: () => false }
      })
    },
  }
}
