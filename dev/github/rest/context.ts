// What the REST API needs in addition to the actions: its settings, the log of deliveries, the faults of its responses.
import type { ActionContext } from '../actions/context.ts'
import type { Faults } from '../faults/faults.ts'
import type { Webhooks } from '../webhooks/dispatcher.ts'
import type { LimitStatus } from './protocol/limit-errors.ts'
import type { Limits } from './protocol/rate-limit.ts'
import type { SecondaryLimits } from './protocol/secondary-limit.ts'

export type RestSettings = {
  readonly restPrefix: string
  /** `short`: 40 characters; `stateless`: about 520, `ghs_<APPID>_<JWT>`. The request header can ask for the other. */
  readonly installationTokenFormat: 'short' | 'stateless'
  readonly rateLimit: RateLimitSettings
}

/** Requests per hour (GitHub: at least 5000 with credentials, 60 without) and what happens above them. */
export type RateLimitSettings = Limits & {
  readonly enforced: boolean
  /** Status of the refusal; GitHub uses both. Default 403. */
  readonly status?: LimitStatus
  /** Whether the refusal has a `retry-after` header, which GitHub sends only sometimes. Default no. */
  readonly retryAfter?: boolean
  /** Enforced when given. */
  readonly secondary?: SecondaryLimits
}

export type RestContext = ActionContext & {
  readonly settings: RestSettings
  readonly webhooks: Webhooks
  readonly faults: Faults
  /** Reports defects of the emulator itself, which no response can explain. */
  readonly report: (message: string) => void
}
