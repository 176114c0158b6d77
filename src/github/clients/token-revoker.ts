// Revokes installation tokens. GitHub asks for nothing but the token itself, so it works without the App's private key, and
// after the ClusterGitHubApp is gone.
// Source: https://docs.github.com/en/rest/apps/installations#revoke-an-installation-access-token
import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { SecretString } from '../../lib/secret-string.ts'
import type { Fetch } from '../transport/bounded-fetch.ts'
import { type Circuit, createCircuit } from '../transport/circuit.ts'
import { githubFailure, githubReasons, statusOf } from '../transport/failure.ts'
import { createClient } from '../transport/github-requests.ts'
import type { GitHubObserver } from '../transport/observed-fetch.ts'

/**
 * `revoked`: GitHub revoked it now. `invalid`: it did not accept the token any more; it was revoked before, here or by somebody
 * else, or its installation is gone. `suspended`: GitHub refuses every request of a suspended installation, this one too. The
 * token can be used for nothing now, and can be used again when the suspension ends before the token does.
 * Source: https://docs.github.com/en/rest/apps/apps#suspend-an-app-installation
 */
export type RevocationResult = 'revoked' | 'invalid' | 'suspended'

/**
 * `api` is the base URL of the REST API that minted the token. Resolves to `revoked` on 204, and to `invalid` on 401
 * and 404. Throws a retryable error otherwise. `fresh`: the token is seconds old, so a 401 or 404 may only mean that not all of
 * GitHub's servers know it yet (octokit/auth-app.js#65); that is an error to retry.
 */
export type TokenRevoker = (api: string, token: SecretString, options?: { readonly fresh?: boolean }) => Promise<RevocationResult>

export type TokenRevokerDeps = {
  readonly log: Log
  readonly clock: Clock
  readonly fetch?: Fetch
  readonly observe?: GitHubObserver
}

const route = 'DELETE /installation/token'
const maxHosts = 100

// Memory (circuit breakers of revocations): address of a GitHub API → circuit breaker of the requests that revoke tokens
//   life: the process
//   bound: 100 addresses, the one used longest ago forgotten first
//   freshness: the next answer
//   replicas: each learns from its own answers
/**
 * Has circuits of its own, one for each API: an App that was asked to wait must still be able to revoke tokens, and those of one
 * installation are revoked although another one has used up its hour.
 */
export function createTokenRevoker(deps: TokenRevokerDeps): TokenRevoker {
  const circuits = new BoundedMap<Circuit>(maxHosts)
  const circuitOf = (api: string): Circuit => {
    const circuit = circuits.get(api) ?? createCircuit(deps.clock, { ofManyCredentials: true })
    circuits.set(api, circuit)
    return circuit
  }
  return async (api, token, { fresh = false } = {}) => {
    // A client of its own: a revocation must not queue behind other writes (one a second), and each installation has a rate limit
    // of its own.
    const endpoints = { host: '', web: '', api }
    const own = createClient({ ...deps, endpoints, circuit: circuitOf(api) }, `revoke:${crypto.randomUUID()}`)
    try {
      await own.raw(route, {}, `Bearer ${token.reveal()}`)
      return 'revoked'
    } catch (error) {
      const status = statusOf(error)
      if (!fresh && (status === 401 || status === 404)) return 'invalid'
      const failure = githubFailure(error, route, deps.clock.now())
      if (failure.reason === githubReasons.suspended) return 'suspended'
      throw notRevoked(failure)
    }
  }
}

/** Whatever GitHub answered, the same request may revoke the token later. */
function notRevoked(failure: AppError): AppError {
  if (failure.code === 'unavailable' || failure.code === 'too_many_requests') return failure
  return new AppError('unavailable', `the token may still be active: ${failure.message}`, {
    cause: failure,
    retryAfterSeconds: 5,
  })
}
