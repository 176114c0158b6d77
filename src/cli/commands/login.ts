// `sekisho login` and `sekisho logout`.
import { AppError } from '../../lib/errors.ts'
import { hasDisplay, type SavedConfig } from '../config.ts'
import { writePrivateFile } from '../files/private-file.ts'
import { browserLogin } from '../login/browser-login.ts'
import { deviceLogin } from '../login/device-login.ts'
import { signIn, signOut } from '../login/session.ts'
import { json, type PlainFormat } from '../output.ts'
import type { CommandContext } from './context.ts'
import { signOutEverywhere } from './sessions.ts'

type LoginOptions = {
  readonly device?: boolean
  /** commander's name for `--no-browser`. */
  readonly browser: boolean
  readonly printUrlFile?: string
  readonly output: PlainFormat
}

async function rememberIssuer({ settings }: CommandContext): Promise<void> {
  const saved: SavedConfig = { issuer: settings.issuer, ...(settings.caFile === undefined ? {} : { caFile: settings.caFile }) }
  await writePrivateFile(settings.folders.configFile, `${JSON.stringify(saved, null, 2)}\n`)
}

/** Signs in and saves the issuer for later commands. */
export async function login(context: CommandContext, options: LoginOptions): Promise<void> {
  const { say, terminal } = context
  const tokens = await signIn(context, configuration =>
    options.device === true
      ? deviceLogin(configuration, say)
      : browserLogin(configuration, {
          openBrowser: options.browser && hasDisplay(),
          printUrlFile: options.printUrlFile,
          platform: process.platform,
          say,
        }),
  )
  await rememberIssuer(context)
  const expiresAt = new Date(tokens.expiresAt * 1000).toISOString()
  if (options.output === 'json') terminal.result(json({ issuer: tokens.issuer, expiresAt }))
  else say(`signed in to ${tokens.issuer}`)
}

type LogoutOptions = { readonly everywhere?: boolean; readonly output: PlainFormat }

/** Signs out. Rejects with `not_found` when the user was not signed in. */
export async function logout(context: CommandContext, options: LogoutOptions): Promise<void> {
  const { issuer } = context.settings
  if (options.everywhere === true) return logoutEverywhere(context, options.output)
  if (!(await signOut(context))) throw new AppError('not_found', `you were not signed in to ${issuer}`)
  if (options.output === 'json') context.terminal.result(json({ issuer, signedOut: true }))
  else context.say(`signed out of ${issuer}`)
}

/** At the platform first: without its answer the user must know that nothing has ended. */
async function logoutEverywhere(context: CommandContext, output: PlainFormat): Promise<void> {
  const { ended, text } = await signOutEverywhere(context)
  await signOut(context)
  if (output === 'json') context.terminal.result(json({ issuer: context.settings.issuer, signedOut: true, ...ended }))
  else context.say(text)
}
