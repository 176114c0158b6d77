// Whether an ApplicationChart can be used: checks in order, each with its reason and the cure. Pure.
import { applicationChartReasons as reasons } from '../../api/apps/application-chart.ts'
import type { WantedCondition } from '../../kube/object/conditions.ts'
import { type Check, firstRefusal } from '../../policy/check.ts'
import type { Facts } from './gather.ts'

export type Decision = {
  readonly ready: WantedCondition
  /** Of the code that was found, whether it loads or not. */
  readonly revision?: string
}

/** Stops a chart whose code is not where its spec says. */
const codeExists: Check<Facts> = ({ lookup }) => (lookup.kind === 'missing' ? lookup : undefined)

/** Stops a chart whose code does not load. */
const codeLoads: Check<Facts> = ({ loading }) =>
  loading?.kind === 'rendered'
    ? undefined
    : { reason: reasons.doesNotLoad, message: `the chart does not load: ${loading?.message ?? 'it was not loaded'}` }

const checks: readonly Check<Facts>[] = [codeExists, codeLoads]

/** Ready with the reason of the first check that does not hold. */
export function decide(facts: Facts): Decision {
  const { lookup } = facts
  const { reason, message } = firstRefusal(checks, facts) ?? { reason: reasons.loaded, message: 'the chart loads' }
  const status = reason === reasons.loaded ? 'True' : 'False'
  const ready = { type: 'Ready', status, reason, message } as const
  return lookup.kind === 'found' ? { ready, revision: lookup.source.revision } : { ready }
}
