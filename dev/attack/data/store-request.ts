// Requests to a store of objects as the holder of a key, byte for byte as they are asked for: a client of S3 could set right
// what an attack needs wrong.
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
import { createHash, createHmac } from 'node:crypto'
import type { Http, HttpAnswer } from '../world/http.ts'
import { type Credential, valueIn } from './credential.ts'

export type StoreRequest = {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  /** Of the bucket when there is none. */
  readonly key?: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: string
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

/** As RFC 3986 has it; slashes, too. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, sign => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
}

/** In the bucket of the credential. */
export function askStore(http: Http, credential: Credential, asked: StoreRequest, now = new Date()): Promise<HttpAnswer> {
  const { url, headers } = signedRequest(credential, asked, now)
  return http.send(url, { method: asked.method, headers, ...(asked.body !== undefined && { body: asked.body }) })
}

export function signedRequest(
  credential: Credential,
  { method, key, query = {}, body = '' }: StoreRequest,
  now: Date,
): { readonly url: string; readonly headers: Readonly<Record<string, string>> } {
  const { origin, host } = new URL(valueIn(credential, 'endpoint'))
  const parts = [valueIn(credential, 'bucket'), ...(key?.split('/') ?? [])]
  const path = `/${parts.map(encoded).join('/')}`
  const search = Object.entries(query)
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .toSorted()
    .join('&')
  const time = now.toISOString().replace(/[-:]|[.]\d+/g, '')
  const scope = [time.slice(0, 8), valueIn(credential, 'region'), 's3', 'aws4_request']
  const signed: Readonly<Record<string, string>> = {
    ...(method === 'POST' && { 'content-md5': createHash('md5').update(body).digest('base64') }),
    host,
    'x-amz-content-sha256': sha256(body),
    'x-amz-date': time,
  }
  const names = Object.keys(signed).join(';')
  const lines = Object.entries(signed).map(([name, value]) => `${name}:${value}\n`)
  const request = [method, path, search, lines.join(''), names, sha256(body)].join('\n')
  const text = ['AWS4-HMAC-SHA256', time, scope.join('/'), sha256(request)].join('\n')
  const signingKey = scope.reduce<string | Buffer>(
    (last, part) => hmac(last, part),
    `AWS4${valueIn(credential, 'secret-access-key')}`,
  )
  const signature = hmac(signingKey, text).toString('hex')
  const authorization = `AWS4-HMAC-SHA256 Credential=${valueIn(credential, 'access-key-id')}/${scope.join('/')}, SignedHeaders=${names}, Signature=${signature}`
  return { url: `${origin}${path}${search === '' ? '' : `?${search}`}`, headers: { ...signed, authorization } }
}
