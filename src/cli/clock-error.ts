// A clock of this computer that is wrong makes good tokens look bad, here or at the platform: then the clock is named, not the
// token. Pure.
import { AppError, isAppError } from '../lib/errors.ts'

/** Tokens are accepted with this much difference. */
const toleratedMilliseconds = 30_000

function inWords(milliseconds: number): string {
  const seconds = Math.round(Math.abs(milliseconds) / 1000)
  if (seconds < 120) return `${seconds} seconds`
  const minutes = Math.round(seconds / 60)
  if (minutes < 120) return `${minutes} minutes`
  const hours = Math.round(minutes / 60)
  return hours < 48 ? `${hours} hours` : `${Math.round(hours / 24)} days`
}

/**
 * The error that names the clock, for one about tokens; any other one as it is. `offset`: how far the platform's clock is ahead
 * of ours, in milliseconds, by the Date of its last answer.
 */
export function namingClock(error: unknown, offset: number | undefined, issuer: string): unknown {
  const isAboutTokens = isAppError(error, 'unauthenticated') || isAppError(error, 'upstream_failed')
  if (!isAboutTokens || offset === undefined || Math.abs(offset) <= toleratedMilliseconds) return error
  const message = `check the clock of this computer: it is ${inWords(offset)} ${offset > 0 ? 'behind' : 'ahead of'} that of ${issuer}, so that tokens seem not to be valid (${error.message})`
  return new AppError('invalid_configuration', message, { cause: error })
}
