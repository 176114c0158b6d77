// Requests with one bearer token. A token that is seconds old may be refused because GitHub's replicas do not know it yet; such a
// refusal is tried again a few times (octokit/auth-app.js does the same for its own tokens), an older token's refusal is final.
import { createHash } from 'node:crypto'
import { isAppError } from '../../lib/errors.ts'
import type { SecretString } from '../../lib/secret-string.ts'
import { githubReasons } from './failure.ts'
import type { ClientDeps, createClient, GitHubClient } from './github-requests.ts'

type Deps = ClientDeps & { readonly token: SecretString }
type Options = {
  /** The token may have been made this moment (installation tokens); a person's token was used before. */
  readonly fresh: boolean
}

export type TokenRequester = {
  readonly request: (route: string, parameters: Readonly<Record<string, unknown>>) => ReturnType<GitHubClient['request']>
  readonly all: (route: string, parameters: Readonly<Record<string, unknown>>) => ReturnType<GitHubClient['all']>
}

const waitsMilliseconds = [200, 600, 1800]
const freshMilliseconds = 5000

export function createTokenRequester(deps: Deps, clientOf: typeof createClient, options: Options): TokenRequester {
  const client = clientOf(deps, `token:${createHash('sha256').update(deps.token.reveal()).digest('hex').slice(0, 16)}`)
  const authorization = `Bearer ${deps.token.reveal()}`
  const since = deps.clock.now().getTime()

  const patiently = async <T>(work: () => Promise<T>): Promise<T> => {
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
    request: (route, parameters) => patiently(() => client.request(route, parameters, authorization)),
    all: (route, parameters) => patiently(() => client.all(route, parameters, authorization)),
  }
}
