// The secrets of the development platform: generated once and kept in the cluster. An existing secret is never replaced, because sealed data
// would become unreadable. Values go to kubectl by standard input, never as arguments, and are not printed.
import { randomBytes } from 'node:crypto'
import { stringify } from 'yaml'
import type { Kubectl } from './kubectl.ts'

type Secret = { readonly data?: Readonly<Record<string, string>> }

function secretManifest(name: string, data: Readonly<Record<string, string>>, type = 'Opaque'): string {
  return stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'sekisho-system' }, type, stringData: data })
}

export type PlatformSecrets = {
  readonly clientSecret: string
  readonly webhookSecret: string
  readonly appPrivateKey: string
  readonly brokerCertificate: string
  readonly brokerKey: string
  /** The authority whose tokens the registry believes, and the serving certificate of the token server. */
  readonly registryAuthority: { readonly certificate: string; readonly key: string }
  readonly registryTokens: { readonly certificate: string; readonly key: string }
}

/** Applies `sekisho-secrets`, `sekisho-broker-tls` and the App's key. The sealing key of an existing installation is kept. */
export async function applyPlatformSecrets(kubectl: Kubectl, secrets: PlatformSecrets): Promise<void> {
  const existing = (await kubectl.read(['secret', 'sekisho-secrets', '-n', 'sekisho-system'])) as Secret | undefined
  const kept = existing?.data?.['sealing-keys']
  const sealingKeys = kept === undefined ? randomBytes(32).toString('base64') : Buffer.from(kept, 'base64').toString()
  await kubectl.applyText(
    [
      secretManifest('sekisho-secrets', {
        'sealing-keys': sealingKeys,
        'github-client-secret': secrets.clientSecret,
        'github-webhook-secret': secrets.webhookSecret,
        'registry-authority.crt': secrets.registryAuthority.certificate,
        'registry-authority.key': secrets.registryAuthority.key,
        'registry-tokens.crt': secrets.registryTokens.certificate,
        'registry-tokens.key': secrets.registryTokens.key,
      }),
      secretManifest(
        'sekisho-broker-tls',
        { 'tls.crt': secrets.brokerCertificate, 'tls.key': secrets.brokerKey },
        'kubernetes.io/tls',
      ),
      secretManifest('github-app-key', { 'private-key.pem': secrets.appPrivateKey }),
    ].join('---\n'),
  )
}
