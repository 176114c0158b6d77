// Resource usage of a process, read from /proc: CPU time of all its threads and resident memory. Only reads, and only the given
// pid.
// Source: proc_pid_stat(5) and proc_pid_status(5).
import { readFile } from 'node:fs/promises'

export type ProcessUsage = {
  /** User and system time since its start. */
  readonly cpuSeconds: number
  readonly rssBytes: number
  /** The highest resident memory so far. */
  readonly peakRssBytes: number
}

// USER_HZ: 100 on every Linux that Node.js runs on (it is part of the kernel's user interface, not its tick).
const ticksPerSecond = 100

/** Fields 14 and 15; the second field, the name, is in parentheses and may contain anything. */
export function cpuSecondsOfStat(text: string): number {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

/** Fields 16 and 17: of the children that have ended, and of theirs. */
export function childrenCpuSecondsOfStat(text: string): number {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[13]) + Number(fields[14])) / ticksPerSecond
}

/** CPU time of the children of this process that have ended. */
export async function childrenCpuSeconds(): Promise<number> {
  return childrenCpuSecondsOfStat(await readFile('/proc/self/stat', 'utf8'))
}

export function bytesOfStatus(text: string, field: 'VmRSS' | 'VmHWM'): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1] ?? Number.NaN) * 1024
}

/** @throws when there is no such process */
export async function usageOf(pid: number): Promise<ProcessUsage> {
  const [stat, status] = await Promise.all([readFile(`/proc/${pid}/stat`, 'utf8'), readFile(`/proc/${pid}/status`, 'utf8')])
  return {
    cpuSeconds: cpuSecondsOfStat(stat),
    rssBytes: bytesOfStatus(status, 'VmRSS'),
    peakRssBytes: bytesOfStatus(status, 'VmHWM'),
  }
}
