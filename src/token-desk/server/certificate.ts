// The token desk's serving certificate: an authority made once and sealed in the store, and a short-lived leaf issued at every start and
// renewed while the desk serves. Workloads trust the authority through the ConfigMap in every tenant namespace. No key leaves the process.
import { issueCertificate, makeCertificateAuthority } from '../../identity/certificate-authority.ts'
import type { CertifiedKey } from '../../identity/certified-key.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { type Periodic, periodic } from '../../lib/periodic.ts'
import { SecretString } from '../../lib/secret-string.ts'
import type { Store } from '../../store/store.ts'
import { type Certificate, createCertificate, type KeyPair } from '../../web/tls.ts'

const authorityDays = 3650
const leafDays = 30
const renewMilliseconds = 24 * 3_600_000

/** `start` begins to renew the leaf, and `stop` ends that. A failed renewal is logged; the old leaf stays in use. */
export type TokenDeskCertificate = Certificate &
  Pick<Periodic, 'start' | 'stop'> & {
    /** PEM of the authority: public. */
    readonly authority: string
  }

type Deps = {
  readonly keys: Store['keys']
  /** The desk's host name inside the cluster, such as `sekisho-token-desk.sekisho-system.svc`. */
  readonly host: string
  readonly clock: Clock
  readonly log: Log
  /** Default a day. */
  readonly renewMilliseconds?: number
}

/** Opens or creates the authority and issues the first leaf. Rejects when the store fails or its key cannot be unsealed. */
export async function openTokenDeskCertificate(deps: Deps): Promise<TokenDeskCertificate> {
  const { clock, log, host } = deps
  const authority = await openAuthority(deps)
  const issue = async (): Promise<KeyPair> => {
    const leaf = await issueCertificate({
      authority,
      commonName: 'sekisho-token-desk',
      dnsNames: [host, `${host}.cluster.local`],
      usage: 'server',
      now: clock.now(),
      lifetimeDays: leafDays,
    })
    return { certificate: leaf.certificatePem, privateKey: leaf.privateKeyPem }
  }
  const certificate = createCertificate(await issue())
  const { start, stop } = periodic({
    name: 'token desk certificate renewal',
    everyMilliseconds: deps.renewMilliseconds ?? renewMilliseconds,
    work: async () => certificate.replace(await issue()),
    clock,
    log,
    waitsFirst: true,
  })
  return { ...certificate, authority: authority.certificatePem, start, stop }
}

async function openAuthority({ keys, clock }: Deps): Promise<CertifiedKey> {
  const sealed = await keys.getOrCreate('token-desk-authority', async () => {
    const made = await makeCertificateAuthority({
      commonName: 'sekisho-token-desk-ca',
      now: clock.now(),
      lifetimeDays: authorityDays,
    })
    return new SecretString(JSON.stringify({ certificate: made.certificatePem, key: made.privateKeyPem.reveal() }))
  })
  const { certificate, key } = JSON.parse(sealed.reveal()) as { certificate: string; key: string }
  return { certificatePem: certificate, privateKeyPem: new SecretString(key) }
}
