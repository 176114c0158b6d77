// The HTTPS server that answers SubjectAccessReviews. What it cannot read in time or in its bounds it denies, instead of failing:
// for the API server a failure is no opinion, and whoever asks decides how large and how many the reviews are.
import type { Log } from '../lib/log.ts'
import { createPostServer, jsonOf, type PostServer } from '../web/post-server.ts'
import type { Certificate } from '../web/tls.ts'
import { decide } from './decide.ts'
import type { Answered } from './metrics.ts'
import type { Access } from './named-subjects.ts'
import { accessReview, reviewAnswer } from './review.ts'

export type AuthorizerServerDeps = {
  readonly log: Log
  /** With the authority of the API servers: others are refused in the handshake. */
  readonly certificate: Certificate
  readonly clientNames: readonly string[]
  /** As the administrator's files are now. */
  readonly access: () => Access
  readonly answered: (answer: Answered) => void
  /** Called for each request; `last` closes its connection after the answer. */
  readonly onRequest?: () => 'more' | 'last'
}

/** A person with 500 groups has 50 KB of them. Selectors of a list may be larger, and decide nothing. */
const bodyLimit = 256 * 1024
const budget = { requests: 512, bytes: 128 * bodyLimit, bodyLimit }
/** Each review has a connection of its own: there is room for far more than are judged at once, so that these are denied. */
const connections = { most: 8192, maxOfClient: 4096 }

const overflow = reviewAnswer(
  'the authorizer of Sekisho was asked too much at once or with too long selectors: ask for fewer, and try again',
)

/** A server that does not listen yet. */
export function createAuthorizerServer(deps: AuthorizerServerDeps): PostServer {
  const { access, answered, ...served } = deps
  const authorize = (body: Buffer): string => {
    const reason = decide(accessReview(jsonOf(body)), access())
    answered(reason === undefined ? 'no_opinion' : 'denied')
    return reviewAnswer(reason)
  }
  const onOverflow = (): string => {
    answered('overflow')
    return overflow
  }
  return createPostServer({ ...served, routes: new Map([['/authorize', authorize]]), budget, connections, onOverflow })
}
