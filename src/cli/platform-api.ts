// The broker's API for the CLI. Requests carry the user's ID token; the callers check the responses before they use them.
import { AppError } from '../lib/errors.ts'
import { objectAt, parseJson, textAt } from '../lib/json/json-value.ts'
import { redactTokens } from '../lib/log.ts'
import type { Connection } from './connection.ts'

export type PlatformApi = {
  /** Rejects with an AppError for any status except 2xx, and for a response that is not JSON. */
  readonly json: (path: string, query?: URLSearchParams) => Promise<unknown>
  /** Sends a JSON body. Rejects as `json` does. */
  readonly post: (path: string, body: object) => Promise<unknown>
  /** One JSON value per line. Rejects as `json` does. */
  readonly lines: (path: string, query: URLSearchParams) => Promise<readonly unknown[]>
}

function failure(status: number, text: string): AppError {
  const given = textAt(objectAt(parseJson(text), 'error'), 'message')
  const message = redactTokens(given ?? `the platform responded with status ${status}`).slice(0, 500)
  if (status === 401) return new AppError('unauthenticated', message)
  if (status === 403) return new AppError('forbidden', message)
  if (status === 404) return new AppError('not_found', message)
  if (status === 409) return new AppError('conflict', message)
  if (status === 429) return new AppError('too_many_requests', message)
  if (status < 400) return new AppError('upstream_failed', message)
  return status >= 500 ? new AppError('unavailable', message) : new AppError('invalid_request', message)
}

function parsed(text: string, path: string, issuer: string): unknown {
  const value = parseJson(text)
  if (value !== undefined) return value
  throw new AppError('upstream_failed', `the response to ${path} is not JSON: is ${issuer} a Sekisho platform?`)
}

/** Sends requests over the connection, which it does not close. */
export function createPlatformApi(issuer: string, idToken: string, connection: Connection): PlatformApi {
  const fetchText = async (path: string, query: URLSearchParams | undefined, accept: string, body?: object): Promise<string> => {
    const url = new URL(path, issuer)
    if (query) url.search = query.toString()
    const headers = { authorization: `Bearer ${idToken}`, accept }
    const response = await connection.fetch(
      url,
      body === undefined
        ? { headers }
        : { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) },
    )
    const text = await response.text()
    if (response.status >= 300) throw failure(response.status, text)
    return text
  }
  return {
    json: async (path, query) => parsed(await fetchText(path, query, 'application/json'), path, issuer),
    post: async (path, body) => parsed(await fetchText(path, undefined, 'application/json', body), path, issuer),
    lines: async (path, query) =>
      (await fetchText(path, query, 'application/x-ndjson'))
        .split('\n')
        .filter(line => line !== '')
        .map(line => parsed(line, path, issuer)),
  }
}
