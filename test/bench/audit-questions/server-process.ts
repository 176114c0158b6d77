// The broker's routes about the audit log over HTTP on loopback, on the database that its environment names. What is not measured
// here is a sign-in: whoever asks is a platform admin.
import { createAuditServer } from '../../../src/broker/routes/api/audit/testing/audit-server.ts'
import { systemClock as clock } from '../../../src/lib/clock.ts'
import { silentLog as log } from '../../../src/lib/testing/silent-log.ts'
import { createAuditLog } from '../../../src/store/audit/audit-log.ts'
import { readStoreSettings } from '../../../src/store/config.ts'
import { connectServer } from '../../../src/store/database/database.ts'
import { listen } from '../../../src/web/server.ts'
import { serveCommands } from '../harness/command-server.ts'
import { usageOf } from '../harness/process-usage.ts'
import { registerBareExport } from './bare-export.ts'
import { fillLog } from './fill.ts'

type Command = { readonly do: 'fill'; readonly entries: number } | { readonly do: 'serve' } | { readonly do: 'sessions' }

const { location } = readStoreSettings(process.env)
if (!('url' in location)) throw new Error('this bench needs a PostgreSQL')
const database = connectServer(location.url, log)
const server = await createAuditServer({ audit: createAuditLog({ pool: database.pool, clock, log }), clock })
registerBareExport(server, database.pool)

/** CPU seconds of each session until now, by its process; the database is on this machine. */
async function sessions(): Promise<Readonly<Record<string, number>>> {
  const { rows } = await database.pool.query<{ pid: number }>(
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'",
  )
  return Object.fromEntries(await Promise.all(rows.map(async ({ pid }) => [pid, (await usageOf(pid)).cpuSeconds] as const)))
}

async function answer(command: Command): Promise<object> {
  switch (command.do) {
    case 'fill':
      return { bytes: await fillLog(database.pool, command.entries, clock.now()) }
    case 'serve':
      return { port: await listen(server, { host: '127.0.0.1', port: 0 }) }
    case 'sessions':
      return sessions()
  }
}

// The parent is this bench: its commands have the declared form.
await serveCommands(command => answer(command as Command))
await server.close()
await database.close()
process.exit(0)
