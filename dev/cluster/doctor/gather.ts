// Collects the facts about this machine for the doctor: versions, packages, ports, disk. It changes nothing and decides nothing.
import { readFile, statfs } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import { readSysctls, shortcomings } from '../../../src/lib/limits/node-limits.ts'
import { catalog } from '../binaries/catalog.ts'
import { findBinary } from '../binaries/ensure-binary.ts'
import { isAccessible } from '../file-access.ts'
import { aliveNames } from '../host/clean.ts'
import { readHostRecord } from '../host/record.ts'
import { policyMetricsPort } from '../node/layout.ts'
import { missingPackages } from '../node/packages.ts'
import { tryCommand } from '../run-command.ts'
import type { ClusterSettings } from '../settings.ts'
import { devClusterFolder } from '../settings.ts'
import type { Facts } from './requirements.ts'

async function versionOf(program: string, argument: string): Promise<string | undefined> {
  const result = await tryCommand(program, [argument]).catch(() => undefined) // not installed
  return result?.code === 0 ? result.output.trim() : undefined
}

/** Whether a port can be used on loopback; a port in use is only worth reporting when no cluster of ours runs. */
function isFree(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)))
  })
}

async function takenPorts(settings: ClusterSettings): Promise<Facts['takenPorts']> {
  if ((await aliveNames(settings.hostRecordFolder)).length > 0) return []
  const controlPlane = [
    { port: settings.ports.apiServer, purpose: 'API server' },
    { port: settings.ports.etcdClient, purpose: 'etcd' },
    { port: settings.ports.etcdPeer, purpose: 'etcd peers' },
    { port: settings.ports.controllerManager, purpose: 'kube-controller-manager' },
  ]
  const node = [
    { port: settings.schedulerPort, purpose: 'kube-scheduler' },
    { port: settings.registryPort, purpose: 'registry' },
    { port: settings.nodeRegistryPort, purpose: 'registry of the node' },
    { port: settings.ingressPort, purpose: 'ingress' },
    { port: settings.ingressTlsPort, purpose: 'ingress with TLS' },
    { port: policyMetricsPort, purpose: 'network policies' },
    { port: 10_250, purpose: 'kubelet' },
  ]
  const wanted = settings.root ? [...controlPlane, ...node] : controlPlane
  const free = await Promise.all(wanted.map(item => isFree(item.port)))
  return wanted.filter((_item, index) => !free[index])
}

/** Loaded or built in (both show below /proc), or a module that modprobe would load. */
async function hasPacketQueue(): Promise<boolean> {
  const parts = { nfnetlink_queue: '/proc/net/netfilter/nfnetlink_queue', br_netfilter: '/proc/sys/net/bridge' }
  const found = await Promise.all(
    Object.entries(parts).map(async ([kernelModule, path]) => {
      if (await isAccessible(path)) return true
      const loadable = await tryCommand('modprobe', ['--dry-run', kernelModule]).catch(() => undefined) // no modprobe
      return loadable?.code === 0
    }),
  )
  return !found.includes(false)
}

async function freeGibibytes(folder: string): Promise<number> {
  const stat = await statfs(folder).catch(() => undefined)
  if (stat !== undefined) return Math.floor((stat.bavail * stat.bsize) / 2 ** 30)
  return dirname(folder) === folder ? 0 : freeGibibytes(dirname(folder))
}

export async function gatherFacts(settings: ClusterSettings): Promise<Facts> {
  const entries = settings.root ? Object.values(catalog) : [catalog.etcd, catalog.kubernetes]
  const [go, git, make, openssl, tar, missing, apt, taken, queue, sysctls, free, record, alive, found] = await Promise.all([
    versionOf('go', 'version'),
    versionOf('git', '--version'),
    versionOf('make', '--version'),
    versionOf('openssl', 'version'),
    versionOf('tar', '--version'),
    missingPackages(),
    versionOf('apt-get', '--version'),
    takenPorts(settings),
    hasPacketQueue(),
    readSysctls(file => readFile(file, 'utf8')),
    freeGibibytes(settings.cacheFolder),
    readHostRecord(settings.hostRecordFolder),
    aliveNames(settings.hostRecordFolder),
    Promise.all(entries.map(entry => findBinary(entry, settings))),
  ])
  const foreign = record !== undefined && record.clusterFolder !== devClusterFolder(settings) && alive.length > 0
  return {
    linux: process.platform === 'linux',
    root: settings.root,
    versions: { go, git, make, openssl, tar, node: process.version },
    toBuild: entries.filter((_entry, index) => found[index] === undefined).map(entry => entry.name),
    missingPackages: missing,
    apt: apt !== undefined,
    takenPorts: taken,
    packetQueue: queue,
    kernelLimits: shortcomings({ sysctls, containerPtys: undefined }),
    freeGibibytes: free,
    otherOwner: foreign ? record.repository : undefined,
  }
}
