// The limits of a node that all of its pods share, and what they must be so that no pod uses one up for the others
// (docs/adr/0059): data, and comparisons with it. It changes nothing.

export type KernelLimit = {
  /** As `sysctl` spells it. */
  readonly name: string
  /** What the kernel counts. */
  readonly counts: string
  readonly least: number
  /** What ends first when the limit is at least this: the memory of the pod, a limit of the pod, or a limit of the uid. */
  readonly keeper: string
}

/** Bytes and figures are measured: docs/adr/0059. */
export const kernelLimits: readonly KernelLimit[] = [
  {
    name: 'kernel.pid_max',
    counts: 'processes and threads of the node',
    least: 4_194_304,
    keeper: 'podPidsLimit, of which this holds a thousand',
  },
  {
    name: 'kernel.threads-max',
    counts: 'processes and threads of the node',
    least: 4_194_304,
    keeper: 'podPidsLimit, and the memory limit of the pod (20 kB each)',
  },
  {
    name: 'fs.file-max',
    counts: 'open files of the node',
    least: 1_073_741_824,
    keeper: 'the memory limit of the pod (235 bytes each)',
  },
  {
    name: 'fs.aio-max-nr',
    counts: 'events of asynchronous I/O of the node',
    least: 1_073_741_824,
    keeper: 'the memory limit of the pod (64 bytes each)',
  },
  {
    name: 'kernel.pty.max',
    counts: 'pseudo-terminals of the node',
    least: 65_536,
    keeper: 'the limit of each container: memory alone does not, because 23 of 27 kB each are charged to nobody',
  },
  {
    name: 'fs.inotify.max_user_instances',
    counts: 'inotify instances of one uid on the node',
    least: 8192,
    keeper: 'the uids, which are the tenant’s own, and the memory limit of the pod (5 kB each)',
  },
]

/** Processes and threads of a pod: `podPidsLimit` of the kubelet. */
export const podPids = 4096

/** Pseudo-terminals of a container: the mount option `max` of its /dev/pts. */
export const containerPtys = 64

export type NodeReading = {
  /** By the name of the sysctl; one that could not be read is absent. */
  readonly sysctls: Readonly<Record<string, number>>
  /** Infinity when containers have no limit of their own; undefined when it could not be read. */
  readonly containerPtys: number | undefined
}

export type Shortcoming = { readonly limit: string; readonly found: string; readonly wanted: string; readonly cure: string }

/** What a node lacks. What could not be read is not in it. */
export function shortcomings({ sysctls, containerPtys: ptys }: NodeReading): readonly Shortcoming[] {
  const low = kernelLimits.flatMap(({ name, least }) => {
    const found = sysctls[name]
    if (found === undefined || found >= least) return []
    return [{ limit: name, found: `${found}`, wanted: `at least ${least}`, cure: `sysctl -w ${name}=${least}` }]
  })
  if (ptys === undefined || ptys <= containerPtys) return low
  const unlimited = {
    limit: 'pseudo-terminals of a container',
    found: Number.isFinite(ptys) ? `${ptys}` : 'unlimited',
    wanted: `at most ${containerPtys}`,
    cure: `base_runtime_spec of containerd with the option max=${containerPtys} for /dev/pts`,
  }
  return [...low, unlimited]
}

/** The present values of the limits, by their names; `read` reads a file. Never rejects: one that cannot be read is left out. */
export async function readSysctls(read: (file: string) => Promise<string>): Promise<NodeReading['sysctls']> {
  const values: Record<string, number> = {}
  for (const { name } of kernelLimits) {
    const value = parseSysctl(await read(sysctlFile(name)).catch(() => ''))
    if (value !== undefined) values[name] = value
  }
  return values
}

/** Where the kernel shows a sysctl. In a pod, `kernel.pid_max` is that of the pod's own namespace since Linux 6.14. */
export function sysctlFile(name: string): string {
  return `/proc/sys/${name.replaceAll('.', '/')}`
}

/** The text of a sysctl; undefined when it is no number. */
export function parseSysctl(text: string): number | undefined {
  return /^\d+$/.test(text.trim()) ? Number(text.trim()) : undefined
}

/** The limit of the /dev/pts in a text of /proc/self/mountinfo: proc_pid_mountinfo(5). */
export function parsePtyLimit(mountinfo: string): number | undefined {
  const mount = mountinfo.split('\n').find(line => line.split(' ')[4] === '/dev/pts' && line.includes(' - devpts '))
  if (mount === undefined) return undefined
  const most = /[ ,]max=(\d+)/.exec(mount)?.[1]
  return most === undefined ? Number.POSITIVE_INFINITY : Number(most)
}

/**
 * Whether a kubelet keeps its pods from using up the processes of the node: all of them together have fewer than the kernel
 * has.
 */
export function keepsPids({ podPidsLimit, maxPods }: { readonly podPidsLimit: number; readonly maxPods: number }): boolean {
  const most = kernelLimits.find(({ name }) => name === 'kernel.pid_max')?.least ?? 0
  return podPidsLimit > 0 && podPidsLimit * maxPods < most
}
