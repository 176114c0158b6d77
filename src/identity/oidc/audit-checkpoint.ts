// A signed statement of the audit log's head: whoever keeps one can later prove whether the log was truncated or rewritten.
// Owns its form and its verification against a set of public keys. It knows neither the log nor the origin of the keys.
import { calculateJwkThumbprint, createLocalJWKSet, decodeProtectedHeader, type JWK, type JWTPayload, jwtVerify } from 'jose'
import { AppError } from '../../lib/errors.ts'
import type { IssuerKeys } from './issuer-keys.ts'

type Head = { readonly sequence: number; readonly hash: string }

/** The head of the hash chain, and when it was signed, to the second. */
export type AuditCheckpoint = Head & { readonly attestedAt: Date }

/**
 * A platform admin examined that entries are missing after `remaining`, up to `lost` at least; `resumedAt`: the log went on
 * then.
 */
export type LossAcknowledgement = {
  readonly remaining: Head
  readonly lost: Head
  readonly resumedAt: string
  /** Who acknowledged it, and when, to the second. */
  readonly by: string
  readonly at: Date
}

/** Public keys, RFC 7517 §5. */
export type CheckpointKeys = { readonly keys: readonly JWK[] }

/** The platform allows that the entries up to this head are removed: the log begins after it then. */
export type AuditCut = Head & {
  /** Who approved it, and when, to the second. */
  readonly by: string
  readonly at: Date
}

const type = 'sekisho-audit-checkpoint+jwt'
const cutType = 'sekisho-audit-cut+jwt'
const acknowledgementType = 'sekisho-audit-acknowledgement+jwt'

/** A compact JWS (ES256) that states the head; its `typ` separates it from tokens. */
export function signCheckpoint(keys: Pick<IssuerKeys, 'sign'>, issuer: string, head: Head): Promise<string> {
  return keys.sign({ iss: issuer, sequence: head.sequence, hash: head.hash }, type)
}

/** Throws `integrity_violation` unless the issuer signed the statement with ES256 and it contains a sequence and a hash. */
export async function verifyCheckpoint(statement: string, keySet: CheckpointKeys, issuer: string): Promise<AuditCheckpoint> {
  const payload = await verified(statement, { keySet, issuer, type, what: 'checkpoint' })
  const { iat } = payload
  const head = headIn(payload)
  if (head !== undefined && iat !== undefined) return { ...head, attestedAt: new Date(iat * 1000) }
  throw new AppError('integrity_violation', 'the audit checkpoint does not contain sequence, hash and time')
}

/** A compact JWS (ES256) over the acknowledgement: who owns the database only cannot make one. */
export function signAcknowledgement(
  keys: Pick<IssuerKeys, 'sign'>,
  issuer: string,
  acknowledged: Omit<LossAcknowledgement, 'at'>,
): Promise<string> {
  return keys.sign({ iss: issuer, ...acknowledged }, acknowledgementType)
}

/** Throws `integrity_violation` unless the issuer signed the acknowledgement. */
export async function verifyAcknowledgement(
  statement: string,
  keySet: CheckpointKeys,
  issuer: string,
): Promise<LossAcknowledgement> {
  const payload = await verified(statement, { keySet, issuer, type: acknowledgementType, what: 'acknowledgement' })
  const { remaining, lost, resumedAt, by, iat } = payload
  const [start, end] = [headIn(remaining), headIn(lost)]
  if (start && end && typeof resumedAt === 'string' && typeof by === 'string' && iat !== undefined)
    return { remaining: start, lost: end, resumedAt, by, at: new Date(iat * 1000) }
  throw new AppError('integrity_violation', 'the acknowledgement of lost audit entries is not complete')
}

/** A compact JWS (ES256) that allows the cut. Sign none but for a platform admin: `verify` accepts what it allows. */
export function signCut(keys: Pick<IssuerKeys, 'sign'>, issuer: string, cut: Head & { readonly by: string }): Promise<string> {
  return keys.sign({ iss: issuer, sequence: cut.sequence, hash: cut.hash, by: cut.by }, cutType)
}

/** Throws `integrity_violation` unless the issuer signed the cut. */
export async function verifyCut(statement: string, keySet: CheckpointKeys, issuer: string): Promise<AuditCut> {
  const payload = await verified(statement, { keySet, issuer, type: cutType, what: 'cut' })
  const { by, iat } = payload
  const head = headIn(payload)
  if (head !== undefined && typeof by === 'string' && iat !== undefined) return { ...head, by, at: new Date(iat * 1000) }
  throw new AppError('integrity_violation', 'the cut of the audit log does not contain sequence, hash, person and time')
}

/**
 * All keys of the sets, each once: verification refuses a key id that it finds twice. Of equal ids the first set's key counts.
 */
export function mergedKeys(...sets: readonly CheckpointKeys[]): CheckpointKeys {
  const byId = new Map<string | undefined, JWK>()
  for (const key of sets.flatMap(({ keys }) => keys)) if (!byId.has(key.kid)) byId.set(key.kid, key)
  return { keys: [...byId.values()] }
}

/** The id of the key that signed a statement, which is not verified. */
export function signingKeyId(statement: string): string | undefined {
  try {
    return decodeProtectedHeader(statement).kid
  } catch {
    return undefined
  }
}

/** SHA-256 of each key (RFC 7638), by which people compare it over another channel. */
export function thumbprints({ keys }: CheckpointKeys): Promise<readonly string[]> {
  return Promise.all(keys.map(key => calculateJwkThumbprint(key)))
}

type Expected = { readonly keySet: CheckpointKeys; readonly issuer: string; readonly type: string; readonly what: string }

async function verified(statement: string, { keySet, issuer, type: typ, what }: Expected): Promise<JWTPayload> {
  try {
    const keys = createLocalJWKSet({ keys: [...keySet.keys] })
    return (await jwtVerify(statement, keys, { algorithms: ['ES256'], issuer, typ })).payload
  } catch (cause) {
    throw new AppError('integrity_violation', `the signature of the audit ${what} is not valid`, { cause })
  }
}

function headIn(value: unknown): Head | undefined {
  if (typeof value !== 'object' || value === null || !('sequence' in value) || !('hash' in value)) return undefined
  const { sequence, hash } = value
  return typeof sequence === 'number' && Number.isSafeInteger(sequence) && typeof hash === 'string'
    ? { sequence, hash }
    : undefined
}
