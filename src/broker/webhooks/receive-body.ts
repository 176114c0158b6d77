// Takes a delivery's body as it comes. An ordinary one is kept as it is; of one that is large, or does not say how large it is, the signature
// is computed and the few members that matter are read on the way, and nothing else is kept. So a stranger's 25 MB cost a few kilobytes.
// Nothing in it is believed before `isSigned`.
import { isUtf8 } from 'node:buffer'
import type { Readable } from 'node:stream'
import { createWebhookVerifier } from '../../github/index.ts'
import { AppError } from '../../lib/errors.ts'
import type { SecretString } from '../../lib/secret-string.ts'
import { looksAt } from './github-event.ts'
import { createFieldReader, type Wanted } from './top-level-fields.ts'

export type ReceivedBody = {
  /** Whether the header is the signature of exactly the bytes that came, by one of the secrets. */
  readonly isSigned: (signature: string | undefined) => boolean
  /** JSON with at least the members that `githubEvent` reads. Throws `invalid_request` for what cannot be a JSON object. */
  readonly content: () => Buffer
}

/** Of GitHub: larger payloads are not sent. */
export const bodyLimit = 25 * 1024 * 1024
/** The largest repository object GitHub documents is below 10 KB. */
const mostKept = 256 * 1024
/** GitHub's own examples of all events are below 30 KB. Reading members on the way takes three times as long as parsing such a body. */
const mostWhole = 64 * 1024

const wanted: Wanted = new Map(
  Object.entries(looksAt).map(([name, look]) => [name, look === 'shape' ? 'shape' : 'value'] as const),
)

export async function receiveBody(
  body: Readable,
  options: { readonly secrets: readonly SecretString[]; readonly length: number | undefined },
): Promise<ReceivedBody> {
  const tooLarge = () => new AppError('payload_too_large', `a delivery has at most ${bodyLimit} bytes`)
  if ((options.length ?? 0) > bodyLimit) throw tooLarge()
  if (options.length !== undefined && options.length <= mostWhole) return receiveWhole(body, options.secrets)
  const verifier = createWebhookVerifier(options.secrets)
  const fields = createFieldReader(wanted, mostKept)
  let size = 0
  let unreadable: unknown
  // The stream stays whole when this stops early: destroying it would take the connection from under the answer.
  for await (const chunk of body.iterator({ destroyOnReturn: false })) {
    size += chunk.length
    if (size > bodyLimit) throw tooLarge()
    verifier.update(chunk)
    if (unreadable === undefined) unreadable = problemOf(() => fields.push(chunk))
  }
  return {
    isSigned: signature => size > 0 && verifier.holds(signature),
    content() {
      if (unreadable !== undefined) throw unreadable
      return Buffer.from(fields.end())
    },
  }
}

/** The server sees to it that a body is as long as its Content-Length says. */
async function receiveWhole(body: Readable, secrets: readonly SecretString[]): Promise<ReceivedBody> {
  const bytes = await collected(body)
  return {
    isSigned(signature) {
      const verifier = createWebhookVerifier(secrets)
      verifier.update(bytes)
      return bytes.length > 0 && verifier.holds(signature)
    },
    content() {
      if (!isUtf8(bytes)) throw new AppError('invalid_request', 'the body is no UTF-8')
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
      if (!body.readableEnded) reject(new AppError('invalid_request', 'the body ended too early'))
    })
  })
}

/** A stranger learns whether the signature holds, not what we think of the rest; so a problem waits for its turn. */
function problemOf(work: () => void): unknown {
  try {
    work()
    return undefined
  } catch (error) {
    return error
  }
}
