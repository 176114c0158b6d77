// Tells whether a recorded process still is the one that was started: pid, executable, start time and boot together.
// Reads /proc only. A process is never recognised by its name or command line.
import { readFileSync, readlinkSync } from 'node:fs'

export type ProcessIdentity = {
  readonly pid: number
  /** /proc/PID/exe at the time of recording. */
  readonly executable: string
  /** Clock ticks since boot, field 22 of /proc/PID/stat (proc(5)). */
  readonly startTicks: number
  readonly bootId: string
}

/** Start time and state from the text of /proc/PID/stat; the second field may hold spaces and parentheses. */
export function parseStat(stat: string): { readonly state: string; readonly startTicks: number } | undefined {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const state = fields[0]
  const startTicks = Number(fields[19])
  return state === undefined || !Number.isInteger(startTicks) ? undefined : { state, startTicks }
}

export function currentBootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
}

/** What runs under this pid now; undefined when nothing does (a zombie does not run). */
export function identify(pid: number): ProcessIdentity | undefined {
  try {
    const stat = parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'))
    if (stat === undefined || stat.state === 'Z' || stat.state === 'X') return undefined
    const executable = readlinkSync(`/proc/${pid}/exe`).replace(/ \(deleted\)$/, '')
    return { pid, executable, startTicks: stat.startTicks, bootId: currentBootId() }
  } catch {
    return undefined // gone between two reads, or another user's: not a process of ours
  }
}

/** True when the recorded process is alive. */
export function isAlive(recorded: ProcessIdentity, look: (pid: number) => ProcessIdentity | undefined = identify): boolean {
  const found = look(recorded.pid)
  return (
    found !== undefined &&
    found.bootId === recorded.bootId &&
    found.startTicks === recorded.startTicks &&
    found.executable === recorded.executable
  )
}
