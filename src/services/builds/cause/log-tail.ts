// The end of a build's log, as a status shows it. Pure.
import { cleanLog } from './clean-log.ts'

/** The last lines of a log, safe for a status. Ten, because npm prints the cause that far above the end. */
export function tailOf(log: string): string {
  const lines = cleanLog(log).lines.map(line => line.trim().slice(0, 200))
  return lines.slice(-10).join('\n').slice(-1200)
}
