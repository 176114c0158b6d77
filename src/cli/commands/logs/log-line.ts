// One line of a pod's log: its time as the API server writes it, its source, and its text made safe for a terminal. Pure.

export type LogSource = { readonly process: string; readonly pod: string; readonly container: string }

export type LogLine = LogSource & {
  /** RFC 3339 with nanoseconds; texts of one server sort like their times. */
  readonly time: string
  readonly text: string
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control sequences (ECMA-48, SGR).
const colours = /\u001b\[[0-9;:]*m/g

/**
 * Reads `2026-11-22T10:00:00.000000000Z text`. A line without a time, which the kubelet writes about itself, sorts after the
 * line before.
 */
export function parseLine(source: LogSource, line: string, lastTime: string): LogLine {
  const match = /^(\d{4}-\d\d-\d\dT\S+) ?(.*)$/s.exec(line)
  const text = (match?.[2] ?? line).replace(colours, '').replace(/\r$/, '').replaceAll('\t', '    ')
  return { ...source, time: match?.[1] ?? lastTime, text }
}

/** The name that begins each line: the process and what tells its pods apart. */
export function prefixOf({ process, pod }: LogSource): string {
  return `${process}.${pod.split('-').at(-1) ?? pod}`
}

/** The line as people see it. */
export function shown(line: LogLine, options: { readonly timestamps?: boolean | undefined; readonly width: number }): string {
  const time = options.timestamps === true ? `${line.time} ` : ''
  return `${time}${prefixOf(line).padEnd(options.width)} | ${line.text}`
}
