// Renews one serving certificate in its Secret, which the installer made. Whoever serves reads the mounted files again; replicas
// may serve the former one meanwhile, which API servers trust as long. The key of the authority stays in this process, and the
// key of a certificate goes into the Secret only.
import { secrets } from '../../api/builtin/index.ts'
import { platformNamespace } from '../../api/names.ts'
import { issueCertificate } from '../../identity/certificate-authority.ts'
import { type CertifiedKey, certificateFacts } from '../../identity/certified-key.ts'
import { AppError } from '../../lib/errors.ts'
import { defined } from '../../lib/json/defined.ts'
import { type Periodic, periodic } from '../../lib/periodic.ts'
import type { ServiceDeps } from '../deps.ts'
import type { AuthoritySettings } from './authority.ts'
import type { RenewalDecision } from './decide.ts'

const fieldManager = 'sekisho.dev/webhook-certificate'
const checkMilliseconds = 600_000

export type RenewalDeps = Pick<ServiceDeps<AuthoritySettings>, 'manager' | 'metrics' | 'clock' | 'log' | 'settings'> & {
  /** Default sekisho-system. */
  readonly namespace?: string
}

/** Judges a certificate, PEM; undefined when there is none. */
export type Judge = (served: string | undefined) => RenewalDecision

export type Renewed = {
  /** `the admission webhook`. */
  readonly of: string
  readonly secret: string
  readonly commonName: string
  readonly hosts: readonly string[]
  /** Reads what the judgement depends on beside the certificate. */
  readonly judge: (now: Date) => Promise<Judge>
  /** Called with the end of what the Secret has. */
  readonly onEnd?: ((notAfter: Date) => void) | undefined
}

type Renewal = Extract<RenewalDecision, { kind: 'renew' }>
type Found = { readonly judge: Judge; readonly now: Date; readonly resourceVersion: string | undefined }

const decoded = (base64: string | undefined): string => Buffer.from(base64 ?? '', 'base64').toString('utf8')
const encoded = (text: string): string => Buffer.from(text, 'utf8').toString('base64')

/** A loop that runs nothing before `start`; only on the leader. */
export function createRenewal(deps: RenewalDeps, authority: CertifiedKey, renewed: Renewed): Periodic {
  const { manager, clock, log, namespace = platformNamespace } = deps
  const { client } = manager
  const { of, commonName, hosts, onEnd } = renewed
  const key = { namespace, name: renewed.secret }

  async function renew({ because, lifetimeDays, more }: Renewal, { judge, now, resourceVersion }: Found): Promise<void> {
    const names = { dnsNames: [...hosts, ...(more?.dnsNames ?? [])], ipAddresses: more?.ipAddresses ?? [] }
    const made = await issueCertificate({ authority, commonName, ...names, usage: 'server', now, lifetimeDays })
    const { notAfter } = certificateFacts(made.certificatePem)
    // An authority that may not sign certificates, or ends at once, would bring one that API servers refuse.
    if (judge(made.certificatePem).kind !== 'keep')
      throw new AppError(
        'invalid_configuration',
        'SEKISHO_ADMISSION_AUTHORITY_CERTIFICATE may not sign certificates (keyCertSign)',
      )
    const { apiVersion, kind } = secrets
    const data = { 'tls.crt': encoded(made.certificatePem), 'tls.key': encoded(made.privateKeyPem.reveal()) }
    // With the version that was decided about: a certificate that somebody else has put there meanwhile is not replaced.
    const metadata = { ...key, ...defined({ resourceVersion }) }
    await client.apply(secrets, { apiVersion, kind, metadata, type: 'kubernetes.io/tls', data }, { fieldManager, force: true })
    onEnd?.(notAfter)
    log.info({ because, notAfter: notAfter.toISOString() }, `the serving certificate of ${of} was renewed`)
  }

  async function work(): Promise<void> {
    const now = clock.now()
    const [secret, judge] = await Promise.all([client.get(secrets, key), renewed.judge(now)])
    const served = decoded(secret?.data?.['tls.crt']) || undefined
    const decision = judge(served)
    const { resourceVersion } = secret?.metadata ?? {}
    if (decision.kind === 'renew') return renew(decision, { judge, now, resourceVersion })
    if (decision.kind === 'refuse') throw new AppError('invalid_configuration', decision.message)
    if (served !== undefined) onEnd?.(certificateFacts(served).notAfter)
  }

  return periodic({
    name: `renewal of the certificate of ${of}`,
    everyMilliseconds: checkMilliseconds,
    enabled: manager.isLeader,
    work,
    clock,
    log,
  })
}
