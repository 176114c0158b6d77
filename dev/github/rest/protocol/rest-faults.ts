// The refusals of the REST API by an armed fault. A refused request has no other effect.
import type { Faults } from '../../faults/faults.ts'
import { fits, type Target } from '../../faults/target.ts'
import { tokenOf } from '../../tokens/authenticate.ts'
import { credentialKey } from '../../tokens/formats.ts'
import { RestError } from './answer.ts'
import { primaryLimitError, secondaryLimitError } from './limit-errors.ts'

/** Seconds until the reset of a simulated primary limit. */
const limitEndsIn = 60

function limited(faults: Faults, target: Target, now: number): RestError | undefined {
  const fault = faults.take('rate-limited', one => fits(one, target))
  if (!fault) return undefined
  const status = fault.status ?? 403
  if (fault.limit === 'secondary') return secondaryLimitError(status, fault.retryAfter)
  const resetAt = Math.floor(now / 1000) + (fault.retryAfter ?? limitEndsIn)
  return primaryLimitError({
    status,
    who: 'installation ID 1',
    limit: 5000,
    resetAt,
    retryAfter: fault.retryAfter,
  })
}

function freshRefusal(faults: Faults, header: string | undefined): RestError | undefined {
  const token = tokenOf(header)
  const status = token === undefined ? undefined : faults.takeRefusal(credentialKey(token))
  if (status === undefined) return undefined
  return new RestError(status, status === 401 ? 'Bad credentials' : 'Resource not accessible by integration')
}

/** The refusal of this request, if one is armed. `now` is milliseconds since the epoch. */
export function restFault(faults: Faults, target: Target, header: string | undefined, now: number): RestError | undefined {
  const fault = faults.take('rest-status', one => fits(one, target))
  if (fault) return new RestError(fault.status, fault.message ?? 'Server Error', { headers: fault.headers ?? {} })
  return limited(faults, target, now) ?? freshRefusal(faults, header)
}
