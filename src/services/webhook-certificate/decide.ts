// Whether a serving certificate that API servers verify is renewed now: that of the admission webhook only by an authority that
// every registration of the webhook trusts, that of the authorizer only by the authority that issued the former one, because API
// servers would not call them with another one. Pure.
import { X509Certificate } from 'node:crypto'
import { admissionWebhook, platformNamespace } from '../../api/names.ts'
import { authorizerNames } from '../../api/wall-names.ts'
import { certificateFacts, isDueForRenewal, isExpired } from '../../identity/certified-key.ts'
import { certificateBlocks } from '../../lib/certificate-blocks.ts'
import { defined } from '../../lib/json/defined.ts'

/** By these names API servers call admission, and the controllers where they record who changes access. */
export const webhookHosts: readonly string[] = [admissionWebhook.service, admissionWebhook.recordsService].map(
  service => `${service}.${platformNamespace}.svc`,
)

/** By this name API servers call the authorizer. */
export const authorizerHosts: readonly string[] = [`${authorizerNames.service}.${platformNamespace}.svc`]

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

type MoreNames = { readonly dnsNames: readonly string[]; readonly ipAddresses: readonly string[] }

export type RenewalDecision =
  | { readonly kind: 'keep' }
  /** `lifetimeDays`: never beyond the end of the authority. `more`: by which names the former one was called, beside ours. */
  | { readonly kind: 'renew'; readonly because: string; readonly lifetimeDays: number; readonly more?: MoreNames }
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

function isOf(leaf: X509Certificate, authority: X509Certificate): boolean {
  return leaf.checkIssued(authority) && leaf.verify(authority.publicKey)
}

type Wanted = { readonly authority: X509Certificate; readonly hosts: readonly string[]; readonly now: Date }

/** Why another certificate is needed; undefined while the present one serves. */
function whyRenew(served: string, { authority, hosts, now }: Wanted): string | undefined {
  const [leaf] = certificatesIn(served)
  if (leaf === undefined) return 'it is not readable'
  if (!isOf(leaf, authority)) return 'another authority issued it'
  const facts = certificateFacts(leaf.toString())
  const missing = hosts.find(host => !facts.names.includes(`DNS:${host}`))
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
  return decideBy(served, { authority, hosts: webhookHosts, now })
}

function decideBy(served: string, wanted: Wanted): RenewalDecision {
  const because = whyRenew(served, wanted)
  if (because === undefined) return { kind: 'keep' }
  const left = (certificateFacts(wanted.authority.toString()).notAfter.getTime() - wanted.now.getTime()) / dayMilliseconds
  return { kind: 'renew', because, lifetimeDays: Math.min(lifeDays, left) }
}

const [dns, ip] = ['DNS:', 'IP Address:']

/** Undefined for none; `unknown` where one is neither of DNS nor an address. */
function moreNames(leaf: X509Certificate, hosts: readonly string[]): MoreNames | 'unknown' | undefined {
  const { names } = certificateFacts(leaf.toString())
  if (names.some(name => !/^(DNS:[a-zA-Z0-9*._-]+|IP Address:[0-9a-fA-F.:]+)$/.test(name))) return 'unknown'
  const after = (prefix: string) => names.flatMap(name => (name.startsWith(prefix) ? [name.slice(prefix.length)] : []))
  const more = { dnsNames: after(dns).filter(name => !hosts.includes(name)), ipAddresses: after(ip) }
  return more.dnsNames.length + more.ipAddresses.length === 0 ? undefined : more
}

/**
 * Without a certificate of this authority nothing is done: there is no authorizer, or whoever made its certificate renews it.
 * API servers may call it by more names than ours: the next one has them, too, and one with names that cannot be issued here
 * stays, of whose end alerts tell.
 */
export function decideAuthorizerRenewal(facts: Omit<WebhookCertificateFacts, 'bundles'>): RenewalDecision {
  const { served = '', now } = facts
  const authority = new X509Certificate(facts.authority)
  const [leaf] = certificatesIn(served)
  if (leaf === undefined || !isOf(leaf, authority)) return { kind: 'keep' }
  if (isExpired(certificateFacts(facts.authority), now))
    return { kind: 'refuse', message: 'the authority in SEKISHO_ADMISSION_AUTHORITY_CERTIFICATE has ended: replace it' }
  const decision = decideBy(served, { authority, hosts: authorizerHosts, now })
  const more = moreNames(leaf, authorizerHosts)
  if (more === 'unknown') return { kind: 'keep' }
  return decision.kind === 'renew' ? { ...decision, ...defined({ more }) } : decision
}
