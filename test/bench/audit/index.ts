// Bench `audit`: appends to the log by many at once beside raw INSERTs of the same rows, and its verification beside a loop that reads and
// hashes; on the embedded database and on a PostgreSQL that waits for its disk.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { findPostgres, cure as postgresCure } from '../../../dev/postgres/find-postgres.ts'
import type { Bench, Comparison, OpenBench, Run } from '../harness/bench.ts'
import { oursAtLeast, ratioAtLeast } from '../harness/goals.ts'
import { startProgram } from '../harness/program.ts'
import { figureNames } from '../harness/summarize.ts'
import { type DatabaseEnvironment, type DatabasePlace, embeddedPlace, serverPlace } from '../load/databases.ts'

const entries = 20_000
const warmUpEntries = 5000
const verifiedEntries = 30_000
const appenders = 1000

type Question = Readonly<Record<string, unknown>>

function numberIn(answer: Question, field: string): number {
  const value = answer[field]
  if (typeof value !== 'number') throw new Error(`an answer without ${field}`)
  return value
}

const sealingKey = randomBytes(32).toString('base64')

/** Asks a fresh process all questions in turn; the last answer but `close` is the run. */
async function askAll(environment: DatabaseEnvironment, questions: readonly Question[], signal: AbortSignal): Promise<Run> {
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
    let answer: Question = {}
    for (const question of questions) answer = await program.ask(question, signal)
    await program.ask({ do: 'close' }, signal)
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

/** Once warm, once measured, on an empty log. */
function appending(place: DatabasePlace, how: 'append' | 'insert', scale: number) {
  return async (signal: AbortSignal): Promise<Run> => {
    const question = (count: number): Question => ({ do: how, entries: Math.max(100, Math.round(count * scale)), appenders })
    return place.borrow(environment => askAll(environment, [question(warmUpEntries), question(entries)], signal))
  }
}

function comparisons(
  database: string,
  place: DatabasePlace,
  filled: DatabaseEnvironment,
  rate: number,
  scale: number,
): Comparison[] {
  const reading = (how: 'verify' | 'read-and-hash') => (signal: AbortSignal) => askAll(filled, [{ do: how }, { do: how }], signal)
  return [
    {
      name: `append on ${database}`,
      title: `${entries.toLocaleString('en-US')} entries by ${appenders.toLocaleString('en-US')} appenders that wait for theirs`,
      unit: 'entries',
      peerName: 'INSERTs of 500 rows without a chain, one after the other',
      ours: appending(place, 'append', scale),
      peer: appending(place, 'insert', scale),
      goals: [oursAtLeast(figureNames.rate, rate)],
    },
    {
      name: `verify on ${database}`,
      title: `${verifiedEntries.toLocaleString('en-US')} entries read and checked`,
      unit: 'entries',
      peerName: 'pages of 1,000 rows as the driver gives them, SHA-256 of each',
      ours: reading('verify'),
      peer: reading('read-and-hash'),
      goals: [ratioAtLeast(figureNames.rate, 0.8)],
    },
  ]
}

export const audit: Bench = {
  name: 'audit',
  title: 'the audit log: appends by group commit, and verification',
  budgetSeconds: 240,
  obstacle: async () => (findPostgres() === undefined ? `PostgreSQL was not found: ${postgresCure}` : undefined),
  async open({ scale, folder, note }): Promise<OpenBench> {
    const embedded = await embeddedPlace(folder)
    const server = await serverPlace()
    const fill = async (place: DatabasePlace): Promise<DatabaseEnvironment> => {
      const environment = await place.fresh()
      const count = Math.max(2000, Math.round(verifiedEntries * scale))
      await askAll(environment, [{ do: 'append', entries: count, appenders }], AbortSignal.timeout(60_000))
      return environment
    }
    try {
      note('filling the logs that are verified')
      const [onServer, inFolder] = [await fill(server), await fill(embedded)]
      return {
        comparisons: [
          ...comparisons('PostgreSQL', server, onServer, 15_000, scale),
          ...comparisons('PGlite', embedded, inFolder, 10_000, scale),
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
