// Small files that the container runtime and its plugins leave outside the cluster's folder: sockets of shims, cached network
// results, links to pod logs. A file counts as ours only when it names a file of this cluster or is named by one.
import { readdir, readFile, readlink, rm } from 'node:fs/promises'
import { join } from 'node:path'

const networkResults = '/var/lib/cni/results'
const containerLogs = '/var/log/containers'
const shimSockets = '/run/containerd/s'

/** The socket's path from a bundle's `address` file, when it is where containerd 1.6 and 1.7 create it. */
export function shimSocketIn(address: string): string | undefined {
  const path = address.trim().replace(/^unix:\/\//, '')
  return new RegExp(`^${shimSockets}/[0-9a-f]{64}$`).test(path) ? path : undefined
}

/**
 * Removes what containers of this cluster left. Their processes must have ended; the runtime's state folder must still be
 * there.
 */
export async function removeRuntimeRemains(clusterFolder: string): Promise<void> {
  const bundles = join(clusterFolder, 'containerd', 'state', 'io.containerd.runtime.v2.task', 'k8s.io')
  for (const bundle of await namesIn(bundles)) {
    const socket = shimSocketIn(await readFile(join(bundles, bundle, 'address'), 'utf8').catch(() => ''))
    if (socket !== undefined) await rm(socket, { force: true })
  }
  for (const name of await namesIn(networkResults)) {
    const path = join(networkResults, name)
    const text = await readFile(path, 'utf8').catch(() => '')
    if (text.includes(`"${clusterFolder}/`)) await rm(path, { force: true })
  }
  for (const name of await namesIn(containerLogs)) {
    const path = join(containerLogs, name)
    const target = await readlink(path).catch(() => '')
    if (target.startsWith(`${clusterFolder}/`)) await rm(path, { force: true })
  }
  for (const stale of ['containerd/state', 'runc', 'runsc', 'cni/leases'])
    await rm(join(clusterFolder, stale), { recursive: true, force: true })
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch(() => []) // absent when no container ever ran
}
