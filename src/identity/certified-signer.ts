// Signs tokens with a key that an authority has certified: the certificate travels in the token's header (`x5c`, RFC 7515
// §4.1.6), so a verifier that trusts the authority needs to know no key. Keys live in memory only and are replaced while they
// are used; the authority's own key signs certificates, never tokens.
import { X509Certificate } from 'node:crypto'
import { type CryptoKey, importPKCS8, SignJWT } from 'jose'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import { issueCertificate } from './certificate-authority.ts'
import type { CertifiedKey } from './certified-key.ts'

const algorithm = 'ES256'
const keyDays = 7

export type CertifiedSigner = {
  /** A compact JWS over `claims` (ES256). */
  readonly sign: (claims: Readonly<Record<string, unknown>>) => Promise<string>
  /** Replaces the key by a new one; tokens that the former key signed stay valid. Call at least once a week. */
  readonly renew: () => Promise<void>
}

type SignerOptions = { readonly authority: CertifiedKey; readonly commonName: string; readonly clock: Clock }

type SigningKey = { readonly key: CryptoKey; readonly certificate: string }

/** Throws `invalid_configuration` when the authority's certificate and key are not readable or do not belong together. */
export async function createCertifiedSigner(options: SignerOptions): Promise<CertifiedSigner> {
  let current = await newKey(options)
  return {
    sign: claims =>
      new SignJWT({ ...claims }).setProtectedHeader({ alg: algorithm, typ: 'JWT', x5c: [current.certificate] }).sign(current.key),
    async renew() {
      current = await newKey(options)
    },
  }
}

async function newKey({ authority, commonName, clock }: SignerOptions): Promise<SigningKey> {
  try {
    const leaf = await issueCertificate({
      authority,
      commonName,
      dnsNames: [],
      usage: 'client',
      now: clock.now(),
      lifetimeDays: keyDays,
    })
    const certificate = new X509Certificate(leaf.certificatePem)
    if (!certificate.verify(new X509Certificate(authority.certificatePem).publicKey))
      throw new Error('the key is not the one in the certificate')
    return {
      key: await importPKCS8(leaf.privateKeyPem.reveal(), algorithm),
      // Base64, not base64url (RFC 7515 §4.1.6).
      certificate: certificate.raw.toString('base64'),
    }
  } catch (cause) {
    throw new AppError('invalid_configuration', 'the authority needs a PEM certificate and its EC P-256 key as PKCS #8 PEM', {
      cause,
    })
  }
}
