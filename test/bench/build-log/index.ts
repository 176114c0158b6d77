// Bench `build-log`: a log of 100 MB through the collector, into both databases, beside a program that reads the same stream
// and keeps nothing: its pace, its memory over time, and whether all of it was read and its end is kept; and the same over
// connections that break.
import { randomBytes, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setInterval } from 'node:timers/promises'
import { runtimeEnvironment } from '../../../dev/images/recipes/plain-sources.ts'
import { findPostgres, cure as postgresCure } from '../../../dev/postgres/find-postgres.ts'
import { openClosing } from '../../fixtures/open-closing.ts'
import type { Bench, Comparison, Figure, Measurement, OpenBench, Run } from '../harness/bench.ts'
import { allOf, figureAtMost, oursAtLeast, oursAtMost } from '../harness/goals.ts'
import { type MeasuredProgram, startProgram } from '../harness/program.ts'
import { median } from '../harness/statistics.ts'
import { figureNames } from '../harness/summarize.ts'
import { type BenchDatabases, embeddedDatabases, serverDatabases } from '../load/databases.ts'

const megabyte = 1_000_000
const logBytes = 100 * megabyte
/** Before what is measured: a longer log must not need more than a shorter one. */
const warmUpBytes = 25 * megabyte
const breakAfterBytes = 10 * megabyte
/** The peer would otherwise be done before the machine has shown how quiet it is. */
const peerTimes = 8
const sampleMilliseconds = 100
/** Nothing is sealed; the settings of a store demand it. */
const sealingKey = randomBytes(32).toString('base64')

const figures = {
  above: 'highest RSS above that after a log of a quarter of the size, MB',
  growth: 'RSS, second quarter to last quarter, MB more',
  delay: 'event loop busy without a break, p99 ms',
  lost: 'bytes lost or doubled',
  end: 'bytes of the end that are not kept',
} as const

type Json = Readonly<Record<string, unknown>>
type Environment = Readonly<Record<string, string>>
/** As the server of the pod made it. */
type ServedLog = { readonly port: number; readonly lines: number; readonly bytes: number }

/** What Node.js runs with in the platform's image, without the hook that loads the image's sources. */
function runtime(): Environment {
  const { NODE_OPTIONS = '', ...rest } = runtimeEnvironment('/')
  const options = NODE_OPTIONS.split(' ').filter(option => !option.startsWith('--import'))
  return { ...rest, NODE_OPTIONS: options.join(' ') }
}

function program(file: string, environment: Environment, signal: AbortSignal): Promise<MeasuredProgram> {
  const args = [join(import.meta.dirname, file)]
  const all = { ...runtime(), SEKISHO_SEALING_KEYS: sealingKey, ...environment }
  return startProgram({ name: file, path: process.execPath, args, environment: all }, signal)
}

function numberIn(answer: Json, field: string): number {
  const value = answer[field]
  if (typeof value !== 'number') throw new Error(`an answer without ${field}`)
  return value
}

/** The resident memory of a process until `work` has ended. */
async function sampled<T>(subject: MeasuredProgram, work: Promise<T>): Promise<{ readonly value: T; readonly rss: number[] }> {
  const over = new AbortController()
  const rss: number[] = []
  const sampling = (async () => {
    for await (const _ of setInterval(sampleMilliseconds, undefined, { signal: over.signal }))
      rss.push((await subject.usage()).rssBytes)
  })().catch((error: unknown) => {
    if (!over.signal.aborted) throw error
  })
  try {
    return { value: await work, rss }
  } finally {
    over.abort()
    await sampling
  }
}

function memoryFigures(before: number, rss: readonly number[]): Readonly<Record<string, number>> {
  const quarter = (number: number): readonly number[] =>
    rss.slice(Math.floor((rss.length * (number - 1)) / 4), Math.floor((rss.length * number) / 4))
  return {
    [figures.above]: (Math.max(before, ...rss) - before) / megabyte,
    [figures.growth]: (median(quarter(4)) - median(quarter(2))) / megabyte,
  }
}

type Reading = { readonly bytes: number; readonly times: number; readonly breakAfter?: number }

type LogServer = {
  readonly collect: (subject: MeasuredProgram, how: Reading) => Promise<Run>
  readonly connections: () => Promise<number>
  readonly stop: () => Promise<void>
}

/** Serves the logs of both sides, in a process of its own. */
async function startLogServer(signal: AbortSignal): Promise<LogServer> {
  const server = await program('pod-server-process.ts', {}, signal)
  const logOf = async (bytes: number): Promise<ServedLog> => {
    const answer = await server.call({ do: 'make', bytes })
    return { port: numberIn(answer, 'port'), lines: numberIn(answer, 'lines'), bytes: numberIn(answer, 'bytes') }
  }
  return {
    stop: server.stop,
    connections: async () => numberIn(await server.call({ do: 'connections' }), 'connections'),
    async collect(subject, { bytes, times, breakAfter }) {
      const log = await logOf(bytes)
      const build = { name: `build-${randomUUID().slice(0, 8)}`, owner: randomUUID() }
      await server.call({ do: 'serve', ...build, lines: log.lines, breakAfter })
      const { rssBytes } = await subject.usage()
      const { value: answer, rss } = await sampled(subject, subject.call({ do: 'collect', ...log, ...build, times }))
      if (answer['outcome'] !== 'Succeeded') throw new Error(`the build ended as ${JSON.stringify(answer)}`)
      const compared = await subject.call({ do: 'compare' })
      return {
        operations: (log.bytes * times) / megabyte,
        wallSeconds: numberIn(answer, 'wallSeconds'),
        cpuSeconds: numberIn(answer, 'cpuSeconds'),
        rssBytes: median(rss),
        figures: {
          ...memoryFigures(rssBytes, rss),
          [figures.delay]: numberIn(answer, 'loopDelayMilliseconds'),
          [figures.lost]: numberIn(compared, 'lostOrDoubled'),
          [figures.end]: numberIn(compared, 'missingAtEnd'),
        },
      }
    },
  }
}

type Sizes = { readonly log: number; readonly warmUp: number; readonly breakAfter: number }

type Side = { readonly file: string; readonly environment: Environment; readonly times: number }

const ours = (environment: Environment): Side => ({ file: 'collector-process.ts', environment, times: 1 })
const peer: Side = { file: 'reader-process.ts', environment: {}, times: peerTimes }

type Work = { readonly server: LogServer; readonly sizes: Sizes; readonly signal: AbortSignal; readonly breaks?: boolean }

/** A new process reads a small log, then the one that is measured. */
async function run({ file, environment, times }: Side, { server, sizes, signal, breaks }: Work): Promise<Run> {
  const started = await program(file, environment, signal)
  try {
    await server.collect(started, { bytes: sizes.warmUp, times })
    const breakAfter = breaks ? { breakAfter: sizes.breakAfter } : {}
    const measured = await server.collect(started, { bytes: sizes.log, times, ...breakAfter })
    await started.call({ do: 'close' }, signal)
    return measured
  } finally {
    await started.stop()
  }
}

function comparison(name: string, databases: BenchDatabases, server: LogServer, sizes: Sizes): Comparison {
  return {
    name: `collect into ${name}`,
    title: `a log of ${Math.round(sizes.log / megabyte)} MB from the first byte to the recorded end of the build; 8 MB of it are kept`,
    unit: 'megabytes',
    peerName: `undici that reads the same stream, ${peerTimes} times in a row, and keeps nothing`,
    ours: signal => databases.withNew(environment => run(ours(environment), { server, sizes, signal })),
    peer: signal => run(peer, { server, sizes, signal }),
    goals: [
      oursAtMost(figures.above, 64),
      allOf([oursAtMost(figures.lost, 0), oursAtMost(figures.end, 0)]),
      oursAtLeast(figureNames.rate, 10),
    ],
  }
}

async function overBrokenConnections(databases: BenchDatabases, server: LogServer, sizes: Sizes, signal: AbortSignal) {
  const { wallSeconds, figures: measured = {} } = await databases.withNew(environment =>
    run(ours(environment), { server, sizes, signal, breaks: true }),
  )
  const figure = (label: string, value: number, unit: string): Figure => ({ label, value, unit })
  return [
    figure('connections', await server.connections(), ''),
    figure('time', wallSeconds, 's'),
    ...Object.entries(measured).map(([label, value]) => figure(label, value, '')),
  ]
}

function broken(databases: BenchDatabases, server: LogServer, sizes: Sizes): Measurement {
  return {
    name: 'broken connections',
    title: `the same log over connections that break after ${sizes.breakAfter / megabyte} MB each, of a container that has ended; PostgreSQL`,
    run: signal => overBrokenConnections(databases, server, sizes, signal),
    goals: [figureAtMost(figures.lost, 0), figureAtMost(figures.end, 0), figureAtMost(figures.above, 64)],
  }
}

export const buildLog: Bench = {
  name: 'build-log',
  title: `a build log of ${logBytes / megabyte} MB: flat memory, nothing lost, and its end kept`,
  budgetSeconds: 600,
  obstacle: async () => (findPostgres() === undefined ? `PostgreSQL was not found: ${postgresCure}` : undefined),
  async open({ scale, folder }): Promise<OpenBench> {
    const some = (bytes: number): number => Math.round(bytes * scale)
    const sizes = { log: some(logBytes), warmUp: some(warmUpBytes), breakAfter: Math.max(6 * megabyte, some(breakAfterBytes)) }
    return openClosing(async onClose => {
      const server = await startLogServer(AbortSignal.timeout(30_000))
      onClose(server.stop)
      const postgres = await serverDatabases()
      onClose(postgres.close)
      const embedded = await embeddedDatabases(folder)
      onClose(embedded.close)
      return {
        comparisons: [comparison('PostgreSQL', postgres, server, sizes), comparison('PGlite', embedded, server, sizes)],
        measurements: [broken(postgres, server, sizes)],
      }
    })
  },
}
