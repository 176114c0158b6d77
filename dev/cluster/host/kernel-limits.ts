// Raises the kernel's limits that all pods of the node share (src/lib/limits/node-limits.ts). A limit that is high enough stays
// as it is, and one that this machine does not let us write is only reported: the cluster works, and a pod may use it up.
import { messageOf } from '../../../src/lib/errors.ts'
import { type KernelLimit, kernelLimits, parseSysctl } from '../../../src/lib/limits/node-limits.ts'

export type Sysctls = {
  readonly read: (path: string) => Promise<string>
  readonly write: (path: string, value: string) => Promise<void>
}

/** Below /proc/sys. */
export function limitPath({ name }: Pick<KernelLimit, 'name'>): string {
  return name.replaceAll('.', '/')
}

/** The present values of those that are too low, by their paths. */
export async function lowLimits({ read }: Pick<Sysctls, 'read'>): Promise<Readonly<Record<string, string>>> {
  const low: Record<string, string> = {}
  for (const limit of kernelLimits) {
    const text = await read(limitPath(limit)).catch(() => undefined) // a kernel without it
    if (text !== undefined && (parseSysctl(text) ?? limit.least) < limit.least) low[limitPath(limit)] = text
  }
  return low
}

/** Raises those that are too low; `note` gets a line for each that cannot be. */
export async function raiseLimits(sysctls: Sysctls, note: (line: string) => void): Promise<void> {
  const low = await lowLimits(sysctls)
  for (const limit of kernelLimits) {
    const found = low[limitPath(limit)]
    if (found === undefined) continue
    await sysctls.write(limitPath(limit), `${limit.least}`).catch((error: unknown) => {
      note(
        `${limit.name} stays ${found} and should be ${limit.least}: one pod may use up the ${limit.counts} (${messageOf(error)})`,
      )
    })
  }
}
