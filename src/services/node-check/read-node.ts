// Reads the limits of the node from inside a container, which needs no right for it: the kernel shows the same values to all,
// and the mount of /dev/pts was made for the container by the node's runtime, as for the containers of tenants.
import { readFile } from 'node:fs/promises'
import { type NodeReading, parsePtyLimit, readSysctls } from '../../lib/limits/node-limits.ts'

/** Never rejects. `read` is for tests. */
export async function readNode(read = (file: string): Promise<string> => readFile(file, 'utf8')): Promise<NodeReading> {
  const mounts = await read('/proc/self/mountinfo').catch(() => '')
  return { sysctls: await readSysctls(read), containerPtys: parsePtyLimit(mounts) }
}
