// Asks GitHub how much of its limit is left to a token. It costs nothing of that limit; the answer is for the observer.
// Source: https://docs.github.com/en/rest/rate-limit/rate-limit#get-rate-limit-status-for-the-authenticated-user
import { createTokenRequester, type TokenClientDeps } from './token-requester.ts'

/** `observe` learns of it. Throws AppError. */
export async function askLimit(deps: Omit<TokenClientDeps, 'answers'>): Promise<void> {
  await createTokenRequester(deps, { fresh: true }).request('GET /rate_limit', {})
}
