// Takes a delivery's body as it comes: its signature is computed and the few members that matter are read on the way, and nothing else of it is
// kept. So a body costs the same few kilobytes whether it is ours or a stranger's 25 MB. Nothing in it is believed before `isSigned`.
import type { Readable } from 'node:stream'
import { createWebhookVerifier } from '../../github/index.ts'
import { AppError } from '../../lib/errors.ts'
import type { SecretString } from '../../lib/secret-string.ts'
import { createFieldReader, type Wanted } from './top-level-fields.ts'

export type ReceivedBody = {
  /** Whether the header is the signature of exactly the bytes that came, by one of the secrets. */
  readonly isSigned: (signature: string | undefined) => boolean
  /** The members that `githubEvent` reads, as JSON. Throws `invalid_request` for what is no JSON object. */
  readonly content: () => Buffer
}

/** Of GitHub: larger payloads are not sent. */
export const bodyLimit = 25 * 1024 * 1024
/** The largest repository object GitHub documents is below 10 KB. */
const mostKept = 256 * 1024

/** All that `githubEvent` looks at. */
const wanted: Wanted = new Map([
  ...['action', 'ref', 'before', 'after', 'zen', 'number'].map(name => [name, 'value'] as const),
  ...['installation', 'requester', 'organization', 'repository', 'sender'].map(name => [name, 'value'] as const),
  ...['pull_request', 'repositories_added', 'changes', 'account', 'team', 'member'].map(name => [name, 'shape'] as const),
])

export async function receiveBody(
  body: Readable,
  options: { readonly secrets: readonly SecretString[]; readonly length: number | undefined },
): Promise<ReceivedBody> {
  const tooLarge = () => new AppError('payload_too_large', `a delivery has at most ${bodyLimit} bytes`)
  if ((options.length ?? 0) > bodyLimit) throw tooLarge()
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

/** A stranger learns whether the signature holds, not what we think of the rest; so a problem waits for its turn. */
function problemOf(work: () => void): unknown {
  try {
    work()
    return undefined
  } catch (error) {
    return error
  }
}
