// Requests with one bearer token, which may be new to GitHub (fresh-token.ts).
import { isAppError } from '../../lib/errors.ts'
import { canonicalJson } from '../../lib/json/canonical-json.ts'
import type { SecretString } from '../../lib/secret-string.ts'
import { shortHash } from '../../lib/text/bounded-name.ts'
import type { AnswerCache } from './answer-cache.ts'
import { githubFailure, githubReasons } from './failure.ts'
import { untilTokenIsKnown } from './fresh-token.ts'
import { type ClientDeps, createClient, type GitHubClient } from './github-requests.ts'

/** What a client for one token needs. */
export type TokenClientDeps = ClientDeps & {
  readonly token: SecretString
  /** Where answers are remembered for conditional requests; `scope` names the installation. Absent: nothing is remembered. */
  readonly answers?: { readonly cache: AnswerCache; readonly scope: string }
}

type RequestParameters = Readonly<Record<string, string | number>>

type Options = {
  /** The token may have been minted just now (installation tokens); a person's token was used before. */
  readonly fresh: boolean
}

/** As `GitHubClient`, with the token. All throw AppError. */
export type TokenRequester = {
  /** What `read` finds in the answer of a GET: read again, or remembered where GitHub says that the answer is the same. */
  readonly get: <T>(route: string, parameters: RequestParameters, read: (data: unknown) => T) => Promise<T>
  readonly request: (route: string, parameters: Readonly<Record<string, unknown>>) => ReturnType<GitHubClient['request']>
  readonly all: (route: string, parameters: Readonly<Record<string, unknown>>) => ReturnType<GitHubClient['all']>
}

/** A fresh token counts as minted now. */
export function createTokenRequester(deps: TokenClientDeps, options: Options): TokenRequester {
  const client = createClient(deps, `token:${shortHash(deps.token.reveal(), 16)}`)
  const authorization = `Bearer ${deps.token.reveal()}`
  const mintedAt = deps.clock.now()

  const withRetries = <T>(work: () => Promise<T>): Promise<T> =>
    options.fresh ? untilTokenIsKnown({ clock: deps.clock, mintedAt, isRefused }, work) : work()

  const get = async <T>(route: string, parameters: RequestParameters, read: (data: unknown) => T): Promise<T> => {
    if (deps.answers === undefined) return read((await client.request(route, parameters, authorization)).data)
    const { cache, scope } = deps.answers
    const key = canonicalJson([scope, route, parameters])
    const known = cache.get(key)
    try {
      const answer = await client.rawUnless(known?.etag, route, parameters, authorization)
      if (answer === undefined && known !== undefined) {
        cache.set(key, known)
        // The key names the route, and each route has one reader.
        return known.value as T
      }
      const value = read(answer?.data)
      const etag = answer?.headers['etag']
      if (typeof etag === 'string') cache.set(key, { etag, value })
      return value
    } catch (error) {
      throw githubFailure(error, route, deps.clock.now())
    }
  }

  return {
    get: (route, parameters, read) => withRetries(() => get(route, parameters, read)),
    request: (route, parameters) => withRetries(() => client.request(route, parameters, authorization)),
    all: (route, parameters) => withRetries(() => client.all(route, parameters, authorization)),
  }
}

/** By a 401, or by a 403 that is neither a limit nor about the installation or the person. */
function isRefused(outcome: { readonly result: unknown } | { readonly error: unknown }): boolean {
  if (!('error' in outcome) || !isAppError(outcome.error)) return false
  const { code, reason } = outcome.error
  return reason === githubReasons.credentialRefused || (code === 'forbidden' && reason === undefined)
}
