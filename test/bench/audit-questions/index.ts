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

type Size = { readonly entries: number; readonly seconds: number }
const short: Size = { entries: 1_000_000, seconds: 1 }
const long: Size = { entries: 10_000_000, seconds: 5 }
const exported = 200_000
/** The first question of a process loads what answers it. */
const rounds = 3

const megabyte = 1024 * 1024
/** What ten times the entries may add to the memory of a process that has read a tenth: garbage, and nothing that stays. */
const maxGrowthMegabytes = 64

function numberIn(answer: Readonly<Record<string, unknown>>, field: string): number {
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
  async open({ scale, long: isLong, note }): Promise<OpenBench> {
    const size = isLong ? long : short
    const databases = await serverDatabases()
    try {
      const environment = { ...(await databases.create()), SEKISHO_SEALING_KEYS: randomBytes(32).toString('base64') }
      const start = (name: string, args: readonly string[]): Promise<MeasuredProgram> =>
        startProgram({ name, path: process.execPath, args, environment })
      const inFolder = (file: string): string => join(import.meta.dirname, file)
      const server = await start('server', [...platformNodeOptions, inFolder('server-process.ts')])
      note('filling the log')
      const entries = Math.max(10_000, Math.round(size.entries * scale))
      await server.call({ do: 'fill', entries })
      const port = numberIn(await server.call({ do: 'serve' }), 'port')
      const asker = await start('command line', [inFolder('asker-process.ts'), `http://127.0.0.1:${port}`])
      const programs = { server, asker }
      return {
        comparisons: [exportBesidePeer(programs, entries)],
        measurements: [
          question(programs, size, undefined),
          question(programs, size, '1d'),
          question(programs, size, '365d'),
          exporting(programs, entries),
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
