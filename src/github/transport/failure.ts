// Converts Octokit's errors to AppError. Messages name the route, and never the URL's values, a body or a token; Octokit's
// error is not kept as the cause, because it carries the request with its headers and body.
// Source: https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api and .../rate-limits-for-the-rest-api
import { AppError, isAppError, messageOf } from '../../lib/errors.ts'
import { retryAfterSeconds } from '../../lib/http/retry-after.ts'
import { redactTokens } from '../../lib/log.ts'

/** `AppError.reason` of errors from this client, where callers distinguish them. */
export const githubReasons = {
  credentialRefused: 'CredentialRefused',
  rateLimited: 'RateLimited',
  paced: 'PacedByPlatform',
  suspended: 'InstallationSuspended',
  repositoryNotAccessible: 'RepositoryNotAccessible',
  permissionNotGranted: 'PermissionNotGranted',
  requestRefused: 'RequestRefused',
  unreachable: 'GitHubUnreachable',
  singleSignOnNeeded: 'SingleSignOnNeeded',
} as const

/** What each reason says; for docs/reference/errors.md. */
export const githubReasonTexts: Readonly<Record<(typeof githubReasons)[keyof typeof githubReasons], string>> = {
  CredentialRefused: 'GitHub does not accept the token or the private key of the App, or does not accept it any more (401).',
  RateLimited: 'GitHub limits the rate of requests (429, or 403 with a wait). The platform waits as long as GitHub demands.',
  PacedByPlatform:
    'The platform does not ask GitHub for more tokens of the App or of the installation at the moment, so that GitHub does not limit them.',
  InstallationSuspended: 'The installation of the App is suspended on GitHub.',
  RepositoryNotAccessible:
    'A requested repository does not exist or does not belong to the installation. GitHub does not say which.',
  PermissionNotGranted: 'The installation does not have a requested permission.',
  RequestRefused: 'GitHub refused the request for another reason. The message has its status and text.',
  GitHubUnreachable: 'GitHub does not answer, or answers with a server error.',
  SingleSignOnNeeded: 'The person must first sign in to the organization on GitHub by SAML single sign-on.',
}

type Headers = Readonly<Record<string, string | number | undefined>>

/** The part of Octokit's RequestError that is read; `response` is absent without an answer. */
type Failure = {
  readonly status: number
  readonly message: string
  readonly response?: { readonly headers: Headers; readonly data: unknown }
}

/** The HTTP status of GitHub's answer; undefined for an error without an answer. */
export function statusOf(error: unknown): number | undefined {
  return isFailure(error) && error.response ? error.status : undefined
}

/** The headers of GitHub's answer; empty for an error without an answer. */
export function headersOf(error: unknown): Headers {
  return isFailure(error) ? (error.response?.headers ?? {}) : {}
}

/** The AppError for anything that a request threw. `route` is the template, such as `GET /repos/{owner}/{repo}`. */
export function githubFailure(error: unknown, route: string, now: Date): AppError {
  if (error instanceof AppError) return error
  const inner = error instanceof Error ? error.cause : undefined
  if (inner instanceof AppError) return inner
  if (!isFailure(error) || !error.response)
    return new AppError('unavailable', `GitHub cannot be reached for ${route}: ${bounded(messageOf(error))}`, {
      reason: githubReasons.unreachable,
    })
  const { headers } = error.response
  const text = `GitHub answered ${error.status} to ${route}: ${bounded(messageIn(error.response.data))}`
  return classified(error.status, headers, text, now)
}

function classified(status: number, headers: Headers, text: string, now: Date): AppError {
  const limited = limitedSeconds(status, headers, text, now)
  if (limited !== undefined)
    return new AppError('too_many_requests', text, { reason: githubReasons.rateLimited, retryAfterSeconds: limited })
  if (status === 401) return new AppError('upstream_failed', text, { reason: githubReasons.credentialRefused })
  if (status === 404 || status === 410) return new AppError('not_found', text)
  if (status === 403) return new AppError('forbidden', text, reasonOfForbidden(headers, text))
  if (status === 422 && /permission/i.test(text))
    return new AppError('forbidden', text, { reason: githubReasons.permissionNotGranted })
  if (status === 422 && /repositor/i.test(text))
    return new AppError('not_found', text, { reason: githubReasons.repositoryNotAccessible })
  if (status >= 500)
    return new AppError('unavailable', text, {
      reason: githubReasons.unreachable,
      retryAfterSeconds: waitSeconds(headers, now) ?? 5,
    })
  return new AppError('upstream_failed', text, { reason: githubReasons.requestRefused })
}

/**
 * What `read` finds; undefined when GitHub has no such thing or refuses to read it: 409 for an empty repository, 422 for commits
 * without a common ancestor, 451 for a blocked repository.
 */
export async function orUndefined<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (isAppError(error, 'not_found') || (isAppError(error) && error.reason === githubReasons.requestRefused)) return undefined
    throw error
  }
}

/** The seconds for which GitHub's answer asks us to wait, a minute when it does not say; undefined when it does not limit us. */
export function limitedSeconds(status: number, headers: Headers, text: string, now: Date): number | undefined {
  const wait = waitSeconds(headers, now)
  if (status === 429 || (status === 403 && (wait !== undefined || /secondary rate/i.test(text)))) return wait ?? 60
  return undefined
}

function reasonOfForbidden(headers: Headers, text: string): { readonly reason?: string } {
  if (headers['x-github-sso'] !== undefined) return { reason: githubReasons.singleSignOnNeeded }
  return /suspended/i.test(text) ? { reason: githubReasons.suspended } : {}
}

/** Retry-After wins over the reset of an exhausted rate limit; undefined when GitHub does not ask us to wait. */
function waitSeconds(headers: Headers, now: Date): number | undefined {
  const asked = headers['retry-after']
  const retryAfter = retryAfterSeconds(asked === undefined ? undefined : String(asked), now)
  if (retryAfter !== undefined && retryAfter > 0) return retryAfter
  if (String(headers['x-ratelimit-remaining'] ?? '') !== '0') return undefined
  const reset = Number(headers['x-ratelimit-reset'])
  return Number.isFinite(reset) ? Math.max(1, Math.ceil(reset - now.getTime() / 1000) + 1) : 60
}

function isFailure(error: unknown): error is Failure {
  return error instanceof Error && 'status' in error && typeof error.status === 'number'
}

function messageIn(data: unknown): string {
  if (typeof data === 'object' && data !== null && 'message' in data) return String(data.message)
  return 'no message'
}

function bounded(text: string): string {
  return redactTokens(text).slice(0, 200)
}
