// Finds the code of an ApplicationChart: a built-in chart, or a key of a ConfigMap in the platform namespace. Pure; never loads
// the code.
import { createHash } from 'node:crypto'
import { type ApplicationChart, applicationChartReasons } from '../../api/apps/application-chart.ts'
import type { ConfigMap } from '../../api/builtin/index.ts'
import { builtInNames, builtInRevision, isBuiltIn } from './built-in.ts'
import type { ChartSource } from './chart-input.ts'

/** `missing`: a reason of the ApplicationChart's Ready condition, and a sentence with the cure. */
export type ChartLookup =
  | { readonly kind: 'found'; readonly source: ChartSource }
  | { readonly kind: 'missing'; readonly reason: string; readonly message: string }

/** `configMap` finds a ConfigMap of the platform namespace by name. The revision of code from a ConfigMap is its SHA-256. */
export function findChartSource(chart: ApplicationChart, configMap: (name: string) => ConfigMap | undefined): ChartLookup {
  const { builtIn, configMap: reference } = chart.spec
  if (builtIn !== undefined) {
    if (isBuiltIn(builtIn)) return { kind: 'found', source: { kind: 'built-in', name: builtIn, revision: builtInRevision } }
    const message = `spec.builtIn ${builtIn} is not a chart of this version: use one of ${builtInNames.join(', ')}`
    return { kind: 'missing', reason: applicationChartReasons.unknownBuiltIn, message }
  }
  const { configMapMissing } = applicationChartReasons
  if (!reference) return { kind: 'missing', reason: configMapMissing, message: 'set exactly one of spec.builtIn, spec.configMap' }
  const code = configMap(reference.name)?.data?.[reference.key]
  if (code === undefined || code.trim() === '') {
    const message = `the platform namespace has no ConfigMap ${reference.name} with the key ${reference.key}: create it`
    return { kind: 'missing', reason: configMapMissing, message }
  }
  return { kind: 'found', source: { kind: 'module', code, revision: createHash('sha256').update(code).digest('hex') } }
}
