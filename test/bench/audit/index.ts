// Bench `audit`: many concurrent appends to the log compared with raw INSERTs of the same rows, and its verification compared
// with a loop that reads and hashes; on the embedded database and on a PostgreSQL with fsync.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { findPostgres, cure as postgresCure } from '../../../dev/postgres/find-postgres.ts'
import type { Bench, Comparison, OpenBench, Run } from '../harness/bench.ts'
import { oursAtLeast, ratioAtLeast } from '../harness/goals.ts'
import { startProgram } from '../harness/program.ts'
import { figureNames } from '../harness/summarize.ts'
import { type BenchDatabases, type DatabaseEnvironment, embeddedDatabases, serverDatabases } from '../load/databases.ts'

const entries = 20_000
const warmUpEntries = 5000
const verifiedEntries = 30_000
const appenders = 1000

type Json = Readonly<Record<string, unknown>>

function numberIn(answer: Json, field: string): number {
  const value = answer[field]
  if (typeof value !== 'number') throw new Error(`an answer without ${field}`)
  return value
}

const sealingKey = randomBytes(32).toString('base64')

/** Sends all commands to a new process in order; the answer before `close` is the run. */
async function runCommands(environment: DatabaseEnvironment, commands: readonly Json[], signal: AbortSignal): Promise<Run> {
  const program = await startProgram(
    {
      name: 'audit process',
      path: process.execPath,
      args: [join(import.meta.dirname, 'audit-process.ts')],
      environment: { ...environment, SEKISHO_SEALING_KEYS: sealingKey },
    },
    signal,
  )
  try {
    let answer: Json = {}
    for (const command of commands) answer = await program.call(command, signal)
    await program.call({ do: 'close' }, signal)
    return {
      operations: numberIn(answer, 'operations'),
      wallSeconds: numberIn(answer, 'wallSeconds'),
      cpuSeconds: numberIn(answer, 'cpuSeconds'),
      ...('p50Milliseconds' in answer
        ? {
            latency: {
              p50Milliseconds: numberIn(answer, 'p50Milliseconds'),
              p99Milliseconds: numberIn(answer, 'p99Milliseconds'),
            },
          }
        : {}),
    }
  } finally {
    await program.stop()
  }
}

/** Once as warm-up and once measured, on an empty log. */
function appending(databases: BenchDatabases, how: 'append' | 'insert', scale: number) {
  return async (signal: AbortSignal): Promise<Run> => {
    const command = (count: number): Json => ({ do: how, entries: Math.max(100, Math.round(count * scale)), appenders })
    return databases.withNew(environment => runCommands(environment, [command(warmUpEntries), command(entries)], signal))
  }
}

type Target = {
  readonly name: string
  readonly databases: BenchDatabases
  /** A log that is filled for verification. */
  readonly filled: DatabaseEnvironment
  /** Required entries per second. */
  readonly rate: number
}

function comparisons({ name, databases, filled, rate }: Target, scale: number): Comparison[] {
  const reading = (how: 'verify' | 'read-and-hash') => (signal: AbortSignal) =>
    runCommands(filled, [{ do: how }, { do: how }], signal)
  return [
    {
      name: `append on ${name}`,
      title: `${entries.toLocaleString('en-US')} entries by ${appenders.toLocaleString('en-US')} appenders that wait for theirs`,
      unit: 'entries',
      peerName: 'INSERTs of 500 rows without a chain, one after the other',
      ours: appending(databases, 'append', scale),
      peer: appending(databases, 'insert', scale),
      goals: [oursAtLeast(figureNames.rate, rate), ratioAtLeast(figureNames.rate, 0.55)],
    },
    {
      name: `verify on ${name}`,
      title: `${verifiedEntries.toLocaleString('en-US')} entries read and checked`,
      unit: 'entries',
      peerName: 'pages of 1,000 rows as the driver gives them, SHA-256 of each',
      ours: reading('verify'),
      peer: reading('read-and-hash'),
      goals: [ratioAtLeast(figureNames.rate, 0.9)],
    },
  ]
}

export const audit: Bench = {
  name: 'audit',
  title: 'the audit log: appends by group commit, and verification',
  budgetSeconds: 240,
  obstacle: async () => (findPostgres() === undefined ? `PostgreSQL was not found: ${postgresCure}` : undefined),
  async open({ scale, folder, note }): Promise<OpenBench> {
    const embedded = await embeddedDatabases(folder)
    const server = await serverDatabases()
    const fill = async (databases: BenchDatabases): Promise<DatabaseEnvironment> => {
      const environment = await databases.create()
      const count = Math.max(2000, Math.round(verifiedEntries * scale))
      await runCommands(environment, [{ do: 'append', entries: count, appenders }], AbortSignal.timeout(60_000))
      return environment
    }
    try {
      note('filling the logs that are verified')
      const [onServer, inFolder] = [await fill(server), await fill(embedded)]
      return {
        comparisons: [
          ...comparisons({ name: 'PostgreSQL', databases: server, filled: onServer, rate: 15_000 }, scale),
          ...comparisons({ name: 'PGlite', databases: embedded, filled: inFolder, rate: 10_000 }, scale),
        ],
        async close() {
          await server.close()
          await embedded.close()
        },
      }
    } catch (error) {
      await server.close()
      throw error
    }
  },
}
