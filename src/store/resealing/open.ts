// Opens the loop that seals again, in a process that has a keyring. It passes no secret to anybody.
import type { Registry } from 'prom-client'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { Periodic } from '../../lib/periodic.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import { createSealingMetrics } from './metrics.ts'
import { createResealLoop, type SealingProcess } from './reseal-loop.ts'
import type { Resealing } from './resealing.ts'

type Deps = {
  readonly process: SealingProcess
  readonly store: { readonly resealing: Resealing; readonly audit: Pick<AuditLog, 'append' | 'list'> }
  readonly isLeader: () => boolean
  readonly metrics: Registry | undefined
  readonly clock: Clock
  readonly log: Log
}

/** Nothing runs before `start`. */
export function openResealing({ process, store, metrics, ...deps }: Deps): Periodic {
  const sealed = metrics && createSealingMetrics(metrics)
  const { resealing, audit } = store
  return createResealLoop({ ...deps, process, resealing, audit, observe: totals => sealed?.(process, totals) })
}
