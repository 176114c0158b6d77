// Resource usage of the process under test, read from /proc (proc(5)) and its /metrics, and the slopes and growth calculated
// from it.
import { readdir, readFile, readlink } from 'node:fs/promises'
import { median } from '../bench/harness/statistics.ts'

export type Sample = {
  /** Seconds since the start of the run. */
  readonly at: number
  readonly residentMegabytes: number
  readonly openFiles: number
  readonly sockets: number
  /** The longest silence of any watch, in seconds, and its kind. */
  readonly watchSilence: number
  readonly silentKind: string
  /** Sums over all kinds since the start of the process. */
  readonly lists: number
  readonly watchEnds: number
}

/** Just after a garbage collection. */
export type MemorySample = {
  /** Seconds since the start of the run. */
  readonly at: number
  readonly residentMegabytes: number
  /** Live memory of the main thread: JavaScript objects, and what they hold outside V8's heap (buffers, WebAssembly). */
  readonly liveMegabytes: number
}

const megabyte = 1024 * 1024

export function memorySample({ rss, heapUsed, external }: NodeJS.MemoryUsage, at: number): MemorySample {
  return { at, residentMegabytes: rss / megabyte, liveMegabytes: (heapUsed + external) / megabyte }
}

export async function sampleProcess(pid: number, healthUrl: string, at: number): Promise<Sample> {
  const folder = `/proc/${pid}`
  const [status, names, metrics] = await Promise.all([
    readFile(`${folder}/status`, 'utf8'),
    readdir(`${folder}/fd`),
    fetch(`${healthUrl}/metrics`, { signal: AbortSignal.timeout(60_000) }).then(answer => answer.text()),
  ])
  const targets = await Promise.all(names.map(name => readlink(`${folder}/fd/${name}`).catch(() => 'closed meanwhile')))
  const values = (name: string): readonly number[] => metricValues(metrics, name)
  return {
    at,
    residentMegabytes: Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? Number.NaN) / 1024,
    openFiles: names.length,
    sockets: targets.filter(target => target.startsWith('socket:')).length,
    ...maxSilence(metrics),
    lists: sum(values('sekisho_watch_lists_total')),
    watchEnds: sum(values('sekisho_watch_ends_total')),
  }
}

function maxSilence(metrics: string): Pick<Sample, 'watchSilence' | 'silentKind'> {
  let longest = { watchSilence: 0, silentKind: '' }
  for (const [, kind = '', value] of metrics.matchAll(/^sekisho_watch_silence_seconds\{kind="([^"]+)"[^}]*\} (\S+)$/gm))
    if (Number(value) > longest.watchSilence) longest = { watchSilence: Number(value), silentKind: kind }
  return longest
}

/** The values of all series of a metric in the Prometheus text format. */
export function metricValues(text: string, name: string): readonly number[] {
  return text
    .split('\n')
    .filter(line => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .map(line => Number(line.slice(line.lastIndexOf(' ') + 1)))
    .filter(Number.isFinite)
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

/**
 * Change of `y` per unit of `x`: the median of the slopes between any two points (Theil–Sen estimator), which is robust against
 * outliers.
 */
export function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const slopes = points.flatMap(([x, y], index) =>
    points.slice(index + 1).flatMap(([laterX, laterY]) => (laterX === x ? [] : [(laterY - y) / (laterX - x)])),
  )
  return points.length < 3 ? Number.NaN : median(slopes)
}

/** The first third of a run: caches fill, code is compiled, and processes are killed. */
export function warmUpSeconds(minutes: number): number {
  return minutes * 20
}

/** Without those of the warm-up. */
export function settled<S extends { readonly at: number }>(samples: readonly S[], fromSeconds: number): readonly S[] {
  return samples.filter(({ at }) => at >= fromSeconds)
}

/** Median of the last quarter of the samples minus that of the first quarter. */
export function growth(samples: readonly Sample[], value: (sample: Sample) => number): number {
  const quarter = Math.max(1, Math.floor(samples.length / 4))
  return median(samples.slice(-quarter).map(value)) - median(samples.slice(0, quarter).map(value))
}
