// The webhook's certificates as they are stored, and when they are renewed. Pure: certificate-keeper.ts creates keys.
// After a change of authority both authorities are trusted, so that a replica that still serves the old certificate works.
import { type CertifiedKey, certificateFacts, isDueForRenewal, isExpired } from '../../identity/certified-key.ts'
import { SecretString } from '../../lib/secret-string.ts'

/** What the Secret holds. */
export type StoredCertificates = {
  readonly authority: CertifiedKey
  /** The authority before the last change; trusted until it expires. */
  readonly previousAuthorityPem: string | undefined
  readonly leaf: CertifiedKey
}

/** What to renew; a new authority issues a new leaf too. */
export type CertificatePlan = 'keep' | 'new-leaf' | 'new-authority'

/** Renewed after two thirds of it. */
export const authorityLifetimeDays = 365
/** Renewed after two thirds of it. */
export const leafLifetimeDays = 30

/** `names` must be in the certificate; they are written as X.509 prints them: `DNS:…` and `IP Address:…`. */
export function planCertificates(stored: StoredCertificates | undefined, names: readonly string[], now: Date): CertificatePlan {
  if (stored === undefined) return 'new-authority'
  if (isDueForRenewal(certificateFacts(stored.authority.certificatePem), now)) return 'new-authority'
  const leaf = certificateFacts(stored.leaf.certificatePem)
  return isDueForRenewal(leaf, now) || !names.every(name => leaf.names.includes(name)) ? 'new-leaf' : 'keep'
}

/** The PEM of every authority that the API server must trust now, the current one first. */
export function trustBundle(stored: StoredCertificates, now: Date): string {
  const { authority, previousAuthorityPem: previous } = stored
  const old = previous !== undefined && !isExpired(certificateFacts(previous), now) ? [previous] : []
  return [authority.certificatePem, ...old].map(pem => `${pem.trim()}\n`).join('')
}

const fields = {
  authority: 'ca.crt',
  authorityKey: 'ca.key',
  previousAuthority: 'previous-ca.crt',
  leaf: 'tls.crt',
  leafKey: 'tls.key',
} as const

/** The `data` of the Secret; an absent previous authority is null, so that a merge patch removes it. */
export function secretData(stored: StoredCertificates): Readonly<Record<string, string | null>> {
  const encode = (text: string): string => Buffer.from(text).toString('base64')
  return {
    [fields.authority]: encode(stored.authority.certificatePem),
    [fields.authorityKey]: encode(stored.authority.privateKeyPem.reveal()),
    [fields.previousAuthority]: stored.previousAuthorityPem === undefined ? null : encode(stored.previousAuthorityPem),
    [fields.leaf]: encode(stored.leaf.certificatePem),
    [fields.leafKey]: encode(stored.leaf.privateKeyPem.reveal()),
  }
}

/** Undefined when a part is missing or unreadable: then everything is created again. */
export function certificatesIn(data: Readonly<Record<string, string>> | undefined): StoredCertificates | undefined {
  const text = (field: string): string | undefined => {
    const encoded = data?.[field]
    return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('utf8')
  }
  const [authority, authorityKey, leaf, leafKey] = [fields.authority, fields.authorityKey, fields.leaf, fields.leafKey].map(text)
  if (!authority || !authorityKey || !leaf || !leafKey || !isReadable(authority) || !isReadable(leaf)) return undefined
  const previous = text(fields.previousAuthority)
  return {
    authority: { certificatePem: authority, privateKeyPem: new SecretString(authorityKey) },
    previousAuthorityPem: previous !== undefined && isReadable(previous) ? previous : undefined,
    leaf: { certificatePem: leaf, privateKeyPem: new SecretString(leafKey) },
  }
}

function isReadable(pem: string): boolean {
  try {
    certificateFacts(pem)
    return true
  } catch {
    return false
  }
}
