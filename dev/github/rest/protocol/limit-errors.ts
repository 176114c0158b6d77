// GitHub's responses when a rate limit is exceeded: the texts, headers and URL by which clients recognise them. It never counts.
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit
import { RestError } from './answer.ts'

export type LimitStatus = 403 | 429

const primaryAddress = 'https://docs.github.com/rest/overview/rate-limits-for-the-rest-api'
const secondaryAddress =
  'https://docs.github.com/free-pro-team@latest/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits'

function retryAfterHeader(seconds: number | undefined): Record<string, string> {
  return seconds === undefined ? {} : { 'retry-after': String(seconds) }
}

/** The hourly limit is used up. `who` as in "installation ID 1"; `resetAt` in seconds since the epoch. */
export function primaryLimitError(facts: {
  readonly status: LimitStatus
  readonly who: string
  readonly limit: number
  readonly resetAt: number
  readonly retryAfter?: number | undefined
}): RestError {
  const headers = {
    'x-ratelimit-limit': String(facts.limit),
    'x-ratelimit-remaining': '0',
    'x-ratelimit-used': String(facts.limit),
    'x-ratelimit-reset': String(facts.resetAt),
    'x-ratelimit-resource': 'core',
    ...retryAfterHeader(facts.retryAfter),
  }
  return new RestError(facts.status, `API rate limit exceeded for ${facts.who}.`, { headers, documentationUrl: primaryAddress })
}

/** A secondary limit (concurrency, points, content) is exceeded; `retryAfter` in seconds, absent when GitHub does not send it. */
export function secondaryLimitError(status: LimitStatus, retryAfter: number | undefined): RestError {
  const message = 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.'
  return new RestError(status, message, { headers: retryAfterHeader(retryAfter), documentationUrl: secondaryAddress })
}
