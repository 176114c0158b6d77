// Keeps the webhook's certificate current in the Secret that all replicas share, and the API server's trust in step with it. The first
// replica that finds it due renews it; the others read the result from the Secret. Never logs key material.
import { type Secret, secrets } from '../../api/builtin/index.ts'
import { platformNamespace } from '../../api/names.ts'
import { issueCertificate, makeCertificateAuthority } from '../../identity/certificate-authority.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { isKubeError } from '../../kube/client/errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { serviceName } from '../registrations.ts'
import {
  authorityLifetimeDays,
  certificatesIn,
  leafLifetimeDays,
  planCertificates,
  type StoredCertificates,
  secretData,
  trustBundle,
} from './serving-certificate.ts'
import { trustAuthorities } from './trust.ts'

/** What the keeper needs; the client must be able to write the Secret and both registrations. */
export type CertificateKeeperDeps = {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'mergePatch' | 'apply'>
  readonly clock: Clock
  readonly log: Log
  /** IP addresses by which the webhook is called besides its Service. */
  readonly extraAddresses?: readonly string[]
}

const certificateSecret = { namespace: platformNamespace, name: 'sekisho-admission-tls' }
const fieldManager = 'sekisho.dev/admission'

const dnsNames = ['svc', 'svc.cluster.local'].map(suffix => `${serviceName}.${platformNamespace}.${suffix}`)
const mostAttempts = 5

/**
 * Renews what is due, makes the API server trust it, and resolves to the certificates to serve. Safe to call from several replicas at once;
 * rejects with `conflict` when the Secret keeps changing.
 */
export async function keepCertificates(deps: CertificateKeeperDeps): Promise<StoredCertificates> {
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    const secret = await deps.client.get(secrets, certificateSecret)
    const stored = certificatesIn(secret?.data)
    const next = await renewed(deps, stored)
    if (next !== stored && !(await written(deps, secret, next))) continue
    // Trust comes before use: an API server that does not trust a new authority refuses its certificates.
    await trustAuthorities(deps, trustBundle(next, deps.clock.now()))
    return next
  }
  throw new AppError('conflict', `Secret ${certificateSecret.name} was changed by others in ${mostAttempts} attempts`)
}

async function renewed(deps: CertificateKeeperDeps, stored: StoredCertificates | undefined): Promise<StoredCertificates> {
  const now = deps.clock.now()
  const ipAddresses = deps.extraAddresses ?? []
  const names = [...dnsNames.map(name => `DNS:${name}`), ...ipAddresses.map(address => `IP Address:${address}`)]
  const plan = planCertificates(stored, names, now)
  if (stored !== undefined && plan === 'keep') return stored
  deps.log.info({ plan }, 'renewing the certificate of the admission webhook')
  const authority =
    stored !== undefined && plan === 'new-leaf'
      ? stored.authority
      : await makeCertificateAuthority({ commonName: 'sekisho admission', now, lifetimeDays: authorityLifetimeDays })
  const previous = plan === 'new-leaf' ? stored?.previousAuthorityPem : stored?.authority.certificatePem
  const leaf = await issueCertificate({
    authority,
    commonName: serviceName,
    dnsNames,
    ipAddresses,
    usage: 'server',
    now,
    lifetimeDays: leafLifetimeDays,
  })
  return { authority, previousAuthorityPem: previous, leaf }
}

/** False when another replica wrote first: then its certificates are used. */
async function written(deps: CertificateKeeperDeps, secret: Secret | undefined, next: StoredCertificates): Promise<boolean> {
  const data = secretData(next)
  try {
    if (secret === undefined) {
      const present = Object.fromEntries(Object.entries(data).filter((entry): entry is [string, string] => entry[1] !== null))
      const object = { apiVersion: 'v1', kind: 'Secret', metadata: certificateSecret, type: 'kubernetes.io/tls', data: present }
      await deps.client.create(secrets, object, { fieldManager })
      return true
    }
    const { resourceVersion } = secret.metadata
    const patched = await deps.client.mergePatch(
      secrets,
      certificateSecret,
      { metadata: { resourceVersion }, data },
      { fieldManager },
    )
    return patched !== undefined
  } catch (error) {
    if (isKubeError(error, 409)) return false
    throw error
  }
}
