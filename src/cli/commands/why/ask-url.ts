// One request to the URL of an Application from this computer, as a browser would send it. Redirects are not followed.
import { lookup as systemLookup } from 'node:dns'
import { type IncomingMessage, request as plainRequest, type RequestOptions } from 'node:http'
import { request as secureRequest } from 'node:https'
import type { LookupFunction } from 'node:net'
import { messageOf } from '../../../lib/errors.ts'
import { readAtMost } from '../../../lib/http/byte-stream.ts'
import { causeCode, isUnknownAuthority } from '../../certificate-error.ts'
import type { UrlAnswer } from './facts.ts'

const timeoutMilliseconds = 10_000
const maxBytes = 4096
/** What ingress controllers answer for a host that they do not know: Traefik, ingress-nginx. */
const noRouteTexts: ReadonlySet<string> = new Set(['404 page not found', 'default backend - 404'])

/** Names below localhost are this computer (RFC 6761, section 6.3), which not every resolver knows. */
export const lookup: LookupFunction = (host, options, done) => {
  if (!/(^|\.)localhost$/.test(host)) return systemLookup(host, options, done)
  if (options.all === true) return done(null, [{ address: '127.0.0.1', family: 4 }])
  return done(null, '127.0.0.1', 4)
}

function send(url: URL): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options: RequestOptions = {
      lookup,
      headers: { 'user-agent': 'sekisho' },
      signal: AbortSignal.timeout(timeoutMilliseconds),
    }
    const request = (url.protocol === 'https:' ? secureRequest : plainRequest)(url, options, resolve)
    request.once('error', reject)
    request.end()
  })
}

/** Never rejects. */
export async function askUrl(text: string): Promise<UrlAnswer> {
  const url = new URL(text)
  const began = performance.now()
  try {
    const response = await send(url)
    const milliseconds = Math.round(performance.now() - began)
    const status = response.statusCode ?? 0
    const { location } = response.headers
    const body = status === 404 ? ((await readAtMost(maxBytes, response))?.toString('utf8') ?? '') : ''
    response.destroy()
    return { kind: 'response', status, milliseconds, noRoute: noRouteTexts.has(body.trim()), location }
  } catch (error) {
    const code = causeCode(error)
    if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return { kind: 'unresolved', host: url.hostname }
    if (isUnknownAuthority(error)) return { kind: 'untrusted', host: url.hostname }
    if (error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError'))
      return { kind: 'unanswered', text: `no answer within ${timeoutMilliseconds / 1000} s` }
    return { kind: 'unanswered', text: `no answer: ${code ?? messageOf(error)}` }
  }
}
