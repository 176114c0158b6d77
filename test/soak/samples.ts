// What the process under test uses, read from /proc (proc(5)) and its /metrics, and what is made of it: slopes and growth. Never acts.
import { readdir, readFile, readlink } from 'node:fs/promises'
import { median } from '../bench/harness/statistics.ts'

export type Sample = {
  /** Seconds since the run began. */
  readonly at: number
  readonly residentMegabytes: number
  readonly openFiles: number
  readonly sockets: number
  /** The longest silence of any watch, in seconds. */
  readonly watchSilence: number
  /** Sums over all kinds since the process began. */
  readonly lists: number
  readonly watchEnds: number
}

export async function sampleProcess(pid: number, healthUrl: string, at: number): Promise<Sample> {
  const folder = `/proc/${pid}`
  const [status, names, metrics] = await Promise.all([
    readFile(`${folder}/status`, 'utf8'),
    readdir(`${folder}/fd`),
    fetch(`${healthUrl}/metrics`, { signal: AbortSignal.timeout(10_000) }).then(answer => answer.text()),
  ])
  const targets = await Promise.all(names.map(name => readlink(`${folder}/fd/${name}`).catch(() => 'closed meanwhile')))
  const values = (name: string): readonly number[] => metricValues(metrics, name)
  return {
    at,
    residentMegabytes: Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? Number.NaN) / 1024,
    openFiles: names.length,
    sockets: targets.filter(target => target.startsWith('socket:')).length,
    watchSilence: Math.max(0, ...values('sekisho_watch_silence_seconds')),
    lists: sum(values('sekisho_watch_lists_total')),
    watchEnds: sum(values('sekisho_watch_ends_total')),
  }
}

/** The values of all series of a metric in the Prometheus text format. */
export function metricValues(text: string, name: string): readonly number[] {
  return text
    .split('\n')
    .filter(line => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .map(line => Number(line.slice(line.lastIndexOf(' ') + 1)))
    .filter(Number.isFinite)
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

/** Change of `y` per unit of `x` by least squares; NaN for fewer than three points. */
export function slope(points: readonly (readonly [x: number, y: number])[]): number {
  if (points.length < 3) return Number.NaN
  const meanX = sum(points.map(([x]) => x)) / points.length
  const meanY = sum(points.map(([, y]) => y)) / points.length
  const covariance = sum(points.map(([x, y]) => (x - meanX) * (y - meanY)))
  return covariance / sum(points.map(([x]) => (x - meanX) ** 2))
}

/** Caches fill and code is compiled at first: a third of the run is no part of any slope. */
export function settled(samples: readonly Sample[]): readonly Sample[] {
  return samples.slice(Math.floor(samples.length / 3))
}

/** Median of the last quarter less that of the first quarter, of what is given. */
export function growth(samples: readonly Sample[], value: (sample: Sample) => number): number {
  const quarter = Math.max(1, Math.floor(samples.length / 4))
  return median(samples.slice(-quarter).map(value)) - median(samples.slice(0, quarter).map(value))
}
