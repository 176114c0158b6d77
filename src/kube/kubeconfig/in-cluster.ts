// The connection of a pod: the environment of the Service `kubernetes` and the files of the projected ServiceAccount volume.
// The kubelet rotates the token file, so it is read again every minute.
// Source: Kubernetes docs, "Accessing the Kubernetes API from a Pod".
import { readFile } from 'node:fs/promises'
import { isIPv6 } from 'node:net'
import { join } from 'node:path'
import type { Clock } from '../../lib/clock.ts'
import type { Environment } from '../../lib/config.ts'
import { SecretString } from '../../lib/secret-string.ts'
import type { KubeConnection } from '../client/connection.ts'

const serviceAccountFolder = '/var/run/secrets/kubernetes.io/serviceaccount'
const tokenLifeMilliseconds = 60_000

export type InClusterDeps = { readonly environment: Environment; readonly clock: Clock; readonly folder?: string }

/** Resolves to `undefined` outside a pod. */
export async function loadInClusterConnection(deps: InClusterDeps): Promise<KubeConnection | undefined> {
  const { environment, clock, folder = serviceAccountFolder } = deps
  const host = environment['KUBERNETES_SERVICE_HOST']
  const port = environment['KUBERNETES_SERVICE_PORT']
  if (!host || !port) return undefined
  const tokenFile = join(folder, 'token')
  if ((await readFile(tokenFile).catch(() => undefined)) === undefined) return undefined
  const ca = await readFile(join(folder, 'ca.crt'), 'utf8')
  let held: { readonly header: SecretString; readonly until: number } | undefined
  return {
    server: new URL(`https://${isIPv6(host) ? `[${host}]` : host}:${port}`),
    tls: { ca },
    async authorization(options) {
      const now = clock.now().getTime()
      if (held === undefined || options?.fresh || now >= held.until) {
        const token = (await readFile(tokenFile, 'utf8')).trim()
        held = { header: new SecretString(`Bearer ${token}`), until: now + tokenLifeMilliseconds }
      }
      return held.header
    },
  }
}
