// Requests with one bearer token. GitHub may refuse a token that is seconds old because not all of its servers know it yet;
// such a refusal is retried a few times (octokit/auth-app.js does the same for its own tokens). The refusal of an older token
// is final.
import { createHash } from 'node:crypto'
import { isAppError } from '../../lib/errors.ts'
import { canonicalJson } from '../../lib/json/canonical-json.ts'
import type { SecretString } from '../../lib/secret-string.ts'
import type { AnswerCache } from './answer-cache.ts'
import { githubFailure, githubReasons } from './failure.ts'
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
