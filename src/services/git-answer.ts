// Asks a git server of GitHub, which may not know a new token yet, and says what its answer means for the token.
import type { Dispatcher } from 'undici'
import { untilTokenIsKnown } from '../github/index.ts'
import type { Clock } from '../lib/clock.ts'

type Answer = Dispatcher.ResponseData
type Outcome = { readonly result: Answer } | { readonly error: unknown }

/** `mintedAt`: undefined for a token that may be new. */
type Asked = { readonly clock: Clock; readonly mintedAt: Date | undefined; readonly signal: AbortSignal }

/** GitHub does not accept the token, or not for this. */
export function refusesToken({ statusCode }: Pick<Answer, 'statusCode'>): boolean {
  return statusCode === 401 || statusCode === 403
}

/** One request. The body of an answer that refuses the token is gone; whoever reads another one gets its errors. */
export async function askGit(request: () => Promise<Answer>): Promise<Answer> {
  const answer = await request()
  // Whoever ends a body early gets its error as an event; what matters of it comes to those who read.
  answer.body.on('error', () => {})
  if (refusesToken(answer)) answer.body.destroy()
  return answer
}

/** As `askGit`, again while GitHub refuses a new token. The request must have no effect. */
export function askGitPatiently(asked: Asked, request: () => Promise<Answer>): Promise<Answer> {
  const isRefused = (outcome: Outcome): boolean => 'result' in outcome && refusesToken(outcome.result)
  return untilTokenIsKnown({ ...asked, isRefused }, () => askGit(request))
}
