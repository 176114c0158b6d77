// Renews the serving certificate of the admission webhook in its Secret, where the installer gave the platform the authority
// that issues it. The webhook reads the mounted files again; replicas may serve the former one meanwhile, which API servers
// trust as long. The key of the authority stays in this process, and the key of a certificate goes into the Secret only. It
// never writes registrations (docs/adr/0029-who-calls-the-webhook.md): an authority is replaced by the installer, who has API
// servers trust both first.
import { createPrivateKey, X509Certificate } from 'node:crypto'
import {
  mutatingWebhookConfigurations,
  secrets,
  validatingWebhookConfigurations,
  type WebhookConfiguration,
} from '../../api/builtin/index.ts'
import { admissionWebhook, platformNamespace } from '../../api/names.ts'
import { issueCertificate } from '../../identity/certificate-authority.ts'
import { type CertifiedKey, certificateFacts } from '../../identity/certified-key.ts'
import { AppError } from '../../lib/errors.ts'
import { defined } from '../../lib/json/defined.ts'
import { type Periodic, periodic } from '../../lib/periodic.ts'
import type { SecretString } from '../../lib/secret-string.ts'
import type { ServiceDeps } from '../deps.ts'
import { decideRenewal, type RenewalDecision, type WebhookCertificateFacts, webhookHosts } from './decide.ts'
import { createWebhookCertificateMetrics } from './metrics.ts'

const fieldManager = 'sekisho.dev/webhook-certificate'
const checkMilliseconds = 600_000
/** The share of its life from which the end of the authority is reported. */
const alarmShare = 1 / 5

type Settings = {
  readonly admissionAuthorityCertificate: string | undefined
  readonly admissionAuthorityKey: SecretString | undefined
}

type Deps = Pick<ServiceDeps<Settings>, 'manager' | 'metrics' | 'clock' | 'log' | 'settings'> & {
  /** Default sekisho-system. */
  readonly namespace?: string
}

type Renewal = Extract<RenewalDecision, { kind: 'renew' }>

const decoded = (base64: string | undefined): string => Buffer.from(base64 ?? '', 'base64').toString('utf8')
const encoded = (text: string): string => Buffer.from(text, 'utf8').toString('base64')

function bundlesOf(registration: WebhookConfiguration | undefined): readonly string[] {
  // A registration that does not exist trusts nobody.
  return registration?.webhooks?.map(({ clientConfig }) => decoded(clientConfig?.caBundle)) ?? ['']
}

/**
 * Undefined when the platform was not given the authority: then whoever made the certificate renews it. Nothing runs before
 * `start`.
 * @throws AppError `invalid_configuration` when certificate and key are no authority, or only one of them is given
 */
export function openWebhookCertificate(deps: Deps): Periodic | undefined {
  const authority = authorityOf(deps.settings)
  return authority && createRenewal(deps, authority)
}

function createRenewal(deps: Deps, authority: CertifiedKey): Periodic {
  const { manager, metrics, clock, log, namespace = platformNamespace } = deps
  const { client } = manager
  const { certificatePem } = authority
  const key = { namespace, name: admissionWebhook.secret }
  const expiry = metrics && createWebhookCertificateMetrics(metrics)

  async function renew(
    { because, lifetimeDays }: Renewal,
    facts: WebhookCertificateFacts,
    resourceVersion: string | undefined,
  ): Promise<void> {
    const { now } = facts
    const names = { commonName: admissionWebhook.service, dnsNames: webhookHosts }
    const made = await issueCertificate({ authority, ...names, usage: 'server', now, lifetimeDays })
    const { notAfter } = certificateFacts(made.certificatePem)
    // An authority that may not sign certificates, or ends at once, would bring one that API servers refuse.
    if (decideRenewal({ ...facts, served: made.certificatePem }).kind !== 'keep')
      throw new AppError(
        'invalid_configuration',
        'SEKISHO_ADMISSION_AUTHORITY_CERTIFICATE may not sign certificates (keyCertSign)',
      )
    const { apiVersion, kind } = secrets
    const data = { 'tls.crt': encoded(made.certificatePem), 'tls.key': encoded(made.privateKeyPem.reveal()) }
    // With the version that was decided about: a certificate that somebody else has put there meanwhile is not replaced.
    const metadata = { ...key, ...defined({ resourceVersion }) }
    await client.apply(secrets, { apiVersion, kind, metadata, type: 'kubernetes.io/tls', data }, { fieldManager, force: true })
    expiry?.(notAfter)
    log.info({ because, notAfter: notAfter.toISOString() }, 'the serving certificate of the admission webhook was renewed')
  }

  async function work(): Promise<void> {
    reportEnd()
    const name = admissionWebhook.registration
    const [secret, validating, mutating] = await Promise.all([
      client.get(secrets, key),
      client.get(validatingWebhookConfigurations, { name }),
      client.get(mutatingWebhookConfigurations, { name }),
    ])
    const served = decoded(secret?.data?.['tls.crt']) || undefined
    const bundles = [...bundlesOf(validating), ...bundlesOf(mutating)]
    const facts = { authority: certificatePem, served, bundles, now: clock.now() }
    const decision = decideRenewal(facts)
    if (decision.kind === 'renew') return renew(decision, facts, secret?.metadata.resourceVersion)
    if (decision.kind === 'refuse') throw new AppError('invalid_configuration', decision.message)
    if (served !== undefined) expiry?.(certificateFacts(served).notAfter)
  }

  function reportEnd(): void {
    const { notBefore, notAfter } = certificateFacts(certificatePem)
    const left = notAfter.getTime() - clock.now().getTime()
    if (left >= (notAfter.getTime() - notBefore.getTime()) * alarmShare) return
    log.error(
      { notAfter: notAfter.toISOString() },
      'the authority of the admission webhook ends soon: replace it (docs/guide/admission.md)',
    )
  }

  return periodic({
    name: 'renewal of the certificate of the admission webhook',
    everyMilliseconds: checkMilliseconds,
    enabled: manager.isLeader,
    work,
    clock,
    log,
  })
}

function authorityOf({ admissionAuthorityCertificate, admissionAuthorityKey }: Settings): CertifiedKey | undefined {
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
