// Secrets of the development platform, as manifests and as they are in the cluster. What is generated is generated once: data
// that was sealed with a key, or a role with a password, would not open with another. Values go to kubectl by standard input
// and are not printed.
import { randomBytes } from 'node:crypto'
import { stringify } from 'yaml'
import type { Kubectl } from '../kubectl.ts'
import { platformNamespace as namespace } from '../mode.ts'

export type SecretData = Readonly<Record<string, string>>

export function secretManifest(name: string, data: SecretData, type = 'Opaque'): string {
  return stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, type, stringData: data })
}

/** The values of a Secret in the cluster; empty when there is none. */
export async function secretData(kubectl: Kubectl, name: string, where: string = namespace): Promise<SecretData> {
  const found = (await kubectl.read(['secret', name, '-n', where])) as { readonly data?: SecretData } | undefined
  return Object.fromEntries(
    Object.entries(found?.data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
  )
}

/** A keyring of one key, as SEKISHO_SEALING_KEYS wants it. */
export function newSealingKey(): string {
  return randomBytes(32).toString('base64')
}
