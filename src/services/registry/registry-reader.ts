// Reads from the registry that holds the tenants' images, deletes manifests by digest, and puts a manifest under a tag; nothing
// else is changed there. It authenticates as the registry asks: with a token that the platform signs itself, or by the
// challenge of a registry with its own accounts. Bounded in time, size and redirects.
// Source: https://distribution.github.io/distribution/spec/auth/token/, https://github.com/opencontainers/distribution-spec
// (Content Management)
import { Agent, type Dispatcher, request } from 'undici'
import { messageOf } from '../../lib/errors.ts'
import { readAtMost } from '../../lib/http/byte-stream.ts'
import { redactTokens } from '../../lib/log.ts'
import type { Credential } from './credentials.ts'
import type { RepositoryAction } from './repository.ts'
import { maxTokenBytes, tokenIn, tokenUrl } from './token-challenge.ts'

export type RegistryRead = {
  readonly repository: string
  /** Below `/v2/<repository>/`. */
  readonly path: string
  readonly accept: readonly string[]
  readonly maxBytes: number
}

export type RegistryReply =
  /** `bytes` is undefined when the body is larger than allowed; `more`: a list that the registry cut. */
  | { readonly kind: 'answered'; readonly status: number; readonly bytes: Buffer | undefined; readonly more?: boolean }
  | { readonly kind: 'failed'; readonly message: string }

export type RegistryReader = (read: RegistryRead) => Promise<RegistryReply>

/** Deletes the manifest of this digest, and with it every tag of the repository that means it. */
export type ManifestRemover = (manifest: { readonly repository: string; readonly digest: string }) => Promise<RegistryReply>

/** Puts a manifest, whose layers the repository has, under the tag. */
export type ManifestWriter = (manifest: {
  readonly repository: string
  readonly tag: string
  readonly mediaType: string
  readonly bytes: Buffer
}) => Promise<RegistryReply>

export type ReaderAuthorization = {
  /** A token for these actions on the repository, signed by the platform itself. */
  readonly tokenFor?: (repository: string, actions: readonly RepositoryAction[]) => Promise<string>
  /** The account for a repository, in a registry that brings its own accounts. */
  readonly credentialFor?: (repository: string) => Promise<Credential | undefined>
}

const timeoutMilliseconds = 10_000
type Method = 'GET' | 'DELETE' | 'PUT'
const maxRedirects: Readonly<Record<Method, number>> = { GET: 3, DELETE: 0, PUT: 0 }
/** What each asks for. Whoever pushes also reads what is there (distribution's token authentication). */
const actionsOf: Readonly<Record<Method, readonly RepositoryAction[]>> = {
  GET: ['pull'],
  DELETE: ['delete'],
  PUT: ['pull', 'push'],
}

/** `close` ends the connections; it may be called again. */
export function createRegistryReader(
  host: string,
  authorization: ReaderAuthorization,
): {
  readonly read: RegistryReader
  readonly remove: ManifestRemover
  readonly write: ManifestWriter
  /** Whether the registry speaks HTTP without TLS. Rejects while it does not answer. */
  readonly plainHttp: () => Promise<boolean>
  readonly close: () => Promise<void>
} {
  const dispatcher = new Agent({
    connections: 8,
    keepAliveTimeout: 60_000,
    connect: { timeout: timeoutMilliseconds },
    headersTimeout: timeoutMilliseconds,
    bodyTimeout: timeoutMilliseconds,
  })
  const send = createSend(dispatcher)
  const get: Get = (url, headers, maxBytes) => send({ method: 'GET', url, headers, maxBytes })
  let base: Promise<string> | undefined
  const baseUrl = async (): Promise<string> => {
    base ??= findScheme(get, host)
    try {
      return await base
    } catch (error) {
      base = undefined
      throw error
    }
  }

  type Authorized = Pick<RegistryRead, 'repository' | 'path' | 'maxBytes'> & {
    readonly method: Method
    readonly headers: Readonly<Record<string, string>>
    readonly body?: Buffer
  }

  async function authorized({ repository, path, ...asked }: Authorized): Promise<RegistryReply> {
    const { method, headers } = asked
    const actions = actionsOf[method]
    try {
      const url = `${await baseUrl()}/v2/${repository}/${path}`
      const token = await authorization.tokenFor?.(repository, actions)
      const first = await send({ ...asked, url, headers: { ...headers, ...(token === undefined ? {} : bearer(token)) } })
      if (first.status !== 401 || token !== undefined) return replyOf(first)
      const answered = await answerChallenge(`repository:${repository}:${actions.join(',')}`, repository, first.challenge)
      if (answered === undefined) return replyOf({ ...first, bytes: undefined })
      return replyOf(await send({ ...asked, url, headers: { ...headers, authorization: answered } }))
    } catch (error) {
      return { kind: 'failed', message: redactTokens(messageOf(error)).slice(0, 200) }
    }
  }

  /** The header that the registry asks for; undefined without an account. */
  async function answerChallenge(scope: string, repository: string, challenge: string): Promise<string | undefined> {
    const credential = await authorization.credentialFor?.(repository)
    if (credential === undefined) return undefined
    const basic = basicHeader(credential)
    if (!/^Bearer /i.test(challenge)) return basic
    const url = tokenUrl(challenge, scope, () => true)
    if (url === undefined) return undefined
    const { status, bytes } = await get(url.href, { authorization: basic }, maxTokenBytes)
    const token = tokenIn(status, bytes)
    return token === undefined ? undefined : bearer(token).authorization
  }

  let closed: Promise<void> | undefined
  return {
    read: ({ repository, path, accept, maxBytes }) =>
      authorized({ method: 'GET', repository, path, headers: { accept: accept.join(', ') }, maxBytes }),
    remove: ({ repository, digest }) =>
      authorized({ method: 'DELETE', repository, path: `manifests/${digest}`, headers: {}, maxBytes: maxTokenBytes }),
    write: ({ repository, tag, mediaType, bytes }) =>
      authorized({
        method: 'PUT',
        repository,
        path: `manifests/${tag}`,
        headers: { 'content-type': mediaType },
        body: bytes,
        maxBytes: maxTokenBytes,
      }),
    plainHttp: async () => (await baseUrl()).startsWith('http://'),
    close() {
      closed ??= dispatcher.destroy()
      return closed
    },
  }
}

function bearer(token: string): { readonly authorization: string } {
  return { authorization: `Bearer ${token}` }
}

function basicHeader({ username, password }: Credential): string {
  return `Basic ${Buffer.from(`${username}:${password.reveal()}`).toString('base64')}`
}

type Got = { readonly status: number; readonly challenge: string; readonly more: boolean; readonly bytes: Buffer | undefined }
type Get = (url: string, headers: Readonly<Record<string, string>>, maxBytes: number) => Promise<Got>
type Send = (sent: {
  readonly method: Method
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Buffer
  readonly maxBytes: number
}) => Promise<Got>

function replyOf({ status, bytes, more }: Got): RegistryReply {
  return { kind: 'answered', status, bytes, more }
}

function withoutCredential({ authorization: _, ...others }: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return others
}

/** Follows redirects of GET, which registries use for blobs; the credential goes to the first origin only. */
function createSend(dispatcher: Dispatcher): Send {
  return async ({ method, url, headers, body = null, maxBytes }) => {
    let target = new URL(url)
    let sent: Readonly<Record<string, string>> = headers
    for (let redirects = 0; ; redirects++) {
      const answer = await request(target, { dispatcher, method, headers: sent, body })
      const { location } = answer.headers
      const isRedirect = answer.statusCode >= 300 && answer.statusCode < 400
      if (!isRedirect || typeof location !== 'string' || redirects >= maxRedirects[method]) return gotOf(answer, maxBytes)
      await answer.body.dump()
      const next = new URL(location, target)
      if (next.origin !== target.origin) sent = withoutCredential(sent)
      target = next
    }
  }
}

async function gotOf({ statusCode, headers, body }: Dispatcher.ResponseData, maxBytes: number): Promise<Got> {
  const challenge = headers['www-authenticate']
  return {
    status: statusCode,
    challenge: typeof challenge === 'string' ? challenge : '',
    more: headers['link'] !== undefined,
    bytes: await readAtMost(maxBytes, body),
  }
}

/** The addresses with which builders use plain HTTP when there is no TLS: loopback, RFC 1918, `localhost` and `*.local`. */
const mayBePlain =
  /^(localhost|127(\.\d+){3}|\[::1\]|10(\.\d+){3}|192\.168(\.\d+){2}|172\.(1[6-9]|2\d|3[01])(\.\d+){2}|[^:]+\.local)(:\d+)?$/

/** HTTPS, except at a private address that does not speak it: as kpack and the lifecycle choose. */
async function findScheme(get: Get, host: string): Promise<string> {
  if (!mayBePlain.test(host)) return `https://${host}`
  try {
    await get(`https://${host}/v2/`, {}, maxTokenBytes)
    return `https://${host}`
  } catch {
    await get(`http://${host}/v2/`, {}, maxTokenBytes)
    return `http://${host}`
  }
}
