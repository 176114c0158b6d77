// Asks a registry which image a tag means: a HEAD request for the manifest, without any credential of the platform or of a
// tenant. Redirects are not followed, and the token server is asked only where the list allows it. Bounded in time and size.
// What it says about a failure are words and numbers of its own: no address and no text of the other side reaches a tenant.
// Source: https://github.com/opencontainers/distribution-spec (Pull),
// https://distribution.github.io/distribution/spec/auth/token/
import { Agent, type Dispatcher, request } from 'undici'
import type { Clock } from '../../lib/clock.ts'
import { readAtMost } from '../../lib/http/byte-stream.ts'
import { retryAfterSeconds } from '../../lib/http/retry-after.ts'
import { digestOfContent, isDigest } from '../../lib/text/image-digest.ts'
import { manifestTypes } from '../registry/image-labels.ts'
import { maxTokenBytes, tokenIn, tokenUrl } from '../registry/token-challenge.ts'
import { type FollowedRegistry, mayGiveTokens } from './followed-registry.ts'

/** In canonical form. */
export type FollowedTag = { readonly registry: FollowedRegistry; readonly repository: string; readonly tag: string }

export type TagAnswer =
  | { readonly kind: 'digest'; readonly digest: string }
  /**
   * `message` continues “the registry …”. `pauseSeconds`: the registry wants no request of anybody for this time; undefined: as
   * always.
   */
  | { readonly kind: 'unreadable'; readonly message: string; readonly pauseSeconds?: number | undefined }

export type TagReader = {
  /** Never rejects. */
  readonly read: (tag: FollowedTag) => Promise<TagAnswer>
  /** Ends the connections; it may be called again. */
  readonly close: () => Promise<void>
}

/** Of one answer with all its requests. */
const answerMilliseconds = 10_000
const connectMilliseconds = 5000
/** What registries take at least (OCI distribution specification, Pushing Manifests). */
const maxManifestBytes = 4_194_304
/** A pause that a registry did not give a length. */
const usualPauseSeconds = 300
/** What is said while no request is sent. */
export const fewerRequests = 'asks for fewer requests'

function unreadable(message: string): TagAnswer {
  return { kind: 'unreadable', message }
}

/** Codes such as ECONNREFUSED say what happened without an address. */
function failureText(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return 'did not answer in time'
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return /^[A-Z][A-Z0-9_]{1,50}$/.test(code) ? `cannot be asked (${code})` : 'cannot be asked'
}

function refusal({ statusCode, headers }: Dispatcher.ResponseData, now: Date): TagAnswer {
  if (statusCode === 404) return unreadable('has no such image or tag')
  if (statusCode === 401 || statusCode === 403)
    return unreadable('lets nobody read this image without a credential, or does not have it')
  if (statusCode === 429) {
    const pauseSeconds = retryAfterSeconds(headers['retry-after'], now) ?? usualPauseSeconds
    return { kind: 'unreadable', message: fewerRequests, pauseSeconds }
  }
  if (statusCode >= 300 && statusCode < 400) return unreadable('answers with a redirect, which is not followed')
  return unreadable(`answered ${statusCode}`)
}

/** A token server that says nothing about the image: whoever asked may try again. */
function isBusy({ statusCode }: Dispatcher.ResponseData): boolean {
  return statusCode === 429 || statusCode >= 500
}

/** Nothing is asked before the first call. `timeoutMilliseconds`: of one answer with all its requests, default 10 s. */
export function createTagReader(clock: Clock, timeoutMilliseconds: number = answerMilliseconds): TagReader {
  const dispatcher = new Agent({ connections: 4, keepAliveTimeout: 10_000, connect: { timeout: connectMilliseconds } })

  /**
   * Asks for the manifest, with an anonymous token where the registry wants one; the token server's answer when it cannot say
   * now.
   */
  async function ask(of: FollowedTag, method: 'HEAD' | 'GET', signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const manifest = `${of.registry.origin}/v2/${of.repository}/manifests/${of.tag}`
    const headers = { accept: manifestTypes.join(', ') }
    const first = await request(manifest, { dispatcher, method, headers, signal })
    const challenge = first.headers['www-authenticate']
    if (first.statusCode !== 401 || typeof challenge !== 'string') return first
    const scope = `repository:${of.repository}:pull`
    const url = tokenUrl(challenge, scope, realm => mayGiveTokens(of.registry, realm))
    if (url === undefined) return first
    const answer = await request(url, { dispatcher, method: 'GET', signal })
    if (isBusy(answer)) {
      await readAtMost(maxTokenBytes, first.body)
      return answer
    }
    const token = tokenIn(answer.statusCode, await readAtMost(maxTokenBytes, answer.body))
    if (token === undefined) return first
    await readAtMost(maxTokenBytes, first.body)
    return request(manifest, { dispatcher, method, headers: { ...headers, authorization: `Bearer ${token}` }, signal })
  }

  /** A registry need not name the digest of what it answers. */
  async function readDigest(of: FollowedTag, signal: AbortSignal): Promise<TagAnswer> {
    const answer = await ask(of, 'GET', signal)
    const bytes = await readAtMost(maxManifestBytes, answer.body)
    if (answer.statusCode !== 200) return refusal(answer, clock.now())
    if (bytes === undefined) return unreadable('answered more than a manifest may have')
    return { kind: 'digest', digest: digestOfContent(bytes) }
  }

  async function read(of: FollowedTag, signal: AbortSignal): Promise<TagAnswer> {
    const answer = await ask(of, 'HEAD', signal)
    await readAtMost(maxTokenBytes, answer.body)
    if (answer.statusCode !== 200) return refusal(answer, clock.now())
    const digest = answer.headers['docker-content-digest']
    if (digest === undefined) return readDigest(of, signal)
    return typeof digest === 'string' && isDigest(digest)
      ? { kind: 'digest', digest }
      : unreadable('names the image by something else than a sha256 digest')
  }

  let closed: Promise<void> | undefined
  return {
    async read(of) {
      const signal = AbortSignal.timeout(timeoutMilliseconds)
      try {
        return await read(of, signal)
      } catch (error) {
        return unreadable(failureText(error, signal))
      }
    },
    close() {
      closed ??= dispatcher.destroy()
      return closed
    },
  }
}
