// A signed statement of the audit log's head: whoever keeps one can later prove whether the log was truncated or rewritten.
// Owns its form and its verification against a set of public keys. It knows neither the log nor the origin of the keys.
import { createLocalJWKSet, type JWK, jwtVerify } from 'jose'
import { AppError } from '../../lib/errors.ts'
import type { IssuerKeys } from './issuer-keys.ts'

/** The same shape as the head of the hash chain. */
export type AuditCheckpoint = { readonly sequence: number; readonly hash: string }

/** Public keys, RFC 7517 §5. */
export type CheckpointKeys = { readonly keys: readonly JWK[] }

const type = 'sekisho-audit-checkpoint+jwt'

/** A compact JWS (ES256) that states the head; its `typ` separates it from tokens. */
export function signCheckpoint(keys: Pick<IssuerKeys, 'sign'>, issuer: string, head: AuditCheckpoint): Promise<string> {
  return keys.sign({ iss: issuer, sequence: head.sequence, hash: head.hash }, type)
}

/** Throws `integrity_violation` unless the issuer signed the statement with ES256 and it contains a sequence and a hash. */
export async function verifyCheckpoint(statement: string, keySet: CheckpointKeys, issuer: string): Promise<AuditCheckpoint> {
  try {
    const { payload } = await jwtVerify(statement, createLocalJWKSet({ keys: [...keySet.keys] }), {
      algorithms: ['ES256'],
      issuer,
      typ: type,
    })
    const { sequence, hash } = payload
    if (typeof sequence === 'number' && Number.isSafeInteger(sequence) && typeof hash === 'string') return { sequence, hash }
  } catch (cause) {
    throw new AppError('integrity_violation', 'the signature of the audit checkpoint is not valid', { cause })
  }
  throw new AppError('integrity_violation', 'the audit checkpoint does not contain sequence and hash')
}
