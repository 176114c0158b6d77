// The broker's routes about the audit log and the command line that asks them, in one process, over HTTP on loopback. What is
// not measured here is a sign-in: whoever asks is a platform admin.
import type { Tenant } from '../../../src/api/tenancy/tenant.ts'
import { registerAudit } from '../../../src/broker/routes/api/audit/index.ts'
import { accessRepository } from '../../../src/cli/commands/access/access.ts'
import { streamEntries } from '../../../src/cli/commands/audit/entry-stream.ts'
import type { CommandContext } from '../../../src/cli/commands/context.ts'
import { createConnection } from '../../../src/cli/connection.ts'
import { createPlatformApi } from '../../../src/cli/platform-api.ts'
import type { Cache } from '../../../src/kube/cache/object-cache.ts'
import { systemClock as clock } from '../../../src/lib/clock.ts'
import { silentLog as log } from '../../../src/lib/testing/silent-log.ts'
import { createAuditLog } from '../../../src/store/audit/audit-log.ts'
import { readStoreSettings } from '../../../src/store/config.ts'
import { connectServer } from '../../../src/store/database/database.ts'
import { createWebServer, listen } from '../../../src/web/server.ts'
import { serveCommands } from '../harness/command-server.ts'
import { askedRepository, fillLog } from './fill.ts'

type Command =
  | { readonly do: 'fill'; readonly entries: number }
  | { readonly do: 'access'; readonly since?: string }
  | { readonly do: 'export'; readonly entries: number }
  | { readonly do: 'close' }

const { location } = readStoreSettings(process.env)
if (!('url' in location)) throw new Error('this bench needs a PostgreSQL')
const { url } = location
const database = connectServer(url, log)
const server = await createWebServer({ log })
registerAudit(server, {
  tenants: { list: () => [] } as unknown as Cache<Tenant>,
  verifyIdToken: async subject => {
    const expiresAt = new Date(clock.now().getTime() + 600_000)
    return { subject, host: 'github.com', userId: 1, login: 'x', groups: [], tokenId: undefined, expiresAt }
  },
  clock,
  store: { audit: createAuditLog({ pool: database.pool, clock, log }) },
  platformAdmins: { includes: async () => true },
  settings: { publicUrl: new URL('https://sekisho.example.com') },
  issuerKeys: { sign: async () => 'signed', publicKeys: { keys: [] } },
  losses: { kube: { get: async () => undefined } },
})
const issuer = `http://127.0.0.1:${await listen(server, { host: '127.0.0.1', port: 0 })}`
const connection = createConnection({ issuer, caFile: undefined })
const api = createPlatformApi(issuer, 'a-token-of-the-platform-here', connection)

let printed = ''
const context = {
  clock,
  say: () => {},
  terminal: { result: (text: string) => (printed += text) },
  api: async () => api,
} as unknown as CommandContext

const rss = (): number => process.resourceUsage().maxRSS * 1024

/** Seconds, grants of the answer, and the highest memory of this process until then. */
async function access(since: string | undefined): Promise<object> {
  printed = ''
  const started = performance.now()
  const range = since === undefined ? { at: '2 hours ago' } : { since }
  await accessRepository(context, { argument: String(askedRepository), output: 'json', ...range })
  const { could } = JSON.parse(printed) as { readonly could: readonly object[] }
  return { seconds: (performance.now() - started) / 1000, grants: could.length, rssBytes: rss() }
}

/** The stream of an export, entry by entry as `sekisho audit export` reads it, from the newest that many. */
async function exported(entries: number): Promise<object> {
  const { rows } = await database.pool.query<{ last: string }>('SELECT max(sequence) AS last FROM audit.entries')
  const started = performance.now()
  let count = 0
  for await (const entry of streamEntries(context, { after: Math.max(0, Number(rows[0]?.last) - entries) })) {
    JSON.stringify(entry)
    count += 1
  }
  return { seconds: (performance.now() - started) / 1000, entries: count, rssBytes: rss() }
}

async function answer(command: Command): Promise<object> {
  switch (command.do) {
    case 'fill':
      return { bytes: await fillLog(url, command.entries, clock.now()) }
    case 'access':
      return access(command.since)
    case 'export':
      return exported(command.entries)
    case 'close':
      await connection.close()
      await server.close()
      await database.close()
      return {}
  }
}

// The parent is this bench: its commands have the declared form.
await serveCommands(command => answer(command as Command))
process.exit(0)
