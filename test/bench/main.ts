// `make bench`: runs the benches, ours and the peer in one run, prints their tables and writes their JSON into the state folder.
// Exit codes: 0 done, 1 a bench failed, 2 usage error, 3 a result is void.
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { readClusterSettings } from '../../dev/cluster/settings.ts'
import { AppError, messageOf } from '../../src/lib/errors.ts'
import type { Bench } from './harness/bench.ts'
import { type BenchReport, isVoid, readReport, writeReport } from './harness/report/bench-report.ts'
import { benchmarksPage } from './harness/report/markdown.ts'
import { screenText } from './harness/report/table.ts'
import { runBench } from './harness/run-bench.ts'
import { benches } from './registry.ts'

const usage = `usage: node test/bench/main.ts [name…] [options]

  --pairs N      rounds (1 to 50; default 5, and fewer are void)
  --scale N      sizes × N, from 0.01 to 1, to try a bench out (anything but 1 is void)
  --long         long forms: 10 minutes of steady state instead of 1
  -o json        the reports on standard output as JSON instead of tables
  --list         the benches and what they measure
  --write-docs   write docs/reference/benchmarks.md from the last results; runs nothing
  --help         this
`

class UsageError extends Error {}

function readArguments() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      pairs: { type: 'string', default: '5' },
      scale: { type: 'string', default: '1' },
      long: { type: 'boolean', default: false },
      output: { type: 'string', short: 'o', default: 'table' },
      list: { type: 'boolean', default: false },
      'write-docs': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const pairs = Number(values.pairs)
  const scale = Number(values.scale)
  if (!Number.isInteger(pairs) || pairs < 1 || pairs > 50) throw new UsageError('--pairs must be a whole number from 1 to 50')
  if (!(scale >= 0.01 && scale <= 1)) throw new UsageError('--scale must be a number from 0.01 to 1')
  if (values.output !== 'table' && values.output !== 'json') throw new UsageError('-o knows json only')
  const unknown = positionals.find(name => !benches.some(bench => bench.name === name))
  if (unknown !== undefined)
    throw new UsageError(`there is no bench ${unknown}; there are ${benches.map(bench => bench.name).join(', ')}`)
  return { ...values, pairs, scale, names: positionals }
}

type Arguments = ReturnType<typeof readArguments>

async function writeDocs(): Promise<number> {
  const { repository, stateFolder } = readClusterSettings()
  const reports: BenchReport[] = []
  const missing: string[] = []
  for (const { name } of benches) {
    const report = await readReport(stateFolder, name)
    if (report) reports.push(report)
    else missing.push(name)
  }
  const page = join(repository, 'docs', 'reference', 'benchmarks.md')
  await mkdir(dirname(page), { recursive: true })
  await writeFile(page, benchmarksPage(reports, missing))
  console.log(`docs/reference/benchmarks.md: ${reports.length} benches, ${missing.length} not measured here`)
  return 0
}

type Outcome = { readonly bench: Bench; readonly report?: BenchReport; readonly problem?: string; readonly obstacle?: string }

async function runOne(bench: Bench, options: Arguments, signal: AbortSignal): Promise<Outcome> {
  const obstacle = await bench.obstacle?.()
  if (obstacle !== undefined) return { bench, obstacle }
  const started = performance.now()
  const note = (message: string): void =>
    console.error(`[${((performance.now() - started) / 1000).toFixed(1).padStart(6)} s] ${message}`)
  try {
    const report = await runBench(bench, { ...options, note, signal })
    await writeReport(readClusterSettings().stateFolder, report)
    if (options.output === 'table') console.log(screenText(report))
    return { bench, report }
  } catch (error) {
    console.error(`${bench.name} failed: ${messageOf(error)}`)
    return { bench, problem: messageOf(error) }
  }
}

function exitCode(outcomes: readonly Outcome[], named: boolean): number {
  // A bench that was requested by name and cannot run has failed; in a run of all benches this is only reported.
  if (outcomes.some(({ problem, obstacle }) => problem !== undefined || (named && obstacle !== undefined))) return 1
  return outcomes.some(({ report }) => report !== undefined && isVoid(report)) ? 3 : 0
}

async function run(): Promise<number> {
  const options = readArguments()
  if (options.help) {
    console.log(usage)
    return 0
  }
  if (options.list) {
    for (const { name, title } of benches) console.log(`${name.padEnd(12)} ${title}`)
    return 0
  }
  if (options['write-docs']) return writeDocs()
  const named = options.names.length > 0
  const interrupted = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.once(name, () => interrupted.abort(new AppError('unavailable', `ended by ${name}`)))
  const outcomes: Outcome[] = []
  for (const bench of benches.filter(({ name }) => !named || options.names.includes(name)))
    if (!interrupted.signal.aborted) outcomes.push(await runOne(bench, options, interrupted.signal))
  if (options.output === 'json')
    console.log(
      JSON.stringify(
        outcomes.map(outcome => ({ ...outcome, bench: outcome.bench.name })),
        null,
        2,
      ),
    )
  for (const { bench, obstacle } of outcomes) if (obstacle !== undefined) console.error(`${bench.name} was not run: ${obstacle}`)
  return exitCode(outcomes, named)
}

try {
  process.exitCode = await run()
} catch (error) {
  const usageError = error instanceof UsageError || (error instanceof TypeError && 'code' in error)
  process.stderr.write(`bench: ${messageOf(error)}\n${usageError ? `\n${usage}` : ''}`)
  process.exitCode = usageError ? 2 : 1
}
