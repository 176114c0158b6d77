// Bench `audit-questions`: what people ask of a long log, over HTTP on loopback, on a PostgreSQL with fsync: who could and did
// reach one repository, which no peer answers, so that its goal is in seconds; and an export, beside one that checks nothing.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { findPostgres, cure as postgresCure } from '../../../dev/postgres/find-postgres.ts'
import type { Bench, Comparison, Figure, Measurement, OpenBench, Run } from '../harness/bench.ts'
import { figureAtLeast, figureAtMost, ratioAtLeast } from '../harness/goals.ts'
import { type MeasuredProgram, platformNodeOptions, startProgram } from '../harness/program.ts'
import { figureNames } from '../harness/summarize.ts'
import { serverDatabases } from '../load/databases.ts'
import { type CommandRuns, openCommandRuns } from './command-runs.ts'

type Size = { readonly entries: number; readonly seconds: number }
const short: Size = { entries: 1_000_000, seconds: 1 }
const long: Size = { entries: 10_000_000, seconds: 5 }
const exported = 200_000
/** What the memory of commands is compared with. */
const few = 10_000
const maxMemoryRatio = 1.2
/** The first question of a process loads what answers it. */
const rounds = 3

const megabyte = 1024 * 1024
/** What ten times the entries may add to the memory of a process that has read a tenth: garbage, and nothing that stays. */
const maxGrowthMegabytes = 64

type Answer = Readonly<Record<string, unknown>>
type Peaks = Readonly<Record<(typeof commandNames)[number], number>>

const commandNames = ['audit export', 'audit verify', 'audit verify --export'] as const

/** The highest memory of each command in MB, as processes of their own that read the whole log. */
async function peaksOf(commands: CommandRuns, folder: string, signal: AbortSignal): Promise<Peaks> {
  const [file, nothing] = [join(folder, 'export.jsonl'), '/dev/null']
  const peak = async (args: readonly string[], output: string): Promise<number> =>
    (await commands.run(args, output, signal)).peakRssBytes / megabyte
  return {
    'audit export': await peak(['audit', 'export'], file),
    'audit verify': await peak(['audit', 'verify', '--all'], nothing),
    'audit verify --export': await peak(['audit', 'verify', '--export', file], nothing),
  }
}

function wholeLog(commands: CommandRuns, folder: string, { entries, before }: { entries: number; before: Peaks }): Measurement {
  const ratioLabel = (name: string): string => `peak memory of ${name}, ÷ that for ${few.toLocaleString('en-US')} entries`
  return {
    name: 'memory of commands',
    title: `${entries.toLocaleString('en-US')} entries, exported and verified by sekisho as a person starts it`,
    async run(signal): Promise<readonly Figure[]> {
      const after = await peaksOf(commands, folder, signal)
      return commandNames.flatMap(name => [
        { label: `peak memory of ${name}`, value: after[name], unit: 'MB' },
        { label: ratioLabel(name), value: after[name] / before[name], unit: '' },
      ])
    },
    goals: commandNames.map(name => figureAtMost(ratioLabel(name), maxMemoryRatio)),
  }
}

function textIn(answer: Answer, field: string): string {
  const value = answer[field]
  if (typeof value !== 'string') throw new Error(`an answer without ${field}`)
  return value
}

function numberIn(answer: Answer, field: string): number {
  const value = answer[field]
  if (typeof value !== 'number') throw new Error(`an answer without ${field}`)
  return value
}

type Programs = { readonly server: MeasuredProgram; readonly asker: MeasuredProgram }

/** The highest memory of each until now, in MB. */
async function peaks({ server, asker }: Programs): Promise<readonly [server: number, asker: number]> {
  const [ofServer, ofAsker] = await Promise.all([server.usage(), asker.usage()])
  return [ofServer.peakRssBytes / megabyte, ofAsker.peakRssBytes / megabyte]
}

async function memory(programs: Programs): Promise<readonly Figure[]> {
  const [server, asker] = await peaks(programs)
  return [
    { label: 'peak memory of the server', value: server, unit: 'MB' },
    { label: 'peak memory of the command line', value: asker, unit: 'MB' },
  ]
}

/** The slowest of the rounds. */
async function slowest({ asker }: Programs, command: object, signal: AbortSignal) {
  const answers: Readonly<Record<string, unknown>>[] = []
  for (let round = 0; round < rounds; round++) answers.push(await asker.call({ ...command }, signal))
  const [most = {}] = answers.toSorted((a, b) => numberIn(b, 'seconds') - numberIn(a, 'seconds'))
  return most
}

function question(programs: Programs, { entries, seconds }: Size, since: string | undefined): Measurement {
  const what = since === undefined ? 'at one moment' : `in ${since.replace('d', ' days')}`
  const label = `slowest of ${rounds}`
  return {
    name: `access repository ${what}`,
    title: `who could reach one of 1,000 repositories ${what}, and who did, in a log of ${entries.toLocaleString('en-US')} entries`,
    async run(signal): Promise<readonly Figure[]> {
      const answer = await slowest(programs, { do: 'access', ...(since === undefined ? {} : { since }) }, signal)
      return [
        { label, value: numberIn(answer, 'seconds'), unit: 's' },
        { label: 'grants in the answer', value: numberIn(answer, 'grants'), unit: '' },
        ...(await memory(programs)),
      ]
    },
    goals: [figureAtMost(label, seconds)],
  }
}

const lastEntries = (entries: number, count: number): number => Math.max(0, entries - count)

function exporting(programs: Programs, entries: number): Measurement {
  const { asker } = programs
  const label = 'entries per second'
  const [serverGrowth, askerGrowth] = ['memory of the server, added', 'memory of the command line, added'] as const
  return {
    name: 'export',
    title: `${exported.toLocaleString('en-US')} entries as sekisho audit export reads them; memory beside a tenth of them`,
    async run(signal): Promise<readonly Figure[]> {
      await asker.call({ do: 'export', after: lastEntries(entries, exported / 10) }, signal)
      const before = await peaks(programs)
      const answer = await slowest(programs, { do: 'export', after: lastEntries(entries, exported) }, signal)
      const after = await peaks(programs)
      return [
        { label, value: numberIn(answer, 'entries') / numberIn(answer, 'seconds'), unit: '' },
        { label: serverGrowth, value: after[0] - before[0], unit: 'MB' },
        { label: askerGrowth, value: after[1] - before[1], unit: 'MB' },
        ...(await memory(programs)),
      ]
    },
    goals: [
      figureAtLeast(label, 20_000),
      figureAtMost(serverGrowth, maxGrowthMegabytes),
      figureAtMost(askerGrowth, maxGrowthMegabytes),
    ],
  }
}

/** Who sends, who reads and the database, each in CPU time: on a busy machine they say what an export costs. */
function exportBesidePeer({ server, asker }: Programs, entries: number): Comparison {
  const costs = async (signal: AbortSignal) => ({
    server: (await server.usage()).cpuSeconds,
    asker: (await asker.usage()).cpuSeconds,
    sessions: await server.call({ do: 'sessions' }, signal),
  })
  const run =
    (what: 'export' | 'bare-export') =>
    async (signal: AbortSignal): Promise<Run> => {
      const before = await costs(signal)
      const answer = await asker.call({ do: what, after: lastEntries(entries, exported) }, signal)
      const after = await costs(signal)
      const operations = numberIn(answer, 'entries')
      // A session that was idle for long has ended meanwhile.
      const sessions = Object.entries(after.sessions).map(([one, cost]) => Number(cost) - Number(before.sessions[one] ?? 0))
      const database = sessions.reduce((sum, cost) => sum + cost, 0)
      const [ofServer, ofAsker] = [after.server - before.server, after.asker - before.asker]
      const per = (cost: number): number => (cost * 1e5) / operations
      return {
        operations,
        wallSeconds: numberIn(answer, 'seconds'),
        cpuSeconds: ofServer + ofAsker + database,
        figures: {
          'server CPU s per 100,000': per(ofServer),
          'command line CPU s per 100,000': per(ofAsker),
          'database CPU s per 100,000': per(database),
        },
      }
    }
  return {
    name: 'export beside a bare one',
    title: `${exported.toLocaleString('en-US')} entries as sekisho audit export reads them`,
    unit: 'entries',
    peerName: 'pages of 1,000 rows as the driver gives them, as JSON lines over HTTP, each parsed and printed',
    ours: run('export'),
    peer: run('bare-export'),
    goals: [ratioAtLeast(figureNames.rate, 0.9)],
  }
}

export const auditQuestions: Bench = {
  name: 'audit-questions',
  title:
    'the audit log: questions about one repository in a million entries (ten million with --long), and an export beside a bare one',
  budgetSeconds: 600,
  longBudgetSeconds: 3600,
  obstacle: async () => (findPostgres() === undefined ? `PostgreSQL was not found: ${postgresCure}` : undefined),
  async open({ scale, long: isLong, folder, note }): Promise<OpenBench> {
    const size = isLong ? long : short
    const databases = await serverDatabases()
    try {
      const environment = { ...(await databases.create()), SEKISHO_SEALING_KEYS: randomBytes(32).toString('base64') }
      const start = (name: string, args: readonly string[]): Promise<MeasuredProgram> =>
        startProgram({ name, path: process.execPath, args, environment })
      const inFolder = (file: string): string => join(import.meta.dirname, file)
      const server = await start('server', [...platformNodeOptions, inFolder('server-process.ts')])
      const entries = Math.max(few, Math.round(size.entries * scale))
      // Filling takes memory of its own, which is not the server's.
      const filler = await start('filler', [inFolder('server-process.ts')])
      await filler.call({ do: 'fill', entries: few, planned: entries })
      const served = await server.call({ do: 'serve' })
      const [issuer, authority] = [textIn(served, 'issuer'), textIn(served, 'authority')]
      const commands = await openCommandRuns(folder, { issuer, authority })
      const before = await peaksOf(commands, folder, AbortSignal.timeout(120_000))
      note('filling the log')
      await filler.call({ do: 'fill', entries, planned: entries })
      await filler.stop()
      const port = numberIn(served, 'port')
      const asker = await start('command line', [inFolder('asker-process.ts'), `http://127.0.0.1:${port}`])
      const programs = { server, asker }
      return {
        comparisons: [exportBesidePeer(programs, entries)],
        measurements: [
          question(programs, size, undefined),
          question(programs, size, '1d'),
          question(programs, size, '365d'),
          exporting(programs, entries),
          wholeLog(commands, folder, { entries, before }),
        ],
        async close() {
          await asker.stop()
          await server.stop()
          await databases.close()
        },
      }
    } catch (error) {
      await databases.close()
      throw error
    }
  },
}
