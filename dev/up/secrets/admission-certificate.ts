// The certificate of the admission webhook on a cluster of the user's, and the authority with which the controllers renew it from then on
// (docs/guide/admission.md). The authority signs nothing else. Its key is in the Secret of the controllers only: it is made once, and read from there.
import { X509Certificate } from 'node:crypto'
import { admissionWebhook, platformNamespace } from '../../../src/api/names.ts'
import { issueCertificate, makeCertificateAuthority } from '../../../src/identity/certificate-authority.ts'
import { type CertifiedKey, certificateFacts, isAuthority, isExpired } from '../../../src/identity/certified-key.ts'
import { SecretString } from '../../../src/lib/secret-string.ts'
import type { Kubectl } from '../kubectl.ts'
import type { Mode } from '../mode.ts'
import { admissionTrustSecret } from '../overlay/admission-trust.ts'
import { admissionAuthorityFiles, controllersSecret, type KeyPair } from './platform-secrets.ts'
import { secretData } from './secret.ts'

const commonName = 'sekisho-admission authority'
const authorityDays = 3650
/** The controllers renew it after 20. */
const servingDays = 30
/** Replicas read a renewed certificate within minutes, and serve the former one until then. */
const overlapMilliseconds = 3_600_000

export type AdmissionCertificate = {
  readonly authority: KeyPair
  readonly serving: KeyPair
  /** PEM of every authority by which API servers are to verify the webhook. */
  readonly trusted: string
}

/** What is in the cluster: empty texts for what is not. */
export type AdmissionFacts = {
  readonly authority: KeyPair
  readonly serving: KeyPair
  /** The PEM that the registrations got last. */
  readonly trusted: string
  readonly now: Date
}

/** What of it stays. An authority that serves is never replaced, and neither is a certificate that API servers accept: no write is refused meanwhile. */
export type AdmissionDecision = {
  readonly keepsAuthority: boolean
  readonly keepsServing: boolean
  /** Trusted besides the authority: those whose certificate replicas may still serve. */
  readonly former: readonly string[]
}

export function decideAdmission({ authority, serving, trusted, now }: AdmissionFacts): AdmissionDecision {
  const keepsAuthority = isAuthority(certifiedKey(authority)) && !isExpired(certificateFacts(authority.certificate), now)
  const issuers = certificatesIn(trusted)
  const issuer = issuers.find(pem => serves(serving, pem, now))
  const isNew =
    issuer !== undefined && now.getTime() - certificateFacts(serving.certificate).notBefore.getTime() < overlapMilliseconds
  const others = issuers.filter(pem => !isSame(pem, authority.certificate))
  return { keepsAuthority, keepsServing: issuer !== undefined, former: others.filter(pem => pem === issuer || isNew) }
}

/**
 * Reads and decides; makes what is missing, and writes nothing. `namespace` is the platform's unless a test says otherwise.
 */
export async function admissionCertificate(
  kubectl: Kubectl,
  mode: Mode,
  now: Date,
  namespace: string = platformNamespace,
): Promise<AdmissionCertificate> {
  const own = await secretData(kubectl, controllersSecret[mode], namespace)
  const tls = await secretData(kubectl, admissionWebhook.secret, namespace)
  const present = {
    authority: { certificate: own[admissionAuthorityFiles.certificate] ?? '', key: own[admissionAuthorityFiles.key] ?? '' },
    serving: { certificate: tls['tls.crt'] ?? '', key: tls['tls.key'] ?? '' },
    trusted: (await secretData(kubectl, admissionTrustSecret, namespace))['ca.crt'] ?? '',
  }
  const { keepsAuthority, keepsServing, former } = decideAdmission({ ...present, now })
  const authority = keepsAuthority
    ? certifiedKey(present.authority)
    : await makeCertificateAuthority({ commonName, now, lifetimeDays: authorityDays })
  return {
    authority: keyPair(authority),
    serving: keepsServing ? present.serving : keyPair(await issueServing(authority, now)),
    trusted: [authority.certificatePem, ...former].map(pem => `${pem.trim()}\n`).join(''),
  }
}

function issueServing(authority: CertifiedKey, now: Date): Promise<CertifiedKey> {
  const left = (certificateFacts(authority.certificatePem).notAfter.getTime() - now.getTime()) / 86_400_000
  return issueCertificate({
    authority,
    commonName: admissionWebhook.service,
    dnsNames: [webhookHost],
    usage: 'server',
    now,
    lifetimeDays: Math.min(servingDays, left),
  })
}

const webhookHost = `${admissionWebhook.service}.${platformNamespace}.svc`

/** Whether API servers that trust this authority accept the certificate now, and its key is there. */
function serves({ certificate, key }: KeyPair, authorityPem: string, now: Date): boolean {
  const leaf = readable(certificate)
  const authority = readable(authorityPem)
  if (leaf === undefined || authority === undefined || key === '') return false
  const isOurs = leaf.checkIssued(authority) && leaf.verify(authority.publicKey) && leaf.checkHost(webhookHost) !== undefined
  return isOurs && !isExpired(certificateFacts(certificate), now) && !isExpired(certificateFacts(authorityPem), now)
}

function readable(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem)
  } catch {
    return undefined
  }
}

function certificatesIn(pem: string): readonly string[] {
  return pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? []
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [readable(one), readable(other)]
  return a !== undefined && b !== undefined && a.raw.equals(b.raw)
}

function certifiedKey({ certificate, key }: KeyPair): CertifiedKey {
  return { certificatePem: certificate, privateKeyPem: new SecretString(key) }
}

function keyPair({ certificatePem, privateKeyPem }: CertifiedKey): KeyPair {
  return { certificate: certificatePem, key: privateKeyPem.reveal() }
}
