// The serving certificate of the admission webhook, renewed where the installer gave the platform the authority that issues it.
// It never writes registrations (docs/adr/0029-who-calls-the-webhook.md): an authority is replaced by the installer, who has API
// servers trust both first.
import {
  mutatingWebhookConfigurations,
  validatingWebhookConfigurations,
  type WebhookConfiguration,
} from '../../api/builtin/index.ts'
import { admissionWebhook } from '../../api/names.ts'
import { certificateFacts } from '../../identity/certified-key.ts'
import type { Periodic } from '../../lib/periodic.ts'
import { authorityOf } from './authority.ts'
import { decideRenewal, webhookHosts } from './decide.ts'
import { createWebhookCertificateMetrics } from './metrics.ts'
import { createRenewal, type Judge, type RenewalDeps } from './renewal.ts'

/** The share of its life from which the end of the authority is reported. */
const alarmShare = 1 / 5

const decoded = (base64: string | undefined): string => Buffer.from(base64 ?? '', 'base64').toString('utf8')

function bundlesOf(registration: WebhookConfiguration | undefined): readonly string[] {
  // A registration that does not exist trusts nobody.
  return registration?.webhooks?.map(({ clientConfig }) => decoded(clientConfig?.caBundle)) ?? ['']
}

/**
 * Undefined when the platform was not given the authority. Nothing runs before `start`.
 * @throws AppError as `authorityOf`
 */
export function openWebhookCertificate(deps: RenewalDeps): Periodic | undefined {
  const authority = authorityOf(deps.settings)
  if (authority === undefined) return undefined
  const { manager, metrics, log } = deps
  const { client } = manager

  async function judge(now: Date): Promise<Judge> {
    reportEnd(now)
    const name = admissionWebhook.registration
    const [validating, mutating] = await Promise.all([
      client.get(validatingWebhookConfigurations, { name }),
      client.get(mutatingWebhookConfigurations, { name }),
    ])
    const bundles = [...bundlesOf(validating), ...bundlesOf(mutating)]
    return served => decideRenewal({ authority: certificatePem, served, bundles, now })
  }

  const { certificatePem } = authority
  function reportEnd(now: Date): void {
    const { notBefore, notAfter } = certificateFacts(certificatePem)
    const left = notAfter.getTime() - now.getTime()
    if (left >= (notAfter.getTime() - notBefore.getTime()) * alarmShare) return
    log.error(
      { notAfter: notAfter.toISOString() },
      'the authority of the admission webhook ends soon: replace it (docs/guide/admission.md)',
    )
  }

  return createRenewal(deps, authority, {
    of: 'the admission webhook',
    secret: admissionWebhook.secret,
    commonName: admissionWebhook.service,
    hosts: webhookHosts,
    judge,
    onEnd: metrics && createWebhookCertificateMetrics(metrics),
  })
}
