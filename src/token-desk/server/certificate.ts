// The token desk's serving certificate: an authority made once and sealed in the store, a short-lived leaf made at every start and renewed
// while it serves. Workloads trust the authority through the ConfigMap that every tenant namespace has. No key leaves the process.

import { issueCertificate, makeCertificateAuthority } from '../../identity/certificate-authority.ts'
import type { CertifiedKey } from '../../identity/certified-key.ts'
import type { Clock } from '../../lib/clock.ts'
import { SecretString } from '../../lib/secret-string.ts'
import type { Store } from '../../store/store.ts'
import { type Certificate, createCertificate, type KeyPair } from '../../web/tls.ts'

const authorityDays = 3650
const leafDays = 30
const renewMilliseconds = 24 * 3_600_000

export type TokenDeskCertificate = Certificate & {
  /** PEM of the authority: public. */
  readonly authority: string
  readonly stop: () => void
}

type Deps = {
  readonly keys: Store['keys']
  readonly host: string
  readonly clock: Clock
  readonly onError: (error: unknown) => void
  /** Default a day. */
  readonly renewMilliseconds?: number
}

export async function openTokenDeskCertificate(deps: Deps): Promise<TokenDeskCertificate> {
  const authority = await openAuthority(deps)
  const issue = async (): Promise<KeyPair> => {
    const leaf = await issueCertificate({
      authority,
      commonName: 'sekisho-token-desk',
      dnsNames: [deps.host, `${deps.host}.cluster.local`],
      usage: 'server',
      now: deps.clock.now(),
      lifetimeDays: leafDays,
    })
    return { certificate: leaf.certificatePem, privateKey: leaf.privateKeyPem }
  }
  const certificate = createCertificate(await issue())
  const timer = setInterval(
    () => void issue().then(certificate.replace, deps.onError),
    deps.renewMilliseconds ?? renewMilliseconds,
  )
  timer.unref()
  return { ...certificate, authority: authority.certificatePem, stop: () => clearInterval(timer) }
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
