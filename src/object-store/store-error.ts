// What a store answered instead of what was asked for. No text of it has a key.
import type { S3ServiceException } from '@aws-sdk/client-s3'
import { messageOf } from '../lib/errors.ts'

/** `away`: ask again. `login`: our key is refused. `refused`: it answered, and said no. */
export type StoreTrouble = 'away' | 'login' | 'refused'

/** `code` is S3's or IAM's, such as AccessDenied, and the status that of HTTP; without either the store did not answer. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
  readonly kind: StoreTrouble
  readonly code: string | undefined
  readonly status: number | undefined

  constructor(kind: StoreTrouble, message: string, options: { readonly cause: unknown }) {
    super(message, options)
    this.kind = kind
    this.code = codeOf(options.cause)
    this.status = statusOf(options.cause)
  }
}

const maxText = 200
const badKey = new Set(['InvalidAccessKeyId', 'SignatureDoesNotMatch', 'InvalidClientTokenId', 'AuthFailure'])
const notImplemented = 501
const notAllowed = 405
const busy = new Set(['SlowDown', 'Throttling', 'RequestLimitExceeded', 'RequestTimeout'])

/** The store's code of an error, if it is one that it answered; the client of IAM writes some with an ending of its own. */
export function codeOf(error: unknown): string | undefined {
  return isAnswer(error) ? error.name.replace(/Exception$/, '') : undefined
}

export function statusOf(error: unknown): number | undefined {
  return isAnswer(error) ? error.$metadata.httpStatusCode : undefined
}

/** Of any client of AWS: what they throw for an answer has a class for each, and these two fields. */
type Answer = Pick<S3ServiceException, 'name' | '$fault' | '$metadata'>

function isAnswer(error: unknown): error is Answer {
  return error instanceof Error && '$fault' in error && '$metadata' in error
}

/** The StoreError for what the client of AWS threw; another error, which is a defect, as it is. */
export function storeError(error: unknown): unknown {
  const text = messageOf(error).slice(0, maxText)
  if (error instanceof StoreError) return error
  if (isAnswer(error)) {
    const code = codeOf(error) ?? ''
    if (badKey.has(code)) return new StoreError('login', `the store refused the key: ${code}`, { cause: error })
    if (isPassing(error)) return new StoreError('away', `the store does not work at present: ${code}`, { cause: error })
    return new StoreError('refused', `the store answered ${code}: ${text}`, { cause: error })
  }
  if (isUnreached(error)) return new StoreError('away', `the store cannot be reached: ${text}`, { cause: error })
  return error
}

function isPassing(error: Answer): boolean {
  const status = error.$metadata.httpStatusCode ?? 0
  return busy.has(codeOf(error) ?? '') || status === 429 || (status >= 500 && status !== notImplemented)
}

/** Node's errors of sockets and of TLS have a code; the client's own limit is a TimeoutError. */
function isUnreached(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof TypeError) return false
  return error.name === 'TimeoutError' || ('code' in error && typeof error.code === 'string')
}

/** Whether the store does not have what was asked for at all. */
export function isNotImplemented(error: unknown): boolean {
  const status = statusOf(error)
  return status === notImplemented || status === notAllowed
}
