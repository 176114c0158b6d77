// What the decisions about a cluster of the user's are made from.
import type { Mode } from '../../mode.ts'
import type { GivenClusterSettings } from '../settings.ts'
import type { Facts } from './facts.ts'

/** Adds to the list of what is missing; its result stands for the value that is not known. */
export type Report = (what: string, cure: string) => undefined

export type Inputs = {
  readonly facts: Facts
  readonly settings: GivenClusterSettings
  readonly mode: Mode
  readonly missing: Report
}
