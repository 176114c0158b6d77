// What a flood is: how often something is sent, and what one request of it does.
import type { World } from '../world/world.ts'
import type { Causes } from './bounds.ts'

export type Flood = {
  readonly name: string
  readonly as: string
  readonly tries: string
  readonly perSecond: number
  /** Default: refusals alone. */
  readonly causes?: Causes
  /** Made ready before the clock runs. Resolves to what one request is; the number counts from 0. */
  readonly prepare: (world: World) => Promise<FloodSource>
}

export type FloodSource = { readonly once: (number: number) => Promise<string>; readonly end?: () => Promise<void> }
