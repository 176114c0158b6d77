// The charts that the product contains, by name: the values of ApplicationChart.spec.builtIn. Never loads a chart before it is
// asked to.
import type { ChartInput } from './chart-input.ts'

/** What a chart module exports as `chart`: it returns the objects to apply. `libraries` are cdk8s and cdk8s-plus. */
export type ChartFunction = (input: ChartInput, libraries: unknown) => unknown

const loaders = {
  web: async (): Promise<ChartFunction> => (await import('./web.ts')).chart,
} as const

/** Reported in the chart's status. Raise it when a built-in chart renders something else; a restart renders again in any case. */
export const builtInRevision = 'web-1'

export type BuiltInName = keyof typeof loaders

/** For messages. */
export const builtInNames: readonly string[] = Object.keys(loaders)

/** Whether this version contains a chart of that name. */
export function isBuiltIn(name: string): name is BuiltInName {
  return Object.hasOwn(loaders, name)
}

/** Call in a chart thread only: charts never run in the main thread. */
export function loadBuiltIn(name: BuiltInName): Promise<ChartFunction> {
  return loaders[name]()
}
