// Owns: the dependencies that every part of the emulator is handed. No behaviour of its own.
import type { KeyObject } from 'node:crypto'
import type { Faults } from '../faults/faults.ts'
import type { GitStore } from '../git/store.ts'
import type { Flavour, Links } from '../views/view.ts'
import type { LimitStatus } from './protocol/limit-errors.ts'
import type { Limits } from './protocol/rate-limit.ts'
import type { SecondaryLimits } from './protocol/secondary-limit.ts'
import type { WorldStore } from '../state/store.ts'
import type { World } from '../state/world.ts'
import type { Webhooks } from '../webhooks/dispatcher.ts'

export type Settings = {
  readonly flavour: Flavour
  readonly restPrefix: string
  /** `short`: 40 characters; `stateless`: about 520, `ghs_<APPID>_<JWT>`. The request header can ask for the other. */
  readonly installationTokenFormat: 'short' | 'stateless'
  readonly rateLimit: RateLimitSettings
}

/** Requests per hour (GitHub gives an installation or a person 5000 at least, nobody 60) and what happens beyond them. */
export type RateLimitSettings = Limits & {
  readonly enforced: boolean
  /** Status of the refusal; GitHub uses both. Default 403. */
  readonly status?: LimitStatus
  /** Whether the refusal says `retry-after`, as GitHub does at times. Default no. */
  readonly retryAfter?: boolean
  /** Enforced when given. */
  readonly secondary?: SecondaryLimits
}

export type Context = {
  readonly settings: Settings
  readonly links: Links
  readonly store: WorldStore
  readonly world: World
  readonly git: GitStore
  readonly webhooks: Webhooks
  readonly faults: Faults
  /** Signs stateless installation tokens. */
  readonly signingKey: KeyObject
  /** Bearer of the control surface under `/_emulator`. */
  readonly controlToken: string
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Told about defects of the emulator itself that no caller can be told about. */
  readonly report: (message: string) => void
}
