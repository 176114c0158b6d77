// Whether the caller already has the response: ETag, Last-Modified and the 304 that they allow. It never sends anything.
// https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#use-conditional-requests-if-appropriate
import { createHash } from 'node:crypto'
import { defined } from '../../../../src/lib/json/defined.ts'
import type { RestAnswer } from './answer.ts'

type Headers = Readonly<Record<string, string | string[] | undefined>>

function text(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value
}

/** Equal JSON can be serialised differently, so its tag is weak. */
function etagOf(answer: RestAnswer): string {
  return `W/"${createHash('sha256').update(JSON.stringify(answer.body)).digest('hex')}"`
}

function lastModifiedOf(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || !('updated_at' in body) || typeof body.updated_at !== 'string')
    return undefined
  const at = Date.parse(body.updated_at)
  return Number.isNaN(at) ? undefined : new Date(at).toUTCString()
}

/** Headers with which the caller can make a conditional request next time. */
export function conditionalHeaders(answer: RestAnswer): Record<string, string> {
  const lastModified = lastModifiedOf(answer.body)
  return {
    etag: etagOf(answer),
    ...defined({ 'last-modified': lastModified }),
    'cache-control': 'private, max-age=60, s-maxage=60',
    vary: 'Accept, Authorization, Cookie, X-GitHub-OTP',
  }
}

function opaque(tag: string): string {
  return tag.trim().replace(/^W\//, '')
}

/** RFC 9110 §13.2.2: If-None-Match by weak comparison; If-Modified-Since only without it. */
export function notModified(asked: Headers, sent: Readonly<Record<string, string>>): boolean {
  const wanted = text(asked['if-none-match'])
  if (wanted !== undefined) return wanted.split(',').some(one => one.trim() === '*' || opaque(one) === opaque(sent['etag'] ?? ''))
  const since = Date.parse(text(asked['if-modified-since']) ?? '')
  return !Number.isNaN(since) && sent['last-modified'] !== undefined && Date.parse(sent['last-modified']) <= since
}
