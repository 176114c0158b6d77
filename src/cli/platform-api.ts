// The broker's API as the CLI uses it: bearer is the person's ID token; answers are checked before they are believed.
import { AppError } from '../lib/errors.ts'
import { redactTokens } from '../lib/log.ts'
import type { Connection } from './connection.ts'

export type PlatformApi = {
  readonly json: (path: string, query?: URLSearchParams) => Promise<unknown>
  /** One JSON value per line. */
  readonly lines: (path: string, query: URLSearchParams) => Promise<readonly unknown[]>
}

function messageIn(text: string): string | undefined {
  try {
    const body: unknown = JSON.parse(text)
    if (typeof body !== 'object' || body === null || !('error' in body)) return undefined
    const { error } = body
    return typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : undefined
  } catch {
    return undefined
  }
}

function failure(status: number, text: string): AppError {
  const message = redactTokens(messageIn(text) ?? `the platform answered ${status}`).slice(0, 500)
  if (status === 401) return new AppError('unauthenticated', message)
  if (status === 403) return new AppError('forbidden', message)
  if (status === 404) return new AppError('not_found', message)
  if (status === 429) return new AppError('too_many_requests', message)
  if (status < 400) return new AppError('upstream_failed', message)
  return status >= 500 ? new AppError('unavailable', message) : new AppError('invalid_request', message)
}

function parsed(text: string, path: string, issuer: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new AppError('upstream_failed', `the answer to ${path} is no JSON: is ${issuer} a Sekisho platform?`, { cause })
  }
}

export function createPlatformApi(issuer: string, idToken: string, connection: Connection): PlatformApi {
  const fetchText = async (path: string, query: URLSearchParams | undefined, accept: string): Promise<string> => {
    const url = new URL(path, issuer)
    if (query) url.search = query.toString()
    const response = await connection.fetch(url, { headers: { authorization: `Bearer ${idToken}`, accept } })
    const text = await response.text()
    if (response.status >= 300) throw failure(response.status, text)
    return text
  }
  return {
    json: async (path, query) => parsed(await fetchText(path, query, 'application/json'), path, issuer),
    lines: async (path, query) =>
      (await fetchText(path, query, 'application/x-ndjson'))
        .split('\n')
        .filter(line => line !== '')
        .map(line => parsed(line, path, issuer)),
  }
}
