// One side of a run as a process, on the database that its environment names: our log with many concurrent appenders and its
// verification, or the minimal equivalent with the same driver on the same table.
import { systemClock as clock } from '../../../src/lib/clock.ts'
import { silentLog as log } from '../../../src/lib/testing/silent-log.ts'
import { createAuditLog } from '../../../src/store/audit/audit-log.ts'
import { verifyLog } from '../../../src/store/audit/testing/verify-log.ts'
import { readStoreSettings } from '../../../src/store/config.ts'
import { connectServer, openEmbedded } from '../../../src/store/database/database.ts'
import { serveCommands } from '../harness/command-server.ts'
import { percentile } from '../harness/statistics.ts'
import { insertBatches, readAndHash } from './bare.ts'
import { recordNumber } from './records.ts'

type Command =
  | { readonly do: 'append' | 'insert'; readonly entries: number; readonly appenders: number }
  | { readonly do: 'verify' | 'read-and-hash' }
  | { readonly do: 'close' }

const { location } = readStoreSettings(process.env)
const database = 'url' in location ? connectServer(location.url, log) : await openEmbedded(location.dataFolder, log)
const audit = createAuditLog({ pool: database.pool, clock, log })

type Timed = {
  readonly operations: number
  readonly wallSeconds: number
  readonly cpuSeconds: number
  readonly p50Milliseconds?: number
  readonly p99Milliseconds?: number
}

async function timed(work: () => Promise<number>): Promise<Timed> {
  const usage = process.cpuUsage()
  const started = performance.now()
  const operations = await work()
  const wallSeconds = (performance.now() - started) / 1000
  const { user, system } = process.cpuUsage(usage)
  return { operations, wallSeconds, cpuSeconds: (user + system) / 1e6 }
}

/** Each appender waits for its entry to be durable before it appends the next one. */
async function append(entries: number, appenders: number): Promise<Timed> {
  const milliseconds: number[] = []
  let next = 0
  const appender = async (): Promise<void> => {
    while (next < entries) {
      const started = performance.now()
      await audit.append(recordNumber(next++))
      milliseconds.push(performance.now() - started)
    }
  }
  const result = await timed(async () => {
    await Promise.all(Array.from({ length: appenders }, appender))
    return milliseconds.length
  })
  return { ...result, p50Milliseconds: percentile(milliseconds, 50), p99Milliseconds: percentile(milliseconds, 99) }
}

async function verified(): Promise<number> {
  const verification = await verifyLog(audit)
  if (!verification.ok) throw new Error(`entry ${verification.sequence}: ${verification.problem}`)
  return verification.entries
}

async function answer(command: Command): Promise<object> {
  switch (command.do) {
    case 'append':
      return append(command.entries, command.appenders)
    case 'insert':
      return timed(() => insertBatches(database.pool, command.entries))
    case 'verify':
      return timed(verified)
    case 'read-and-hash':
      return timed(() => readAndHash(database.pool))
    case 'close':
      await database.close()
      return {}
  }
}

// The parent is this bench: its commands have the declared form.
await serveCommands(command => answer(command as Command))
process.exit(0)
