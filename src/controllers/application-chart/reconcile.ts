// Loads an ApplicationChart on every wake and reports whether it can be used. Writes its status and Events, nothing else.
import type { ApplicationChart } from '../../api/apps/application-chart.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import { done, type Outcome, type ReconcileContext } from '../../kube/controller/controller.ts'
import type { Clock } from '../../lib/clock.ts'
import type { StatusWriter } from '../kit/status-writer.ts'
import { decide } from './decide.ts'
import { type GatherDeps, gather } from './gather.ts'
import { nextStatus } from './status.ts'

export type ApplicationChartDeps = GatherDeps & {
  readonly charts: Pick<Cache<ApplicationChart>, 'get'>
  readonly status: StatusWriter<ApplicationChart>
  readonly clock: Clock
}

/** Idempotent; leaves a chart that is being deleted alone. */
export async function reconcileApplicationChart(deps: ApplicationChartDeps, context: ReconcileContext): Promise<Outcome> {
  const found = deps.charts.get(context.key)
  if (!found || found.metadata.deletionTimestamp !== undefined) return done
  const chart = deps.status.latest(found)
  const facts = await gather(deps, chart)
  await deps.status.write(chart, nextStatus(chart, decide(facts), deps.clock.now()))
  return done
}
