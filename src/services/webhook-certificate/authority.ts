// The authority of serving certificates that the installer gave the platform.
import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { CertifiedKey } from '../../identity/certified-key.ts'
import { AppError } from '../../lib/errors.ts'
import type { SecretString } from '../../lib/secret-string.ts'

export type AuthoritySettings = {
  readonly admissionAuthorityCertificate: string | undefined
  readonly admissionAuthorityKey: SecretString | undefined
}

/**
 * Undefined when the platform was not given one: then whoever made a certificate renews it.
 * @throws AppError `invalid_configuration` when certificate and key are no authority, or only one of them is given
 */
export function authorityOf({
  admissionAuthorityCertificate,
  admissionAuthorityKey,
}: AuthoritySettings): CertifiedKey | undefined {
  if (admissionAuthorityCertificate === undefined && admissionAuthorityKey === undefined) return undefined
  if (admissionAuthorityCertificate === undefined || admissionAuthorityKey === undefined)
    throw new AppError(
      'invalid_configuration',
      'set both SEKISHO_ADMISSION_AUTHORITY_CERTIFICATE and SEKISHO_ADMISSION_AUTHORITY_KEY, or none of them',
    )
  const authority = { certificatePem: admissionAuthorityCertificate, privateKeyPem: admissionAuthorityKey }
  if (isAuthority(authority)) return authority
  throw new AppError(
    'invalid_configuration',
    'SEKISHO_ADMISSION_AUTHORITY_CERTIFICATE and SEKISHO_ADMISSION_AUTHORITY_KEY: the certificate of an authority (CA:TRUE) and its EC P-256 key are needed, both in PEM',
  )
}

function isAuthority({ certificatePem, privateKeyPem }: CertifiedKey): boolean {
  try {
    const certificate = new X509Certificate(certificatePem)
    const key = createPrivateKey(privateKeyPem.reveal())
    return certificate.ca && certificate.checkPrivateKey(key) && key.asymmetricKeyDetails?.namedCurve === 'prime256v1'
  } catch {
    return false
  }
}
