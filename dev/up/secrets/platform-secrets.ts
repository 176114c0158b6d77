// The Secrets that each form of the platform mounts. The form says who gets what: in production the broker and the controllers
// have one Secret each, with keyrings of their own, and admission has its serving certificate.
import type { Kubectl } from '../kubectl.ts'
import type { Mode } from '../mode.ts'
import type { DatabaseAccess } from './database-access.ts'
import { newSealingKey, secretData, secretManifest } from './secret.ts'

export type KeyPair = { readonly certificate: string; readonly key: string }

export type SecretValues = {
  readonly clientSecret: string
  readonly webhookSecret: string
  /** Absent when the App and its key are the cluster's own. */
  readonly appPrivateKey?: string
  readonly broker: KeyPair
  readonly admission: KeyPair
  /** With which the controllers renew that certificate; absent when the installer renews it. */
  readonly admissionAuthority?: KeyPair
  /** The authority whose tokens the registry believes, and the serving certificate of the token server. */
  readonly registryAuthority: KeyPair
  readonly registryTokens: KeyPair
  /** Of the authorizer, where the API server asks one. */
  readonly authorizer?: KeyPair
}

/** The Secret that the controllers mount in each form, and nobody else in production. */
export const controllersSecret: { readonly [M in Mode]: string } = {
  standalone: 'sekisho-secrets',
  production: 'sekisho-controllers-secrets',
}

/** What the authority of the webhook's certificate is called in it. */
export const admissionAuthorityFiles = { certificate: 'admission-authority.crt', key: 'admission-authority.key' } as const

/** The Secrets that only one form has. */
export const secretsOf: { readonly [M in Mode]: readonly string[] } = {
  standalone: ['sekisho-secrets'],
  production: ['sekisho-broker-secrets', 'sekisho-controllers-secrets', 'sekisho-database-owner'],
}

export async function applyStandaloneSecrets(kubectl: Kubectl, values: SecretValues): Promise<void> {
  const own = secretManifest('sekisho-secrets', {
    'sealing-keys': await keptSealingKeys(kubectl, 'sekisho-secrets'),
    ...ofBroker(values),
    ...ofControllers(values),
  })
  await kubectl.applyText([own, ...shared(values)].join('---\n'))
}

export async function applyProductionSecrets(kubectl: Kubectl, values: SecretValues, database: DatabaseAccess): Promise<void> {
  const { urls, passwords, authority } = database
  const trusted = authority === undefined ? {} : { 'database-ca.crt': authority }
  const access = (role: 'broker' | 'desk') => ({
    'database-url': urls[role],
    'audit-database-url': urls.audit,
    ...trusted,
  })
  const own = [
    secretManifest('sekisho-broker-secrets', {
      'sealing-keys': await keptSealingKeys(kubectl, 'sekisho-broker-secrets'),
      ...ofBroker(values),
      ...access('broker'),
    }),
    secretManifest('sekisho-controllers-secrets', {
      'sealing-keys': await keptSealingKeys(kubectl, 'sekisho-controllers-secrets'),
      ...ofControllers(values),
      ...access('desk'),
    }),
    secretManifest('sekisho-database-owner', {
      'database-owner-url': urls.owner,
      'broker-password': passwords.broker,
      'desk-password': passwords.desk,
      'audit-password': passwords.audit,
      ...trusted,
    }),
  ]
  await kubectl.applyText([...own, ...shared(values)].join('---\n'))
}

async function keptSealingKeys(kubectl: Kubectl, name: string): Promise<string> {
  return (await secretData(kubectl, name))['sealing-keys'] ?? newSealingKey()
}

function ofBroker(values: SecretValues) {
  return { 'github-client-secret': values.clientSecret, 'github-webhook-secret': values.webhookSecret }
}

function ofControllers({ registryAuthority, admissionAuthority }: SecretValues) {
  return {
    'registry-authority.crt': registryAuthority.certificate,
    'registry-authority.key': registryAuthority.key,
    ...(admissionAuthority === undefined
      ? {}
      : {
          [admissionAuthorityFiles.certificate]: admissionAuthority.certificate,
          [admissionAuthorityFiles.key]: admissionAuthority.key,
        }),
  }
}

function shared({ appPrivateKey, broker, admission, registryTokens, authorizer }: SecretValues): readonly string[] {
  const pair = (name: string, { certificate, key }: KeyPair): string =>
    secretManifest(name, { 'tls.crt': certificate, 'tls.key': key }, 'kubernetes.io/tls')
  return [
    pair('sekisho-broker-tls', broker),
    pair('sekisho-admission-tls', admission),
    pair('sekisho-registry-tokens-tls', registryTokens),
    ...(authorizer === undefined ? [] : [pair('sekisho-authorizer-tls', authorizer)]),
    ...(appPrivateKey === undefined ? [] : [secretManifest('github-app-key', { 'private-key.pem': appPrivateKey })]),
  ]
}
