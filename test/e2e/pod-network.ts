// Pods for tests of the network: each runs only the node's sandbox program, and the test runs its own clients and servers in
// the pods' network namespaces. So no image is pulled, and nothing depends on what an image contains. Needs root on the node,
// which `make up` needs too.
import { type ChildProcess, spawn } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AdminClient } from '../../dev/cluster/control-plane/admin-client.ts'
import { addAddress, removeAddress } from '../../dev/cluster/host/network.ts'
import { runCommand } from '../../dev/cluster/run-command.ts'
import { type ClusterSettings, devClusterFolder } from '../../dev/cluster/settings.ts'
import { limits } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { find, pathOf } from './objects.ts'

const program = join(import.meta.dirname, 'pod-process.ts')

export type TestPod = {
  readonly name: string
  readonly namespace: string
  readonly address: string
  /** Its link-local IPv6 address with its scope as seen from pods of the same node. */
  readonly linkLocal: string
  /** Which of the addresses (`host|port`) accept a connection from this pod. */
  readonly reaches: (addresses: readonly string[]) => Promise<readonly boolean[]>
  readonly resolve: (server: string, name: string) => Promise<readonly string[]>
  /** Resolves when something listens in the pod. */
  readonly listen: (port: number) => Promise<void>
}

type PodOptions = {
  readonly namespace: string
  readonly name: string
  readonly labels?: Readonly<Record<string, string>>
}

export type PodNetwork = {
  readonly start: (options: PodOptions) => Promise<TestPod>
  /** Deletes the pods and ends what listens in them. */
  readonly end: () => Promise<void>
}

export async function openPodNetwork(admin: AdminClient, settings: ClusterSettings): Promise<PodNetwork> {
  const image = await sandboxImage(settings)
  const listeners: ChildProcess[] = []
  const references: (readonly [string, string])[] = []
  const paths = (): readonly string[] =>
    references.map(([name, namespace]) => `${pathOf('pod', namespace)}/${name}?gracePeriodSeconds=0`)
  return {
    async start({ namespace, name, labels = {} }) {
      references.push([name, namespace])
      await admin.request('DELETE', `${pathOf('pod', namespace)}/${name}?gracePeriodSeconds=0`)
      await waitUntil(
        `an earlier pod ${name} to be gone`,
        async () => (await find(admin, `pod/${name}`, namespace)) === undefined,
        { timeoutMilliseconds: limits.rollout },
      )
      await admin.call('POST', pathOf('pod', namespace), podManifest({ namespace, name, labels }, image))
      const { uid, address } = await waitUntil(
        `pod ${name} to run`,
        async () => {
          const pod = await find(admin, `pod/${name}`, namespace)
          const podAddress = pod?.status?.['podIP']
          return pod?.status?.['phase'] === 'Running' && typeof podAddress === 'string'
            ? { uid: pod.metadata.uid, address: podAddress }
            : undefined
        },
        { timeoutMilliseconds: limits.rollout },
      )
      const enter = ['--target', String(await processOf(uid)), '--net', '--', process.execPath, program]
      const ask = async (args: readonly string[]): Promise<unknown> =>
        JSON.parse(await runCommand('nsenter', [...enter, ...args]))
      return {
        name,
        namespace,
        address,
        linkLocal: await linkLocalOf(enter),
        reaches: async addresses => (await ask(addresses.map(item => `--connect=${item}`))) as readonly boolean[],
        resolve: async (server, wanted) => (await ask([`--resolve=${server}|${wanted}`])) as readonly string[],
        listen: async port => void listeners.push(await listenAt(enter, port)),
      }
    },
    async end() {
      for (const listener of listeners) listener.kill('SIGKILL')
      for (const path of paths()) await admin.request('DELETE', path)
    },
  }
}

/** The image that the runtime starts for every pod, present on the node by its nature. */
async function sandboxImage(settings: ClusterSettings): Promise<string> {
  const text = await readFile(join(devClusterFolder(settings), 'config', 'containerd.toml'), 'utf8')
  const image = /^sandbox_image = "([^"]+)"$/m.exec(text)?.[1]
  if (image === undefined) throw new Error('containerd.toml names no sandbox_image')
  return image
}

function podManifest({ namespace, name, labels }: Required<PodOptions>, image: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels },
    spec: {
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'nothing',
          image,
          imagePullPolicy: 'Never',
          resources: { requests: { cpu: '1m', memory: '8Mi' }, limits: { memory: '32Mi' } },
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        },
      ],
    },
  }
}

/** A process of the pod, by its control group. */
async function processOf(uid: string): Promise<number> {
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name))
  for (const pid of pids) {
    const groups = await readFile(`/proc/${pid}/cgroup`, 'utf8').catch(() => '') // it ended in the meantime
    if (groups.includes(`/pod${uid}/`)) return Number(pid)
  }
  throw new Error(`no process runs in the pod ${uid}`)
}

async function linkLocalOf(enter: readonly string[]): Promise<string> {
  const namespace = enter.slice(0, enter.indexOf('--') + 1)
  const shown = await runCommand('nsenter', [...namespace, 'ip', '-o', '-6', 'addr', 'show', 'dev', 'eth0', 'scope', 'link'])
  const address = /inet6 (fe80[0-9a-f:]+)\//.exec(shown)?.[1]
  if (address === undefined) throw new Error('the pod has no link-local IPv6 address')
  return `${address}%eth0`
}

function listenAt(enter: readonly string[], port: number): Promise<ChildProcess> {
  return new Promise((resolve, reject) => {
    const child = spawn('nsenter', [...enter, `--listen=${port}`], { stdio: ['ignore', 'pipe', 'inherit'] })
    child.once('error', reject)
    child.once('exit', code => reject(new Error(`the listener in the pod ended with ${code}`)))
    child.stdout?.once('data', () => resolve(child))
  })
}

/**
 * Addresses that this host has while the test runs; the packets that reach them leave the machine as little as any on loopback.
 */
export async function withAddresses(addresses: readonly string[]): Promise<{ readonly remove: () => Promise<void> }> {
  for (const address of addresses) await addAddress(`${address}/32`)
  return {
    async remove() {
      for (const address of addresses) await removeAddress(`${address}/32`)
    },
  }
}
