// Bench `audit-questions`: what people ask of a long log, over HTTP on loopback, on a PostgreSQL with fsync: who could and did
// reach one repository, and an export. No peer gives such answers: goals are in seconds.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { findPostgres, cure as postgresCure } from '../../../dev/postgres/find-postgres.ts'
import type { Bench, Figure, Measurement, OpenBench } from '../harness/bench.ts'
import { figureAtLeast, figureAtMost } from '../harness/goals.ts'
import { type MeasuredProgram, platformNodeOptions, startProgram } from '../harness/program.ts'
import { serverDatabases } from '../load/databases.ts'

type Size = { readonly entries: number; readonly seconds: number }
const short: Size = { entries: 1_000_000, seconds: 1 }
const long: Size = { entries: 10_000_000, seconds: 5 }
const exported = 200_000
/** The first question of a process loads what answers it. */
const rounds = 3

const megabyte = 1024 * 1024

function numberIn(answer: Readonly<Record<string, unknown>>, field: string): number {
  const value = answer[field]
  if (typeof value !== 'number') throw new Error(`an answer without ${field}`)
  return value
}

type Programs = { readonly server: MeasuredProgram; readonly asker: MeasuredProgram }

/** The highest memory of each until now. */
async function memory(
  { server }: Programs,
  answer: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<readonly Figure[]> {
  const ofServer = numberIn(await server.call({ do: 'memory' }, signal), 'rssBytes')
  return [
    { label: 'peak memory of the server', value: ofServer / megabyte, unit: 'MB' },
    { label: 'peak memory of the command line', value: numberIn(answer, 'rssBytes') / megabyte, unit: 'MB' },
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
        ...(await memory(programs, answer, signal)),
      ]
    },
    goals: [figureAtMost(label, seconds)],
  }
}

function exporting(programs: Programs, entries: number): Measurement {
  const label = 'entries per second'
  return {
    name: 'export',
    title: `${exported.toLocaleString('en-US')} entries as sekisho audit export reads them`,
    async run(signal): Promise<readonly Figure[]> {
      const answer = await slowest(programs, { do: 'export', after: Math.max(0, entries - exported) }, signal)
      return [
        { label, value: numberIn(answer, 'entries') / numberIn(answer, 'seconds'), unit: '' },
        ...(await memory(programs, answer, signal)),
      ]
    },
    goals: [figureAtLeast(label, 20_000)],
  }
}

export const auditQuestions: Bench = {
  name: 'audit-questions',
  title: 'the audit log: questions about one repository in a million entries (ten million with --long), and an export',
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
        comparisons: [],
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
