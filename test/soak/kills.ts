// Kills one replica of each process after the other (SIGKILL, as a crash or the kernel's memory limit does it) and starts it
// again. Only of forms with several replicas: while the only process is away, writes are refused, and that is right.
import type { SoakProcess } from './soak-process.ts'

export type Kills = {
  /** Kills the next replica; resolves when its successor is ready. */
  readonly next: () => Promise<void>
  readonly counts: ReadonlyMap<string, number>
}

/**
 * `mayGoOn` false ends them, but not before each process was killed once: what is measured of memory and files begins
 * afterwards, with processes that run on.
 */
export function createKills(processes: readonly SoakProcess[], mayGoOn: () => boolean): Kills {
  const counts = new Map<string, number>()
  const kinds = new Set(processes.map(processKind)).size
  let killed = 0
  return {
    counts,
    async next() {
      const process = processes[killed % processes.length]
      if (process === undefined || (killed >= kinds && !mayGoOn())) return
      killed += 1
      const kind = processKind(process)
      counts.set(kind, (counts.get(kind) ?? 0) + 1)
      await process.replace('SIGKILL')
    },
  }
}

/** The name of the process without the number of its replica. */
function processKind({ name }: SoakProcess): string {
  return name.split(' ')[0] ?? name
}
