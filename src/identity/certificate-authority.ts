// Creates certificate authorities and the certificates that they issue: EC P-256, SHA-256, names in subjectAltName only (RFC
// 6125, RFC 9525). The only importer of @peculiar/x509. It stores nothing; callers keep the keys in Secrets of the platform
// namespace. The next import must come before the library.
import './reflect-metadata.ts'
import type { webcrypto } from 'node:crypto'
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509'
import { AppError } from '../lib/errors.ts'
import { SecretString } from '../lib/secret-string.ts'
import type { CertifiedKey } from './certified-key.ts'

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const
const dayMilliseconds = 86_400_000
/** The clock of an API server may be behind ours. */
const backdateMilliseconds = 5 * 60_000

type AuthorityOptions = { readonly commonName: string; readonly now: Date; readonly lifetimeDays: number }

/** A self-signed authority that may issue leaf certificates only (path length 0). */
export async function makeCertificateAuthority(options: AuthorityOptions): Promise<CertifiedKey> {
  const keys = await generateKeys()
  const certificate = await X509CertificateGenerator.createSelfSigned(
    {
      ...validity(options),
      serialNumber: serialNumber(),
      name: [{ CN: [options.commonName] }],
      signingAlgorithm: algorithm,
      keys,
      extensions: [
        new BasicConstraintsExtension(true, 0, true),
        new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
        await SubjectKeyIdentifierExtension.create(keys.publicKey),
      ],
    },
    crypto,
  )
  return { certificatePem: certificate.toString('pem'), privateKeyPem: await privateKeyPem(keys) }
}

/** A certificate to issue. One for a server needs at least one DNS name or IP address. */
export type LeafOptions = AuthorityOptions & {
  readonly authority: CertifiedKey
  readonly dnsNames: readonly string[]
  readonly ipAddresses?: readonly string[]
  /** The extended key usage: TLS server or TLS client authentication. */
  readonly usage: 'server' | 'client'
}

/** A leaf certificate with a new key. Throws `invalid_request` for a server certificate without any name or address. */
export async function issueCertificate(options: LeafOptions): Promise<CertifiedKey> {
  if (options.usage === 'server' && options.dnsNames.length + (options.ipAddresses ?? []).length === 0)
    throw new AppError('invalid_request', 'a server certificate needs at least one name or address')
  const keys = await generateKeys()
  const authority = new X509Certificate(options.authority.certificatePem)
  const names = [
    ...options.dnsNames.map(value => ({ type: 'dns', value }) as const),
    ...(options.ipAddresses ?? []).map(value => ({ type: 'ip', value }) as const),
  ]
  const usage = options.usage === 'server' ? ExtendedKeyUsage.serverAuth : ExtendedKeyUsage.clientAuth
  const certificate = await X509CertificateGenerator.create(
    {
      ...validity(options),
      serialNumber: serialNumber(),
      subject: [{ CN: [options.commonName] }],
      // The name as it is encoded: Go compares its bytes (crypto/x509, findPotentialParents).
      issuer: authority.subjectName,
      publicKey: keys.publicKey,
      signingKey: await importPrivateKey(options.authority.privateKeyPem),
      signingAlgorithm: algorithm,
      extensions: [
        new BasicConstraintsExtension(false, undefined, true),
        new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
        new ExtendedKeyUsageExtension([usage]),
        ...(names.length > 0 ? [new SubjectAlternativeNameExtension(names)] : []),
        await AuthorityKeyIdentifierExtension.create(authority.publicKey),
        await SubjectKeyIdentifierExtension.create(keys.publicKey),
      ],
    },
    crypto,
  )
  return { certificatePem: certificate.toString('pem'), privateKeyPem: await privateKeyPem(keys) }
}

function validity(options: AuthorityOptions): { readonly notBefore: Date; readonly notAfter: Date } {
  return {
    notBefore: new Date(options.now.getTime() - backdateMilliseconds),
    notAfter: new Date(options.now.getTime() + options.lifetimeDays * dayMilliseconds),
  }
}

/** RFC 5280 §4.1.2.2: positive, at most 20 octets, not guessable. */
function serialNumber(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return `01${Buffer.from(bytes).toString('hex')}`
}

async function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
}

async function privateKeyPem(keys: webcrypto.CryptoKeyPair): Promise<SecretString> {
  return new SecretString(PemConverter.encode(await crypto.subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY'))
}

async function importPrivateKey(pem: SecretString): Promise<webcrypto.CryptoKey> {
  const [bytes] = PemConverter.decode(pem.reveal())
  if (!bytes) throw new AppError('integrity_violation', 'the private key of a certificate authority cannot be read')
  return await crypto.subtle.importKey('pkcs8', bytes, algorithm, false, ['sign'])
}
