// The broker's API for the CLI. Requests carry the user's ID token, or the token of a program; the callers check the responses
// before they use them.
import { AppError } from '../lib/errors.ts'
import { lineBatches } from '../lib/http/byte-stream.ts'
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
  /**
   * As `lines`, as they come: values that came together are one batch. Ends where the connection ends, also when it breaks.
   * Rejects as `json` does for what is not a log, after all values before it.
   */
  readonly follow: (path: string, query: URLSearchParams) => AsyncIterable<readonly unknown[]>
}

/** A line has a piece of a log, which is smaller, as JSON. */
const maxLine = 4 * 1024 * 1024

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
  throw notJson(path, issuer)
}

function notJson(path: string, issuer: string): AppError {
  return new AppError('upstream_failed', `the response to ${path} is not JSON: is ${issuer} a Sekisho platform?`)
}

/** Sends requests over the connection, which it does not close. */
export function createPlatformApi(issuer: string, bearer: string, connection: Connection): PlatformApi {
  const fetchText = async (path: string, query: URLSearchParams | undefined, accept: string, body?: object): Promise<string> => {
    const url = new URL(path, issuer)
    if (query) url.search = query.toString()
    const headers = { authorization: `Bearer ${bearer}`, accept }
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
  async function* follow(path: string, query: URLSearchParams): AsyncGenerator<readonly unknown[]> {
    const url = new URL(path, issuer)
    url.search = query.toString()
    const response = await connection.open(url, { authorization: `Bearer ${bearer}`, accept: 'application/x-ndjson' })
    if (response.status >= 300) throw failure(response.status, await response.text())
    const body = response.body as AsyncIterable<Uint8Array> | null
    for await (const lines of lineBatches(maxLine, untilItBreaks(body ?? []))) {
      const values = lines.map(parseJson)
      const bad = values.indexOf(undefined)
      if (bad !== 0) yield bad === -1 ? values : values.slice(0, bad)
      if (bad !== -1) throw notJson(path, issuer)
    }
  }

  return {
    follow,
    json: async (path, query) => parsed(await fetchText(path, query, 'application/json'), path, issuer),
    post: async (path, body) => parsed(await fetchText(path, undefined, 'application/json', body), path, issuer),
    lines: async (path, query) =>
      (await fetchText(path, query, 'application/x-ndjson'))
        .split('\n')
        .filter(line => line !== '')
        .map(line => parsed(line, path, issuer)),
  }
}

/** A stream that breaks ends: the reader knows what it has, and asks for the rest. */
async function* untilItBreaks(stream: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* stream
  } catch (error) {
    // Only undici's errors end it: they say that the connection broke.
    if (!(error instanceof TypeError)) throw error
  }
}
