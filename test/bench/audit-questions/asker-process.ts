// The command line that asks a platform on loopback about its audit log: `sekisho access repository`, and what `sekisho audit
// export` reads.
import { accessRepository } from '../../../src/cli/commands/access/access.ts'
import { streamEntries } from '../../../src/cli/commands/audit/entry-stream.ts'
import type { CommandContext } from '../../../src/cli/commands/context.ts'
import { createConnection } from '../../../src/cli/connection.ts'
import { createPlatformApi } from '../../../src/cli/platform-api.ts'
import { systemClock as clock } from '../../../src/lib/clock.ts'
import { serveCommands } from '../harness/command-server.ts'
import { askedRepository } from './fill.ts'

type Command = { readonly do: 'access'; readonly since?: string } | { readonly do: 'export'; readonly after: number }

const issuer = process.argv[2] ?? ''
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

/** The stream of an export, entry by entry as it is printed. */
async function exported(after: number): Promise<object> {
  const started = performance.now()
  let count = 0
  for await (const entry of streamEntries(context, { after })) {
    JSON.stringify(entry)
    count += 1
  }
  return { seconds: (performance.now() - started) / 1000, entries: count, rssBytes: rss() }
}

// The parent is this bench: its commands have the declared form.
await serveCommands(received => {
  const command = received as Command
  return command.do === 'access' ? access(command.since) : exported(command.after)
})
await connection.close()
process.exit(0)
