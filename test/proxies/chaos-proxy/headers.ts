// The headers that pass the proxy in either direction. Bodies are never compressed: the proxy reads them.
import type { IncomingHttpHeaders } from 'node:http'
import type { Upstream } from './upstream.ts'

type Headers = Readonly<Record<string, string | string[] | undefined>>

const ofConnection = ['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'expect', 'host', 'accept-encoding']
const toApiServer = ['accept', 'content-type', 'user-agent']
const fromApiServer = ['content-type', 'retry-after', 'warning', 'audit-id']

export function requestHeaders(
  headers: IncomingHttpHeaders,
  { isOpen, isSigned, authorization }: Upstream,
): Record<string, string | string[]> {
  const { host } = headers
  const passed = {
    ...Object.fromEntries(passing(headers, isOpen === true ? undefined : toApiServer)),
    ...(isSigned === true && host !== undefined ? { host } : {}),
  }
  return authorization === undefined ? passed : { ...passed, authorization }
}

/** A link to the next page leads through the proxy as well. */
export function answerHeaders(
  headers: Headers,
  { isOpen, server }: Upstream,
  proxy: string,
): readonly (readonly [string, string | string[]])[] {
  return passing(headers, isOpen === true ? undefined : fromApiServer).map(([name, value]) => [
    name,
    name === 'link' && typeof value === 'string' ? value.replaceAll(server.origin, proxy) : value,
  ])
}

function passing(headers: Headers, only: readonly string[] | undefined): readonly (readonly [string, string | string[]])[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    const passes = only === undefined ? !ofConnection.includes(name) : only.includes(name)
    return value === undefined || !passes ? [] : [[name, value] as const]
  })
}
