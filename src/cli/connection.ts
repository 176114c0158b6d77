// The CLI's HTTP connection to the platform, for OIDC and for the API. It trusts the configured certificate authority.
import { readFileSync } from 'node:fs'
import { Agent, fetch as undiciFetch } from 'undici'
import { AppError, isAppError, messageOf } from '../lib/errors.ts'
import { withBoundedBody } from '../lib/http/bounded-body.ts'
import { defined } from '../lib/json/defined.ts'
import { isUnknownAuthority, validityProblem } from './certificate-error.ts'
import type { CliSettings } from './config.ts'

export type Connection = {
  readonly fetch: typeof fetch
  /** A response whose body is read as it comes; only its head has a time limit. Rejects with `unavailable` without one. */
  readonly open: (url: URL, headers: Readonly<Record<string, string>>) => Promise<Response>
  /** How far the platform's clock is ahead of ours, by the Date of its last answer; undefined before one. */
  readonly clockOffset: () => number | undefined
  readonly close: () => Promise<void>
}

const timeoutMilliseconds = 30_000
/** A page of a thousand audit entries is far smaller. */
const maxBytes = 64 * 1024 * 1024

function authority(caFile: string | undefined): string | undefined {
  if (caFile === undefined) return undefined
  try {
    return readFileSync(caFile, 'utf8')
  } catch (cause) {
    throw new AppError('invalid_request', `the file of --ca-file or SEKISHO_CA_FILE cannot be read: ${caFile}`, { cause })
  }
}

function unreachable(issuer: string, error: unknown): string {
  if (isUnknownAuthority(error))
    return `the certificate of ${issuer} is signed by an authority that is not trusted here: name its PEM file with --ca-file or SEKISHO_CA_FILE`
  const validity = validityProblem(error)
  if (validity !== undefined) return `the certificate of ${issuer} ${validity}`
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  return `${issuer} cannot be reached: ${messageOf(cause)}`
}

/**
 * `fetch` reads every response whole. Rejects with `unavailable` without one in time, `upstream_failed` for one that is larger
 * than `maxBytes`.
 */
export function createConnection(settings: Pick<CliSettings, 'issuer' | 'caFile'>): Connection {
  const ca = authority(settings.caFile)
  const agent = new Agent({
    headersTimeout: timeoutMilliseconds,
    bodyTimeout: timeoutMilliseconds,
    connect: { ...defined({ ca }), timeout: 10_000 },
  })
  let offset: number | undefined
  const noteTime = ({ headers }: Response): void => {
    const date = Date.parse(headers.get('date') ?? '')
    if (!Number.isNaN(date)) offset = date - Date.now()
  }
  const connected = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const address = input instanceof Request ? input.url : input
    const signal = AbortSignal.timeout(timeoutMilliseconds)
    try {
      // Only undici's own fetch accepts its agent; its types differ from the global ones in name only.
      const options = { ...init, redirect: 'manual', signal, dispatcher: agent } as unknown as Parameters<typeof undiciFetch>[1]
      const response = (await undiciFetch(address, options)) as unknown as Response
      noteTime(response)
      return await withBoundedBody(
        response,
        maxBytes,
        () => new AppError('upstream_failed', `the response of ${settings.issuer} is larger than ${maxBytes} bytes`),
      )
    } catch (cause) {
      if (isAppError(cause)) throw cause
      throw new AppError('unavailable', unreachable(settings.issuer, cause), { cause })
    }
  }
  const open = async (url: URL, headers: Readonly<Record<string, string>>): Promise<Response> => {
    try {
      const options = { headers, redirect: 'manual', dispatcher: agent } as unknown as Parameters<typeof undiciFetch>[1]
      const response = (await undiciFetch(url, options)) as unknown as Response
      noteTime(response)
      return response
    } catch (cause) {
      throw new AppError('unavailable', unreachable(settings.issuer, cause), { cause })
    }
  }
  return { fetch: connected as typeof fetch, open, clockOffset: () => offset, close: () => agent.close() }
}
