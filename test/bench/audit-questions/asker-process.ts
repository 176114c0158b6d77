// The command line that asks a platform on loopback about its audit log: `sekisho access repository`, and what `sekisho audit
// export` reads.
import { openSync, writeSync } from 'node:fs'
import { accessRepository } from '../../../src/cli/commands/access/access.ts'
import { streamEntries } from '../../../src/cli/commands/audit/entry-stream.ts'
import type { CommandContext } from '../../../src/cli/commands/context.ts'
import { createConnection } from '../../../src/cli/connection.ts'
import { jsonLine } from '../../../src/cli/output.ts'
import { createPlatformApi } from '../../../src/cli/platform-api.ts'
import { systemClock as clock } from '../../../src/lib/clock.ts'
import { serveCommands } from '../harness/command-server.ts'
import { readBareExport } from './bare-export.ts'
import { askedRepository } from './fill.ts'

type Command =
  | { readonly do: 'access'; readonly since?: string }
  | { readonly do: 'export' | 'bare-export'; readonly after: number }

const issuer = process.argv[2] ?? ''
const connection = createConnection({ issuer, caFile: undefined })
const api = createPlatformApi(issuer, 'a-token-of-the-platform-here', connection)

let printed = ''
const nowhere = openSync('/dev/null', 'w')
const print = (text: string): void => void writeSync(nowhere, `${text}\n`)
const context = {
  clock,
  say: () => {},
  terminal: { result: (text: string) => (printed += text) },
  api: async () => api,
} as unknown as CommandContext

/** Seconds, and grants of the answer. */
async function access(since: string | undefined): Promise<object> {
  printed = ''
  const started = performance.now()
  const range = since === undefined ? { at: '2 hours ago' } : { since }
  await accessRepository(context, { argument: String(askedRepository), output: 'json', ...range })
  const { could } = JSON.parse(printed) as { readonly could: readonly object[] }
  return { seconds: (performance.now() - started) / 1000, grants: could.length }
}

/** The stream of an export as it is printed, to nowhere. */
async function exported(after: number): Promise<number> {
  let count = 0
  for await (const entries of streamEntries(context, { after })) {
    print(entries.map(jsonLine).join('\n'))
    count += entries.length
  }
  return count
}

async function timed(work: () => Promise<number>): Promise<object> {
  const started = performance.now()
  const entries = await work()
  return { seconds: (performance.now() - started) / 1000, entries }
}

// The parent is this bench: its commands have the declared form.
await serveCommands(received => {
  const command = received as Command
  if (command.do === 'access') return access(command.since)
  return timed(() => (command.do === 'export' ? exported(command.after) : readBareExport(issuer, command.after, print)))
})
await connection.close()
process.exit(0)
