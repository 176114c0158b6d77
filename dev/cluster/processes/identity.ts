// Whether a recorded process is still the one that was started: pid, executable, start time and boot must all match.
// Reads /proc only. It must never recognise a process by its name or command line.
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

/** The process that has this pid now; undefined when there is none (a zombie does not count). */
export function identify(pid: number): ProcessIdentity | undefined {
  try {
    const stat = parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'))
    if (stat === undefined || stat.state === 'Z' || stat.state === 'X') return undefined
    const executable = readlinkSync(`/proc/${pid}/exe`).replace(/ \(deleted\)$/, '')
    return { pid, executable, startTicks: stat.startTicks, bootId: currentBootId() }
  } catch {
    return undefined // it ended between two reads, or it belongs to another user: not a process of ours
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
