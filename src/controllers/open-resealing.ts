// Seals what the controllers store again after the first sealing key changed. It passes no secret to anybody.
import type { Periodic } from '../lib/periodic.ts'
import { createSealingMetrics } from '../store/resealing/metrics.ts'
import { createResealLoop } from '../store/resealing/reseal-loop.ts'
import type { ControllersDeps } from './app-deps.ts'

/** Nothing runs before `start`. */
export function openResealing({ store, manager, metrics, clock, log }: ControllersDeps): Periodic {
  const sealed = metrics && createSealingMetrics(metrics)
  return createResealLoop({
    process: 'controllers',
    resealing: store.resealing,
    audit: store.audit,
    isLeader: manager.isLeader,
    observe: totals => sealed?.('controllers', totals),
    clock,
    log,
  })
}
