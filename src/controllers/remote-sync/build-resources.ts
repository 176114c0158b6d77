// Compares what a build asks for with what the platform gives to a build at most. Pure.

import { amountOf } from '../../lib/text/quantity.ts'
import type { BuildResources } from '../../services/builds/builder.ts'

/** The first field that asks for more than there is, with both quantities; undefined when none does. */
export function excessOf(wanted: BuildResources, most: Required<BuildResources>): string | undefined {
  for (const field of ['cpu', 'memory', 'ephemeralStorage'] as const) {
    const quantity = wanted[field]
    if (quantity !== undefined && amountOf(quantity) > amountOf(most[field]))
      return `${field}: ${quantity} is more than a build gets on this platform: at most ${most[field]}`
  }
  return undefined
}
