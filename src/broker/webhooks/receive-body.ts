// Receives a delivery's body. A body of ordinary size is kept as it is. Of a large one, or one of unknown length, the HMAC is
// computed and the few members that matter are read while it arrives, and nothing else is kept: a stranger's 25 MB cost a few
// kilobytes. The content must not be used before `isSigned` has returned true.
import { isUtf8 } from 'node:buffer'
import type { Readable } from 'node:stream'
import { createWebhookVerifier } from '../../github/index.ts'
import { AppError } from '../../lib/errors.ts'
import type { SecretString } from '../../lib/secret-string.ts'
import { keptFields, unboundedFields } from './github-event.ts'
import { FieldReader, type Wanted } from './top-level-fields.ts'

export type ReceivedBody = {
  /**
   * Whether the header is the HMAC-SHA256 of exactly the received bytes under one of the secrets. An empty body is never
   * signed.
   */
  readonly isSigned: (signature: string | undefined) => boolean
  /**
   * JSON with at least the members that `parseGitHubEvent` reads. Throws `invalid_request` for a body that cannot be a JSON
   * object.
   */
  readonly content: () => Buffer
}

/** GitHub's limit: larger payloads are not delivered. */
export const bodyLimit = 25 * 1024 * 1024
/** The largest repository object GitHub documents is below 10 KB. */
const maxKept = 256 * 1024
/**
 * GitHub's examples of all events are below 30 KB. For such a body, `JSON.parse` is faster than reading the members while it
 * arrives.
 */
const maxWhole = 64 * 1024

const wanted: Wanted = new Map(
  Object.entries(keptFields).map(([name, spec]) => {
    return [name, spec === 'shape' || unboundedFields.has(name) ? 'shape' : 'value'] as const
  }),
)

/**
 * Resolves when the body has arrived. `length` is the Content-Length, if there is one. Rejects with `payload_too_large` above
 * `bodyLimit`, by the announced length or by the received bytes, and with `invalid_request` when the connection ends early.
 */
export async function receiveBody(
  body: Readable,
  options: {
    readonly secrets: readonly SecretString[]
    readonly length: number | undefined
    /** Bounds how many large bodies arrive at once; without it there is no bound. */
    readonly large?: { readonly admit: (body: Readable) => AsyncIterable<Buffer> }
  },
): Promise<ReceivedBody> {
  const tooLarge = () => new AppError('payload_too_large', `a delivery has at most ${bodyLimit} bytes`)
  if ((options.length ?? 0) > bodyLimit) throw tooLarge()
  if (options.length !== undefined && options.length <= maxWhole) return receiveWhole(body, options.secrets)
  const verifier = createWebhookVerifier(options.secrets)
  const fields = new FieldReader(wanted, maxKept)
  let size = 0
  // Destroying the stream when this ends early would close the connection before the answer is sent.
  for await (const chunk of options.large?.admit(body) ?? body.iterator({ destroyOnReturn: false })) {
    size += chunk.length
    if (size > bodyLimit) throw tooLarge()
    verifier.update(chunk)
    fields.push(chunk)
  }
  return {
    isSigned: signature => size > 0 && verifier.holds(signature),
    // An error in the content shows here, after the signature was verified: an unsigned sender learns nothing about it.
    content: () => Buffer.from(fields.end()),
  }
}

/** For a body with a Content-Length: Node's HTTP parser delivers exactly that many bytes. */
async function receiveWhole(body: Readable, secrets: readonly SecretString[]): Promise<ReceivedBody> {
  const bytes = await collected(body)
  return {
    isSigned(signature) {
      const verifier = createWebhookVerifier(secrets)
      verifier.update(bytes)
      return bytes.length > 0 && verifier.holds(signature)
    },
    content() {
      if (!isUtf8(bytes)) throw new AppError('invalid_request', 'the body is not UTF-8')
      return bytes
    },
  }
}

function collected(body: Readable): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    body.on('data', (chunk: Buffer) => chunks.push(chunk))
    body.once('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)))
    body.once('error', reject)
    body.once('close', () => {
      if (!body.readableEnded) reject(new AppError('invalid_request', 'the connection ended before the body was complete'))
    })
  })
}
