// The record of the changes to this host, one file per machine and user, so that any checkout can undo them.
// It must be written before the host is changed: a change that is not recorded cannot be undone.
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { defined } from '../../../src/lib/json/defined.ts'
import { isJsonObject } from '../../../src/lib/json/json-value.ts'
import { kernelLimits } from '../../../src/lib/limits/node-limits.ts'
import { limitPath } from './kernel-limits.ts'

export type HostRecord = {
  readonly version: 1
  /** The checkout that made the changes, for messages. */
  readonly repository: string
  /** Folder of that cluster; every mount below it belongs to the cluster. */
  readonly clusterFolder: string
  readonly bootId: string
  /** Present when a node was started: its changes to the host. */
  readonly node?: HostChanges
}

export type HostChanges = {
  /** The address added to `lo`; absent when it existed before. */
  readonly address?: string
  readonly bridge: string
  readonly cniNetwork: string
  /** Path below the root of every cgroup hierarchy; holds the container runtime and all pods. */
  readonly cgroup: string
  /** Prefixes of the firewall chains of kubelet, kube-proxy and the network plugins. */
  readonly chainPrefixes: readonly string[]
  /** The earlier values of the kernel settings. */
  readonly sysctls: Readonly<Record<string, string>>
}

const file = 'host.json'
const limitPaths = kernelLimits.map(limitPath)

export function processFolder(recordFolder: string): string {
  return join(recordFolder, 'processes')
}

function parseChanges(value: unknown): HostChanges | undefined {
  if (!isJsonObject(value)) return undefined
  const { address, bridge, cniNetwork, cgroup, chainPrefixes, sysctls } = value
  // These become arguments and paths, so only values in the form that this code writes are accepted.
  const name = /^[a-z0-9][a-z0-9.-]{0,30}$/
  if (typeof bridge !== 'string' || !name.test(bridge) || typeof cniNetwork !== 'string' || !name.test(cniNetwork))
    return undefined
  if (typeof cgroup !== 'string' || !name.test(cgroup) || !Array.isArray(chainPrefixes) || !isJsonObject(sysctls))
    return undefined
  const prefixes = chainPrefixes.filter(prefix => typeof prefix === 'string' && /^[A-Z]{2,10}-$/.test(prefix))
  const settings = Object.entries(sysctls).flatMap(([key, text]) =>
    typeof text === 'string' && (/^net(\/[A-Za-z0-9_-]+)+$/.test(key) || limitPaths.includes(key)) ? [[key, text] as const] : [],
  )
  return {
    ...(typeof address === 'string' && /^[0-9.]+\/32$/.test(address) ? { address } : {}),
    bridge,
    cniNetwork,
    cgroup,
    chainPrefixes: prefixes,
    sysctls: Object.fromEntries(settings),
  }
}

/** Parses a record; undefined for anything that this code did not write. */
export function parseHostRecord(text: string): HostRecord | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isJsonObject(value) || value['version'] !== 1) return undefined
  const { repository, clusterFolder, bootId } = value
  if (typeof repository !== 'string' || typeof clusterFolder !== 'string' || typeof bootId !== 'string') return undefined
  if (!clusterFolder.startsWith('/') || clusterFolder.split('/').filter(Boolean).length < 2) return undefined
  const node = parseChanges(value['node'])
  return { version: 1, repository, clusterFolder, bootId, ...defined({ node }) }
}

export async function readHostRecord(folder: string): Promise<HostRecord | undefined> {
  return readFile(join(folder, file), 'utf8').then(parseHostRecord, () => undefined)
}

export async function writeHostRecord(folder: string, record: HostRecord): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await writeFile(join(folder, `${file}.new`), `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 })
  await rename(join(folder, `${file}.new`), join(folder, file))
}

export async function removeHostRecord(folder: string): Promise<void> {
  await rm(join(folder, file), { force: true })
}
