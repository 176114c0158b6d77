// What the controllers order from the source store, over a unix socket: the shapes and paths that both ends share. HTTP, so
// that a pack streams and an answer has a status. The store's addresses are named by their fingerprints: neither the address
// nor any token is ever sent.
import { type AppError, type ErrorCode, errorCodes } from '../../../../lib/errors.ts'
import { defined } from '../../../../lib/json/defined.ts'
import { asObject, integerAt, type JsonObject, parseJson, textAt } from '../../../../lib/json/json-value.ts'

/** What is said of a pack before its bytes. */
export type PackOrder = {
  readonly namespace: string
  readonly build: string
  readonly commit: string
  /** The uid of the object for which it is fetched. */
  readonly owner: string
  /** From the end of the fetch. */
  readonly lifetimeSeconds: number
  /** Whether the commit has parents, which are not in the pack. */
  readonly shallow: boolean
  /**
   * The folder that is built, `` for the root: submodules and files in Git LFS in it are refused. Undefined when they are not
   * needed.
   */
  readonly completeBelow?: string | undefined
}

/** The request header with the order, JSON in base64url. */
export const orderHeader = 'sekisho-order'
/** Of the header. */
export const maxOrder = 4096

const pathPattern = /^\/(sources\/[0-9a-f]{64}|owners\/[A-Za-z0-9-]{1,64})$/
const commitPattern = /^([0-9a-f]{40}|[0-9a-f]{64})$/
const maxLifetimeSeconds = 86_400
const maxSubPath = 512

export type OrderPath = { readonly kind: 'source' | 'owner'; readonly id: string }

/** `PUT` stores a pack, `GET` asks whether it is stored, `DELETE` ends it. */
export function sourcePath(fingerprint: string): string {
  return `/sources/${fingerprint}`
}

/** `DELETE` ends all sources that were fetched for the object with this uid. */
export function ownerPath(owner: string): string {
  return `/owners/${encodeURIComponent(owner)}`
}

/** undefined for everything else. */
export function parseOrderPath(path: string): OrderPath | undefined {
  const [, found] = pathPattern.exec(path) ?? []
  const [folder, id] = found?.split('/') ?? []
  if (id === undefined) return undefined
  return { kind: folder === 'sources' ? 'source' : 'owner', id }
}

/** The value of the header. */
export function encodeOrder(order: PackOrder): string {
  return Buffer.from(JSON.stringify(order)).toString('base64url')
}

function nameAt(order: JsonObject | undefined, field: string): string | undefined {
  const value = textAt(order, field)
  return value !== undefined && value.length > 0 && value.length <= 253 ? value : undefined
}

/** undefined when a field is missing or out of its bounds. */
export function decodeOrder(header: string | undefined): PackOrder | undefined {
  if (header === undefined || header.length > maxOrder) return undefined
  const order = asObject(parseJson(Buffer.from(header, 'base64url').toString('utf8')))
  const [namespace, build, owner] = [nameAt(order, 'namespace'), nameAt(order, 'build'), nameAt(order, 'owner')]
  const commit = textAt(order, 'commit')
  const lifetimeSeconds = integerAt(order, 'lifetimeSeconds') ?? 0
  const shallow = order?.['shallow']
  const completeBelow = textAt(order, 'completeBelow')
  if (completeBelow !== undefined && completeBelow.length > maxSubPath) return undefined
  if (namespace === undefined || build === undefined || owner === undefined || typeof shallow !== 'boolean') return undefined
  if (commit === undefined || !commitPattern.test(commit)) return undefined
  if (lifetimeSeconds < 1 || lifetimeSeconds > maxLifetimeSeconds) return undefined
  return { namespace, build, commit, owner, lifetimeSeconds, shallow, completeBelow }
}

/** A refusal as it crosses the socket. */
export type Refusal = {
  readonly code: ErrorCode
  readonly message: string
  readonly reason?: string
  readonly retryAfterSeconds?: number
}

/** The refusal that an error is. */
export function refusalOf({ code, message, reason, retryAfterSeconds }: AppError): Refusal {
  return {
    code,
    message,
    ...defined({ reason, retryAfterSeconds }),
  }
}

function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(errorCodes, text)
}

/** undefined when the text is not a refusal. */
export function parseRefusal(text: string): Refusal | undefined {
  const refusal = asObject(parseJson(text))
  const [code, message, reason] = [textAt(refusal, 'code'), textAt(refusal, 'message'), textAt(refusal, 'reason')]
  const retryAfterSeconds = integerAt(refusal, 'retryAfterSeconds')
  if (code === undefined || !isErrorCode(code) || message === undefined) return undefined
  return {
    code,
    message: message.slice(0, 1000),
    ...defined({ reason, retryAfterSeconds }),
  }
}
