// The lines of a container's log as the kubelet sends them: each with the time at which the node wrote it in front. Bounded: of
// a very long line the beginning and the end are kept. Pure.
// Source: https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/cri-client/pkg/logs/logs.go (writer,
// timeFormatOut)

/** When the node wrote a line, in UTC. Texts of this form are in the order of time. */
export type LineTime = {
  /** As `sinceTime` takes it, in whole seconds. */
  readonly second: string
  /** With nanoseconds. */
  readonly exact: string
}

export type LogLine = {
  /** Undefined for what the kubelet itself says, such as why it cannot read a log. */
  readonly time: LineTime | undefined
  readonly text: string
}

/** What is kept of one line, in characters. */
const maxOfBeginning = 16_384
const maxOfEnd = 8_192
/** Cut away at both sides of a gap, so that no secret is in the rest by half. */
const aroundGap = 1_024

const stamp = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:\d{2}) /

function timeOf(date: string, fraction: string, zone: string): LineTime {
  // The node may write its local time.
  const utc = zone === 'Z' ? date : new Date(`${date}${zone}`).toISOString().slice(0, 19)
  return { second: `${utc}Z`, exact: `${utc}.${fraction.padEnd(9, '0')}` }
}

/** A line without its newline. */
export function parseLine(line: string): LogLine {
  const found = stamp.exec(line)
  if (found === null) return { time: undefined, text: line }
  const [whole, date = '', fraction = '', zone = 'Z'] = found
  return { time: timeOf(date, fraction, zone), text: line.slice(whole.length) }
}

export type LineSplitter = {
  /** The lines that are complete with these bytes. */
  readonly push: (bytes: Uint8Array) => readonly string[]
  /** The line that did not end, if there is one. */
  readonly rest: () => string | undefined
}

/** Splits bytes (UTF-8) into lines, in memory for one bounded line. */
export function createLineSplitter(): LineSplitter {
  const decoder = new TextDecoder('utf-8')
  let beginning = ''
  let end = ''
  let leftOut = 0

  function add(text: string): void {
    const room = Math.max(0, maxOfBeginning - beginning.length)
    beginning += text.slice(0, room)
    if (text.length <= room) return
    end += text.slice(room)
    const excess = end.length - maxOfEnd
    if (excess <= 0) return
    leftOut += excess
    end = end.slice(excess)
  }

  function take(): string {
    const line =
      leftOut === 0
        ? beginning + end
        : `${beginning.slice(0, -aroundGap)} [${leftOut + 2 * aroundGap} characters of this line are left out] ${end.slice(aroundGap)}`
    beginning = ''
    end = ''
    leftOut = 0
    return line
  }

  return {
    push(bytes) {
      const parts = decoder.decode(bytes, { stream: true }).split('\n')
      const unfinished = parts.pop() ?? ''
      const lines = parts.map(part => {
        add(part)
        return take()
      })
      add(unfinished)
      return lines
    },
    rest: () => (beginning === '' ? undefined : take()),
  }
}
