// Whether the serving certificate of the admission webhook is renewed now: only by an authority that every registration of the
// webhook trusts, because API servers would not call it with another one. Pure.
import { X509Certificate } from 'node:crypto'
import { admissionWebhook, platformNamespace } from '../../api/names.ts'
import { certificateFacts, isDueForRenewal, isExpired } from '../../identity/certified-key.ts'
import { certificateBlocks } from '../../lib/certificate-blocks.ts'

/** By these names API servers call admission, and the controllers where they record who changes access. */
export const webhookHosts: readonly string[] = [admissionWebhook.service, admissionWebhook.recordsService].map(
  service => `${service}.${platformNamespace}.svc`,
)

/** Renewed after 20 days: admission pods get it within minutes, and ten days are left for failures. */
const lifeDays = 30
const dayMilliseconds = 86_400_000

export type WebhookCertificateFacts = {
  /** PEM. */
  readonly authority: string
  /** PEM: what the Secret has; undefined when there is no Secret, or no certificate in it. */
  readonly served: string | undefined
  /** The PEM bundle of each webhook of both registrations: by which authorities API servers verify it. */
  readonly bundles: readonly string[]
  readonly now: Date
}

export type RenewalDecision =
  | { readonly kind: 'keep' }
  /** `lifetimeDays`: never beyond the end of the authority. */
  | { readonly kind: 'renew'; readonly because: string; readonly lifetimeDays: number }
  | { readonly kind: 'refuse'; readonly message: string }

function certificatesIn(pem: string): readonly X509Certificate[] {
  return certificateBlocks(pem).flatMap(one => {
    try {
      return [new X509Certificate(one)]
    } catch {
      // Not what is looked for; API servers refuse a bundle with it as a whole.
      return []
    }
  })
}

function trusts(bundle: string, authority: X509Certificate): boolean {
  return certificatesIn(bundle).some(({ raw }) => raw.equals(authority.raw))
}

/** Why another certificate is needed; undefined while the present one serves. */
function whyRenew(served: string, authority: X509Certificate, now: Date): string | undefined {
  const [leaf] = certificatesIn(served)
  if (leaf === undefined) return 'it is not readable'
  if (!leaf.checkIssued(authority) || !leaf.verify(authority.publicKey)) return 'another authority issued it'
  const facts = certificateFacts(leaf.toString())
  const missing = webhookHosts.find(host => !facts.names.includes(`DNS:${host}`))
  if (missing !== undefined) return `it is not for ${missing}`
  return isDueForRenewal(facts, now) ? 'two thirds of its life are over' : undefined
}

/** A refusal leaves what is served as it is. */
export function decideRenewal({ authority: pem, served, bundles, now }: WebhookCertificateFacts): RenewalDecision {
  const authority = new X509Certificate(pem)
  const facts = certificateFacts(pem)
  if (isExpired(facts, now))
    return { kind: 'refuse', message: 'the authority in SEKISHO_ADMISSION_AUTHORITY_CERTIFICATE has ended: replace it' }
  if (bundles.length === 0 || !bundles.every(bundle => trusts(bundle, authority))) {
    const message = `caBundle of the registrations ${admissionWebhook.registration} does not have the authority in SEKISHO_ADMISSION_AUTHORITY_CERTIFICATE: add it there first`
    return { kind: 'refuse', message }
  }
  if (served === undefined)
    return {
      kind: 'refuse',
      message: `Secret ${admissionWebhook.secret} has no certificate: make it as docs/guide/install.md says`,
    }
  const because = whyRenew(served, authority, now)
  if (because === undefined) return { kind: 'keep' }
  const left = (facts.notAfter.getTime() - now.getTime()) / dayMilliseconds
  return { kind: 'renew', because, lifetimeDays: Math.min(lifeDays, left) }
}
