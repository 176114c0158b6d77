// The certificate of the admission webhook on a cluster of the user's, and the authority with which the controllers renew it
// from then on (docs/guide/admission.md). The authority signs nothing else. Its key is in the Secret of the controllers only:
// it is made once, and read from there.
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { certificateBlocks } from '../../../src/lib/certificate-blocks.ts'
import { createAuthority, createLeaf, type KeyPairFiles } from '../../cluster/pki/openssl.ts'
import type { Kubectl } from '../kubectl.ts'
import { type Mode, platformNamespace } from '../mode.ts'
import { admissionTrustSecret } from '../overlay/admission-trust.ts'
import { admissionAuthorityFiles, controllersSecret, type KeyPair } from './platform-secrets.ts'
import { secretData } from './secret.ts'

/** The Secret with the serving certificate, and the names by which API servers call admission and the controllers. */
const servingSecret = 'sekisho-admission-tls'
const webhookHosts = ['sekisho-admission', 'sekisho-access-records'].map(service => `${service}.${platformNamespace}.svc`)
/** The controllers renew it after 20: when they cannot, it shows early. */
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

/**
 * What of it stays. An authority that serves is never replaced, and neither is a certificate that API servers accept: no write
 * is refused meanwhile.
 */
export type AdmissionDecision = {
  readonly keepsAuthority: boolean
  readonly keepsServing: boolean
  /** Trusted besides the authority: those whose certificate replicas may still serve. */
  readonly former: readonly string[]
}

export function decideAdmission({ authority, serving, trusted, now }: AdmissionFacts): AdmissionDecision {
  const keepsAuthority = isAuthority(authority, now)
  const issuers = certificateBlocks(trusted)
  const issuer = issuers.find(pem => serves(serving, pem, now))
  const isNew =
    issuer !== undefined && now.getTime() - new X509Certificate(serving.certificate).validFromDate.getTime() < overlapMilliseconds
  const others = issuers.filter(pem => !isSame(pem, authority.certificate))
  return { keepsAuthority, keepsServing: issuer !== undefined, former: others.filter(pem => pem === issuer || isNew) }
}

/** Reads and decides, and makes what is missing. It writes nothing to the cluster. */
export async function admissionCertificate(kubectl: Kubectl, mode: Mode, now: Date): Promise<AdmissionCertificate> {
  const own = await secretData(kubectl, controllersSecret[mode])
  const tls = await secretData(kubectl, servingSecret)
  const present = {
    authority: { certificate: own[admissionAuthorityFiles.certificate] ?? '', key: own[admissionAuthorityFiles.key] ?? '' },
    serving: { certificate: tls['tls.crt'] ?? '', key: tls['tls.key'] ?? '' },
    trusted: (await secretData(kubectl, admissionTrustSecret))['ca.crt'] ?? '',
  }
  const { keepsAuthority, keepsServing, former } = decideAdmission({ ...present, now })
  const folder = await mkdtemp(join(tmpdir(), 'admission-'))
  try {
    const files = { certificate: join(folder, 'authority.crt'), key: join(folder, 'authority.key') }
    if (keepsAuthority) await write(files, present.authority)
    else await createAuthority(files, 'sekisho-admission authority')
    const authority = await read(files)
    const serving = keepsServing ? present.serving : await issueServing(files, folder)
    return { authority, serving, trusted: [authority.certificate, ...former].map(pem => `${pem.trim()}\n`).join('') }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function issueServing(authority: KeyPairFiles, folder: string): Promise<KeyPair> {
  const files = { certificate: join(folder, 'serving.crt'), key: join(folder, 'serving.key') }
  await createLeaf(authority, files, {
    commonName: 'sekisho-admission',
    names: webhookHosts,
    usage: 'server',
    days: servingDays,
  })
  return read(files)
}

async function write(files: KeyPairFiles, { certificate, key }: KeyPair): Promise<void> {
  await writeFile(files.certificate, certificate)
  await writeFile(files.key, key, { mode: 0o600 })
}

async function read({ certificate, key }: KeyPairFiles): Promise<KeyPair> {
  return { certificate: await readFile(certificate, 'utf8'), key: await readFile(key, 'utf8') }
}

/** As the controllers want it (SEKISHO_ADMISSION_AUTHORITY_CERTIFICATE): CA:TRUE with its EC P-256 key, and not ended. */
function isAuthority({ certificate: pem, key: keyPem }: KeyPair, now: Date): boolean {
  try {
    const certificate = new X509Certificate(pem)
    const key = createPrivateKey(keyPem)
    const isPair = certificate.checkPrivateKey(key) && key.asymmetricKeyDetails?.namedCurve === 'prime256v1'
    return certificate.ca && isPair && now < certificate.validToDate
  } catch {
    return false
  }
}

/** Whether API servers that trust this authority accept the certificate now, and its key is there. */
function serves({ certificate, key }: KeyPair, authorityPem: string, now: Date): boolean {
  const leaf = readable(certificate)
  const authority = readable(authorityPem)
  if (leaf === undefined || authority === undefined || key === '') return false
  const isOurs =
    leaf.checkIssued(authority) &&
    leaf.verify(authority.publicKey) &&
    webhookHosts.every(host => leaf.checkHost(host) !== undefined)
  return isOurs && now < leaf.validToDate && now < authority.validToDate
}

function readable(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem)
  } catch {
    return undefined
  }
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [readable(one), readable(other)]
  return a !== undefined && b !== undefined && a.raw.equals(b.raw)
}
