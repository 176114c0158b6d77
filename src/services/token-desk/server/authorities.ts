// The authorities of the token desk's certificates, and when each is trusted and used. A new one is given to workloads beside
// the old one long before it is used, and the old one stays trusted until all replicas use the new one. Pure; certificate.ts
// creates and stores them. Each is a platform key of its own, which all replicas share: what follows from their dates is the
// same everywhere, without an agreement.
import { type CertifiedKey, certificateFacts } from '../../../identity/certified-key.ts'
import { AppError } from '../../../lib/errors.ts'
import { asObject, parseJson, textAt } from '../../../lib/json/json-value.ts'
import { SecretString } from '../../../lib/secret-string.ts'

/** An authority, the generations in their order. */
export type Authority = CertifiedKey & {
  readonly generation: number
  /** When replicas begin to use it. */
  readonly servedFrom: Date
}

export const authorityDays = 365
const dayMilliseconds = 86_400_000
/** Replicas look once an hour: after a day all of them use the next one. */
const trustedAfterwards = dayMilliseconds

/** The name of the platform key. */
export function authorityName(generation: number): string {
  return generation === 1 ? 'token-desk-authority' : `token-desk-authority-${generation}`
}

/** As it is stored. */
export function authorityText({ certificatePem, privateKeyPem, servedFrom }: Omit<Authority, 'generation'>): SecretString {
  const fields = { certificate: certificatePem, key: privateKeyPem.reveal(), servedFrom: servedFrom.toISOString() }
  return new SecretString(JSON.stringify(fields))
}

/** Throws `integrity_violation` for a text that is not an authority. */
export function parseAuthority(generation: number, stored: SecretString): Authority {
  const fields = asObject(parseJson(stored.reveal()))
  const [certificate, key] = [textAt(fields, 'certificate'), textAt(fields, 'key')]
  const servedFrom = textAt(fields, 'servedFrom')
  if (certificate === undefined || key === undefined || servedFrom === undefined)
    throw new AppError(
      'integrity_violation',
      `the stored authority ${authorityName(generation)} of the token desk cannot be read`,
    )
  return { generation, certificatePem: certificate, privateKeyPem: new SecretString(key), servedFrom: new Date(servedFrom) }
}

/**
 * The generation to create now, if one is due: the newest is past two thirds of its life, or an admin asked for a later
 * generation.
 */
export function dueGeneration(authorities: readonly Authority[], wanted: number, now: Date): number | undefined {
  const newest = authorities.at(-1)
  if (newest === undefined) return wanted
  if (newest.generation < wanted) return wanted
  const { notBefore } = certificateFacts(newest.certificatePem)
  return now.getTime() >= notBefore.getTime() + (authorityDays * dayMilliseconds * 2) / 3 ? newest.generation + 1 : undefined
}

/** The newest one whose time has come; the first one when there is no other. Undefined without any. */
export function servingAuthority(authorities: readonly Authority[], now: Date): Authority | undefined {
  return authorities.findLast(({ servedFrom }) => servedFrom <= now) ?? authorities[0]
}

/**
 * PEM of all that workloads must trust now, the newest first: those that are or will be used, and those that a replica may
 * still use.
 */
export function trustedBundle(authorities: readonly Authority[], now: Date): string {
  const trusted = authorities.filter(({ certificatePem }, index) => {
    const successor = authorities[index + 1]
    const replaced = successor !== undefined && now.getTime() >= successor.servedFrom.getTime() + trustedAfterwards
    return !replaced && now < certificateFacts(certificatePem).notAfter
  })
  return trusted
    .toReversed()
    .map(({ certificatePem }) => `${certificatePem.trim()}\n`)
    .join('')
}
