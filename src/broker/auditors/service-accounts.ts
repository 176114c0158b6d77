// Identifies a program that reads the audit log by the token of its ServiceAccount: the API server's TokenReview must accept it
// for our audience (ADR 0083). The token is sent to the API server and nowhere else, and is never logged. What the account may
// read is decided by RBAC (audit-readers.ts).
// Source: https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/token-review-v1/
import { auditAudience } from '../../api/audit/audit-access.ts'
import { type TokenReview, tokenReviews } from '../../api/builtin/index.ts'
import { accountClaims, isFor, type ReviewedAccount, reviewedAccount } from '../../identity/service-account-token.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { isKubeError } from '../../kube/client/errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { createFairLimit } from '../../lib/limits/fair-limit.ts'
import { createKeyedBuckets } from '../../lib/limits/keyed-buckets.ts'
import type { SecretString } from '../../lib/secret-string.ts'

/** Until `expiresAt` at most. */
export type AuditAccount = ReviewedAccount & { readonly expiresAt: Date }

export type ServiceAccounts = {
  /**
   * The ServiceAccount of a token that came from `address`. Undefined for what is no token of a ServiceAccount. Rejects with
   * `unauthenticated`, always with the same message, with `too_many_requests`, and with `unavailable` when the API server does
   * not answer.
   */
  readonly identify: (token: SecretString, address: string) => Promise<AuditAccount | undefined>
}

/** As long as `kubectl create token --duration=24h` gives: whoever finds a token in a file has it no longer. */
const maxLifeSeconds = 86_400
/** Before anybody is known: fifty requests of an address at once, then five a second. */
const ofAddress = { burst: 50, millisecondsPerToken: 200 }
/** As people have, each account: three hundred in a minute. */
const ofAccount = { burst: 60, millisecondsPerToken: 200 }
/** Requests to the API server about who asks; those who wait take turns by address. */
const reviews = { concurrency: 4, waitingPerKey: 4, waiting: 256 }

const refused = () =>
  new AppError(
    'unauthenticated',
    `a token of a ServiceAccount must be valid, have the audience ${auditAudience} and live for a day at most: mount a projected one`,
  )

// Memory (limits of ServiceAccounts that read the audit log): address or account → token bucket; address → requests that wait
//     until the API server is asked
//   life: the process; a place until its turn
//   bound: 10,000 keys of each, the one used longest ago forgotten first; 4 questions at once, 4 wait of an address and 256 in
//     all
//   freshness: none is needed: buckets refill by time; the API server is asked about every request
//   replicas: each counts
/** Nothing used. */
export function createServiceAccounts({
  kube,
  clock,
}: {
  readonly kube: Pick<KubeClient, 'create'>
  readonly clock: Clock
}): ServiceAccounts {
  const addresses = createKeyedBuckets(ofAddress, clock)
  const accounts = createKeyedBuckets(ofAccount, clock)
  const turns = createFairLimit(reviews)

  const review = async (token: SecretString): Promise<TokenReview> => {
    const { apiVersion, kind } = tokenReviews
    const spec = { token: token.reveal(), audiences: [auditAudience] }
    try {
      const options = { fieldManager: 'sekisho-broker' }
      return await kube.create<TokenReview>(tokenReviews, { apiVersion, kind, metadata: {}, spec }, options)
    } catch (cause) {
      if (!isKubeError(cause)) throw cause
      throw new AppError('unavailable', 'the API server does not say whose token this is: try again', { cause })
    }
  }

  return {
    async identify(token, address) {
      const claims = accountClaims(token)
      if (claims === undefined) return undefined
      if (!isFor(claims, auditAudience, clock.now()) || claims.life > maxLifeSeconds) throw refused()
      refuseFor(addresses.take(address))
      const { status } = await (turns.run(address, () => review(token)) ?? Promise.reject(tooMany(1)))
      const account = reviewedAccount(status, auditAudience)
      if (account === undefined) throw refused()
      refuseFor(accounts.take(account.uid))
      return { ...account, expiresAt: new Date(claims.expires * 1000) }
    },
  }
}

function refuseFor(wait: number): void {
  if (wait > 0) throw tooMany(Math.ceil(wait / 1000))
}

function tooMany(retryAfterSeconds: number): AppError {
  return new AppError('too_many_requests', 'too many requests for the audit log: follow the stream instead of asking again', {
    retryAfterSeconds,
  })
}
