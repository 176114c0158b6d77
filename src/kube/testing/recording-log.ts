// A log that records its lines with the fields of its parents, for tests of what an operator can read.
import type { Log, LogFields } from '../../lib/log.ts'

export type LogLine = LogFields & { readonly level: 'debug' | 'info' | 'error'; readonly message: string }

/** Children record to the same list. */
export function createRecordingLog(
  lines: LogLine[] = [],
  inherited: LogFields = {},
): Log & { readonly lines: readonly LogLine[] } {
  const at =
    (level: LogLine['level']) =>
    (fields: LogFields, message: string): void => {
      lines.push({ ...inherited, ...fields, level, message })
    }
  const child = (fields: LogFields): Log => createRecordingLog(lines, { ...inherited, ...fields })
  return { debug: at('debug'), info: at('info'), error: at('error'), child, lines }
}
