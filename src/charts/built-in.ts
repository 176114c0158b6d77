// The charts that the product contains, by name: what ApplicationChart.spec.builtIn may say. Loads no chart by itself.
import type { ChartInput } from './chart-input.ts'

export type ChartFunction = (input: ChartInput, libraries: unknown) => unknown

const loaders = {
  web: async (): Promise<ChartFunction> => (await import('./web.ts')).chart,
} as const

/** Shown in the chart's status; raise it when a built-in chart renders something else. Every start renders anew whatever it says. */
export const builtInRevision = 'web-1'

export type BuiltInName = keyof typeof loaders

export const builtInNames: readonly string[] = Object.keys(loaders)

export function isBuiltIn(name: string): name is BuiltInName {
  return Object.hasOwn(loaders, name)
}

export function loadBuiltIn(name: BuiltInName): Promise<ChartFunction> {
  return loaders[name]()
}
