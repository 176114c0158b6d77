// The connection to the API server with the rights of the person, as the kubeconfig says: our own plugin's token is taken in
// this process; certificates, tokens and other plugins are left to the reader of kubeconfigs in src/kube.
import { readFile } from 'node:fs/promises'
import type { KubeConnection, KubeTls } from '../../kube/client/connection.ts'
import { systemClock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { type JsonObject, textAt } from '../../lib/json/json-value.ts'
import { SecretString } from '../../lib/secret-string.ts'
import { kubeconfigText, type ResolvedKubeconfig } from './resolved-kubeconfig.ts'

/** Rejects with `invalid_configuration`. `ownToken` is given when the user is our own plugin, and gives a valid ID token. */
export async function kubernetesConnection(
  resolved: ResolvedKubeconfig,
  ownToken: (() => Promise<string>) | undefined,
): Promise<KubeConnection> {
  const { cluster, where, context } = resolved
  const server = textAt(cluster, 'server') ?? ''
  if (!URL.canParse(server) || new URL(server).protocol !== 'https:')
    throw new AppError('invalid_configuration', `${where}: the cluster of context ${context} has no https server`)
  if (ownToken === undefined) {
    const { connectionOfKubeconfig } = await import('../../kube/kubeconfig/kubeconfig.ts')
    return connectionOfKubeconfig(kubeconfigText(resolved), `${where}, context ${context}`, systemClock)
  }
  if (textAt(cluster, 'proxy-url')) throw new AppError('invalid_configuration', `${where}: proxy-url is not supported`)
  return {
    server: new URL(server),
    tls: await tlsOf(cluster),
    authorization: async () => new SecretString(`Bearer ${await ownToken()}`),
  }
}

async function tlsOf(cluster: JsonObject): Promise<KubeTls> {
  return {
    ca: await authorityOf(cluster),
    servername: textAt(cluster, 'tls-server-name'),
    insecure: cluster['insecure-skip-tls-verify'] === true,
  }
}

async function authorityOf(cluster: JsonObject): Promise<string | undefined> {
  const data = textAt(cluster, 'certificate-authority-data')
  if (data) return Buffer.from(data, 'base64').toString('utf8')
  const file = textAt(cluster, 'certificate-authority')
  if (!file) return undefined
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    throw new AppError('invalid_configuration', `certificate-authority: ${file} cannot be read`, { cause })
  }
}
