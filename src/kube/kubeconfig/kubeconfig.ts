// Finds the API server and our credentials: KUBECONFIG, else the pod's ServiceAccount, else ~/.kube/config. The only importer of
// @kubernetes/client-node, which it loads only for a kubeconfig: to read the file and to run its plugins (exec, token files,
// OIDC).
// Source: Kubernetes docs, "Organizing Cluster Access Using kubeconfig Files".
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { KubeConfig } from '@kubernetes/client-node'
import type { Clock } from '../../lib/clock.ts'
import type { Environment } from '../../lib/config.ts'
import { AppError, messageOf } from '../../lib/errors.ts'
import { SecretString } from '../../lib/secret-string.ts'
import type { KubeConnection, KubeTls } from '../client/connection.ts'
import { loadInClusterConnection } from './in-cluster.ts'

export type LoadDeps = { readonly environment: Environment; readonly clock: Clock; readonly homeFolder?: string }

const headerLifeMilliseconds = 10_000

/** Rejects with `invalid_configuration`, which names the file or variable, when there is no usable connection. */
export async function loadKubeConnection(deps: LoadDeps): Promise<KubeConnection> {
  const given = deps.environment['KUBECONFIG']
  if (given) return kubeconfigConnection(given.split(delimiter).filter(Boolean), deps.clock)
  const inCluster = await loadInClusterConnection(deps)
  return inCluster ?? kubeconfigConnection([join(deps.homeFolder ?? homedir(), '.kube', 'config')], deps.clock)
}

/**
 * The connection of the current context of one kubeconfig, given as text; `where` names it in errors. Paths in the text must be
 * absolute. Rejects with `invalid_configuration`.
 */
export async function connectionOfKubeconfig(text: string, where: string, clock: Clock): Promise<KubeConnection> {
  const { KubeConfig } = await import('./library.ts')
  const config = new KubeConfig()
  try {
    config.loadFromString(text)
  } catch (cause) {
    throw new AppError('invalid_configuration', `failed to read ${where}: ${messageOf(cause)}`, { cause })
  }
  return connectionOf(config, where, clock)
}

async function kubeconfigConnection(files: readonly string[], clock: Clock): Promise<KubeConnection> {
  return connectionOf(await readFiles(files), `KUBECONFIG ${files.join(delimiter)}`, clock)
}

async function connectionOf(config: KubeConfig, where: string, clock: Clock): Promise<KubeConnection> {
  const cluster = config.getCurrentCluster()
  if (cluster === null || !URL.canParse(cluster.server))
    throw new AppError('invalid_configuration', `${where}: current-context ${config.getCurrentContext()} has no server`)
  if (cluster.proxyUrl) throw new AppError('invalid_configuration', `${where}: proxy-url is not supported`)
  const first = await credentials(config, where)
  let held = { header: first.header, until: clock.now().getTime() + headerLifeMilliseconds }
  return {
    server: new URL(cluster.server),
    tls: first.tls,
    async authorization(options) {
      const now = clock.now().getTime()
      if (options?.fresh || now >= held.until)
        held = { header: (await credentials(config, where)).header, until: now + headerLifeMilliseconds }
      return held.header
    },
  }
}

async function readFiles(files: readonly string[]): Promise<KubeConfig> {
  const { KubeConfig } = await import('./library.ts')
  const config = new KubeConfig()
  for (const [index, file] of files.entries()) {
    const part = index === 0 ? config : new KubeConfig()
    try {
      part.loadFromFile(file)
      if (part !== config) config.mergeConfig(part, true)
    } catch (cause) {
      throw new AppError('invalid_configuration', `failed to read KUBECONFIG ${file}: ${messageOf(cause)}`, { cause })
    }
  }
  return config
}

/** Runs the kubeconfig's plugins, which cache credentials until they expire. */
async function credentials(config: KubeConfig, where: string): Promise<{ tls: KubeTls; header: SecretString | undefined }> {
  const options: Parameters<KubeConfig['applyToHTTPSOptions']>[0] = {}
  try {
    await config.applyToHTTPSOptions(options)
  } catch (cause) {
    throw new AppError('invalid_configuration', `${where}: failed to get the user's credentials: ${messageOf(cause)}`, { cause })
  }
  const headers = new Map(Object.entries(options.headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value)]))
  // Ignoring it would use more permissions than the author of the file intended.
  if (headers.has('impersonate-user'))
    throw new AppError('invalid_configuration', `${where}: "as" (impersonation) is not supported`)
  const basic = options.auth ? `Basic ${Buffer.from(options.auth).toString('base64')}` : undefined
  const header = headers.get('authorization') ?? basic
  const [ca, cert, key] = [options.ca, options.cert, options.key].map(pem)
  const secret = (text: string | undefined): SecretString | undefined => (text === undefined ? text : new SecretString(text))
  const { servername, rejectUnauthorized } = options
  return { header: secret(header), tls: { ca, cert, key: secret(key), servername, insecure: rejectUnauthorized === false } }
}

function pem(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  return Buffer.isBuffer(value) ? value.toString('utf8') : undefined
}
