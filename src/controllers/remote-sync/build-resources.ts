// What a build asks for, and whether the platform gives it to a build. Pure.

import type { RemoteSync } from '../../api/apps/remote-sync.ts'
import { defined } from '../../lib/json/defined.ts'
import { amountOf, canonicalQuantity, type Quantity } from '../../lib/text/quantity.ts'
import type { BuildResources } from '../../services/builds/builder.ts'

type Wanted = NonNullable<RemoteSync['spec']['build']['resources']>

/** As the builders take them. */
export function buildResourcesOf({ cpu, memory, ephemeralStorage }: Wanted): BuildResources {
  const canonical = (quantity: Quantity | undefined) => (quantity === undefined ? undefined : canonicalQuantity(quantity))
  return defined({ cpu: canonical(cpu), memory: canonical(memory), ephemeralStorage: canonical(ephemeralStorage) })
}

/** The first field that asks for more than there is, with both quantities; undefined when none does. */
export function excessOf(wanted: Wanted, most: Required<BuildResources>): string | undefined {
  for (const field of ['cpu', 'memory', 'ephemeralStorage'] as const) {
    const quantity = wanted[field]
    if (quantity !== undefined && amountOf(quantity) > amountOf(most[field]))
      return `${field}: ${quantity} is more than a build gets on this platform: at most ${most[field]}`
  }
  return undefined
}
