// The only place that constructs an Octokit. It pins the API version, bounds every request, retries what may be retried, and
// obeys GitHub's rate limits: it waits for short ones; long ones become `too_many_requests`, so that the caller's queue waits
// instead.
// Source: https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api
import { Octokit } from '@octokit/core'
import { paginateRest } from '@octokit/plugin-paginate-rest'
import { retry } from '@octokit/plugin-retry'
import { throttling } from '@octokit/plugin-throttling'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { defined } from '../../lib/json/defined.ts'
import type { Log } from '../../lib/log.ts'
import type { GitHubEndpoints } from '../endpoints.ts'
import { createBoundedFetch, type Fetch } from './bounded-fetch.ts'
import type { Circuit } from './circuit.ts'
import { githubFailure, statusOf } from './failure.ts'
import { type GitHubObserver, observedFetch } from './observed-fetch.ts'

export type ClientDeps = {
  readonly endpoints: GitHubEndpoints
  readonly log: Log
  readonly clock: Clock
  /** Replaced by tests; the platform's own fetch otherwise. */
  readonly fetch?: Fetch
  /** Shared by clients that should stop sending together while GitHub is unreachable. */
  readonly circuit?: Circuit
  /** Learns of every answer. */
  readonly observe?: GitHubObserver
}

type Parameters = Readonly<Record<string, unknown>>
type Answer = { readonly data: unknown; readonly headers: Readonly<Record<string, string | number | undefined>> }

/** Requests by route template and parameters; each carries its own credential. */
export type GitHubClient = {
  /** One request; throws Octokit's error, for `githubFailure`. `authorization` is the whole header value. */
  readonly raw: (route: string, parameters: Parameters, authorization: string) => Promise<Answer>
  /** As `raw`; undefined when GitHub's answer still has the entity tag (304). Without a tag it never is. */
  readonly rawUnless: (
    etag: string | undefined,
    route: string,
    parameters: Parameters,
    authorization: string,
  ) => Promise<Answer | undefined>
  /** One request; throws AppError. */
  readonly request: (route: string, parameters: Parameters, authorization: string) => Promise<Answer>
  /** All pages of a list, at most `maxItems`; a longer list is an `upstream_failed` and is never truncated. Throws AppError. */
  readonly all: (route: string, parameters: Parameters, authorization: string) => Promise<readonly unknown[]>
}

const apiVersion = '2022-11-28'
const maxSleepSeconds = 3
const maxItems = 5000

const LimitedOctokit = Octokit.plugin(retry, throttling, paginateRest)

/** `bucket` names the owner of a rate limit (an App, a token): requests of one bucket queue behind each other. */
export function createClient(deps: ClientDeps, bucket: string): GitHubClient {
  const unobserved = createBoundedFetch(deps.endpoints.api, deps.fetch)
  const bounded = deps.observe === undefined ? unobserved : observedFetch(unobserved, deps.observe, deps.clock)
  const octokit = new LimitedOctokit({
    baseUrl: deps.endpoints.api,
    userAgent: 'sekisho',
    request: { fetch: deps.circuit?.guard(bounded) ?? bounded },
    log: octokitLog(deps.log),
    retry: { retries: 2, retryAfterBaseValue: 250 },
    throttle: {
      id: bucket,
      onRateLimit: (seconds: number, _options: object, _octokit: unknown, count: number) => worthSleeping(seconds, count),
      onSecondaryRateLimit: (seconds: number, _options: object, _octokit: unknown, count: number) =>
        worthSleeping(seconds, count),
    },
  })
  const withHeaders = (parameters: Parameters, authorization: string, etag?: string): Record<string, unknown> => ({
    ...parameters,
    headers: {
      authorization,
      'x-github-api-version': apiVersion,
      accept: 'application/vnd.github+json',
      ...defined({ 'if-none-match': etag }),
    },
  })
  const raw: GitHubClient['raw'] = (route, parameters, authorization) =>
    octokit.request(route, withHeaders(parameters, authorization))
  return {
    raw,
    async rawUnless(etag, route, parameters, authorization) {
      try {
        return await octokit.request(route, withHeaders(parameters, authorization, etag))
      } catch (error) {
        if (etag !== undefined && statusOf(error) === 304) return undefined
        throw error
      }
    },
    async request(route, parameters, authorization) {
      try {
        return await raw(route, parameters, authorization)
      } catch (error) {
        throw githubFailure(error, route, deps.clock.now())
      }
    },
    async all(route, parameters, authorization) {
      const items: unknown[] = []
      try {
        const pages = octokit.paginate.iterator(route, withHeaders({ per_page: 100, ...parameters }, authorization))
        for await (const page of pages) {
          items.push(...page.data)
          if (items.length > maxItems)
            throw new AppError('upstream_failed', `GitHub lists more than ${maxItems} items for ${route}`)
        }
      } catch (error) {
        throw githubFailure(error, route, deps.clock.now())
      }
      return items
    },
  }
}

function worthSleeping(seconds: number, count: number): boolean {
  return count < 1 && seconds <= maxSleepSeconds
}

function octokitLog(log: Log) {
  const write = (level: 'debug' | 'info' | 'error') => (text: string) => log[level]({ text }, 'octokit')
  return { debug: write('debug'), info: write('info'), warn: write('info'), error: write('error') }
}
