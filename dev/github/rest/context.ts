// What the REST API needs beyond the actions: its settings, the log of deliveries, the faults that it answers with. No behaviour of its own.
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

/** Requests per hour (GitHub: at least 5000 with credentials, 60 without) and what happens beyond them. */
export type RateLimitSettings = Limits & {
  readonly enforced: boolean
  /** Status of the refusal; GitHub uses both. Default 403. */
  readonly status?: LimitStatus
  /** Whether the refusal carries `retry-after`, which GitHub sends only sometimes. Default no. */
  readonly retryAfter?: boolean
  /** Enforced when given. */
  readonly secondary?: SecondaryLimits
}

export type RestContext = ActionContext & {
  readonly settings: RestSettings
  readonly webhooks: Webhooks
  readonly faults: Faults
  /** Reports defects of the emulator itself, which no answer can explain. */
  readonly report: (message: string) => void
}
