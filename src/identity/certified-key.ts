// A certificate with its private key, and when it has to be renewed. Pure; certificate-authority.ts creates them.
import { X509Certificate } from 'node:crypto'
import { AppError } from '../lib/errors.ts'
import type { SecretString } from '../lib/secret-string.ts'

/** A PEM certificate and its PKCS #8 key in PEM. */
export type CertifiedKey = { readonly certificatePem: string; readonly privateKeyPem: SecretString }

/** `names` are as X.509 prints them: `DNS:…` and `IP Address:…`. */
export type CertificateFacts = { readonly notBefore: Date; readonly notAfter: Date; readonly names: readonly string[] }

/** Reads a PEM certificate. Throws `integrity_violation` for anything else. */
export function certificateFacts(certificatePem: string): CertificateFacts {
  try {
    const certificate = new X509Certificate(certificatePem)
    return {
      notBefore: new Date(certificate.validFrom),
      notAfter: new Date(certificate.validTo),
      names: (certificate.subjectAltName ?? '').split(', ').filter(name => name !== ''),
    }
  } catch {
    throw new AppError('integrity_violation', 'a stored certificate cannot be read')
  }
}

/** True after two thirds of its life: the last third leaves time for many failed attempts. */
export function isDueForRenewal(facts: CertificateFacts, now: Date): boolean {
  const life = facts.notAfter.getTime() - facts.notBefore.getTime()
  return now.getTime() >= facts.notBefore.getTime() + (life * 2) / 3
}

/** True from `notAfter` on. */
export function isExpired(facts: CertificateFacts, now: Date): boolean {
  return now.getTime() >= facts.notAfter.getTime()
}
