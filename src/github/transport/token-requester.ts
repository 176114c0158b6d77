// Requests with one bearer token. GitHub may refuse a token that is seconds old because not all of its servers know it yet; such a refusal
// is retried a few times (octokit/auth-app.js does the same for its own tokens). The refusal of an older token is final.
import { createHash } from 'node:crypto'
import { isAppError } from '../../lib/errors.ts'
import type { SecretString } from '../../lib/secret-string.ts'
import { githubReasons } from './failure.ts'
import { type ClientDeps, createClient, type GitHubClient } from './github-requests.ts'

/** What a client for one token needs. */
export type TokenClientDeps = ClientDeps & { readonly token: SecretString }

type Options = {
  /** The token may have been minted just now (installation tokens); a person's token was used before. */
  readonly fresh: boolean
}

/** As `GitHubClient`, with the token. Both throw AppError. */
export type TokenRequester = {
  readonly request: (route: string, parameters: Readonly<Record<string, unknown>>) => ReturnType<GitHubClient['request']>
  readonly all: (route: string, parameters: Readonly<Record<string, unknown>>) => ReturnType<GitHubClient['all']>
}

const waitsMilliseconds = [200, 600, 1800]
const freshMilliseconds = 5000

/** The token counts as fresh for five seconds from now. */
export function createTokenRequester(deps: TokenClientDeps, options: Options): TokenRequester {
  const client = createClient(deps, `token:${createHash('sha256').update(deps.token.reveal()).digest('hex').slice(0, 16)}`)
  const authorization = `Bearer ${deps.token.reveal()}`
  const since = deps.clock.now().getTime()

  const withRetries = async <T>(work: () => Promise<T>): Promise<T> => {
    for (const wait of options.fresh ? waitsMilliseconds : []) {
      try {
        return await work()
      } catch (error) {
        const fresh = deps.clock.now().getTime() - since < freshMilliseconds
        if (!fresh || !isAppError(error) || error.reason !== githubReasons.credentialRefused) throw error
        await deps.clock.sleep(wait)
      }
    }
    return work()
  }

  return {
    request: (route, parameters) => withRetries(() => client.request(route, parameters, authorization)),
    all: (route, parameters) => withRetries(() => client.all(route, parameters, authorization)),
  }
}
