// Whether an ApplicationChart can be used: found where it says, and it loads. Pure.
import { applicationChartReasons } from '../../api/apps/application-chart.ts'
import type { Facts } from './gather.ts'

export type Verdict = {
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
  /** Of the code that was found. */
  readonly revision?: string
}

export function decide({ lookup, loading }: Facts): Verdict {
  if (lookup.kind === 'missing') return { status: 'False', reason: lookup.reason, message: lookup.message }
  const { revision } = lookup.source
  if (loading?.kind === 'rendered')
    return { status: 'True', reason: applicationChartReasons.loaded, message: 'the chart loads', revision }
  const message = `the chart does not load: ${loading?.message ?? 'it was not loaded'}`
  return { status: 'False', reason: applicationChartReasons.doesNotLoad, message, revision }
}
