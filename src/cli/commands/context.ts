// What every command starts from: settings, a connection and the person's login; closed when the command ends.
import { type Clock, systemClock } from '../../lib/clock.ts'
import { type CliFlags, type CliSettings, readCliSettings } from '../config.ts'
import { type Connection, createConnection } from '../connection.ts'
import { currentTokens, type SessionDeps } from '../login/session.ts'
import type { Terminal } from '../output.ts'
import { createPlatformApi, type PlatformApi } from '../platform-api.ts'

export type CommandContext = SessionDeps & {
  readonly settings: CliSettings
  readonly connection: Connection
  readonly clock: Clock
  readonly terminal: Terminal
  /** With a token that is good now. */
  readonly api: () => Promise<PlatformApi>
}

export async function withContext(
  flags: CliFlags,
  terminal: Terminal,
  work: (context: CommandContext) => Promise<void>,
): Promise<void> {
  const settings = await readCliSettings(flags)
  const connection = createConnection(settings)
  const deps = { settings, connection, clock: systemClock, say: terminal.say }
  const api = async (): Promise<PlatformApi> =>
    createPlatformApi(settings.issuer, (await currentTokens(deps)).idToken, connection)
  try {
    await work({ ...deps, terminal, api })
  } finally {
    await connection.close()
  }
}
