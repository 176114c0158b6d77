// What every command starts from: settings, a connection that is opened on first use, and the user's login.
import { systemClock } from '../../lib/clock.ts'
import { namingClock } from '../clock-error.ts'
import { type CliFlags, readCliSettings } from '../config.ts'
import type { Connection } from '../connection.ts'
import { readBearerFile } from '../files/bearer-file.ts'
import { currentTokens } from '../login/current-tokens.ts'
import type { SessionDeps } from '../login/login-state.ts'
import type { Terminal } from '../output.ts'
import type { PlatformApi } from '../platform-api.ts'

export type CommandContext = SessionDeps & {
  readonly terminal: Terminal
  /**
   * The platform's API, with a valid token: of the login, or of the file that was named. Rejects with `unauthenticated` without
   * a login.
   */
  readonly api: () => Promise<PlatformApi>
}

/** A context whose connection, if it was opened, has to be closed. */
export type OpenContext = {
  readonly context: CommandContext
  /** The error, or one that names the clock of this computer, where that is why. */
  readonly explained: (error: unknown) => Promise<unknown>
  readonly close: () => Promise<void>
}

/** Rejects with `invalid_request` when no issuer is configured. */
export async function openContext(flags: CliFlags, terminal: Terminal): Promise<OpenContext> {
  const settings = await readCliSettings(flags)
  let opened: Promise<Connection> | undefined
  const connection = (): Promise<Connection> => {
    opened ??= import('../connection.ts').then(({ createConnection }) => createConnection(settings))
    return opened
  }
  const deps: SessionDeps = { settings, connection, clock: systemClock, say: terminal.say }
  const api = async (): Promise<PlatformApi> => {
    const { createPlatformApi } = await import('../platform-api.ts')
    const { tokenFile } = flags
    const bearer = tokenFile === undefined ? (await currentTokens(deps)).idToken : await readBearerFile(tokenFile)
    return createPlatformApi(settings.issuer, bearer, await connection())
  }
  return {
    context: { ...deps, terminal, api },
    explained: async error => {
      const offset = opened === undefined ? undefined : (await opened).clockOffset()
      return offset === undefined ? error : namingClock(error, offset, settings.issuer)
    },
    close: async () => {
      if (opened !== undefined) await (await opened).close()
    },
  }
}

/** Runs a command and closes the connection afterwards. */
export async function withContext(
  flags: CliFlags,
  terminal: Terminal,
  work: (context: CommandContext) => Promise<void>,
): Promise<void> {
  const { context, explained, close } = await openContext(flags, terminal)
  try {
    await work(context)
  } catch (error) {
    throw await explained(error)
  } finally {
    await close()
  }
}
