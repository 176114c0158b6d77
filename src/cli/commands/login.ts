// `sekisho login` and `sekisho logout`.
import { AppError, isAppError } from '../../lib/errors.ts'
import { defined } from '../../lib/json/defined.ts'
import { hasDisplay, type SavedConfig } from '../config.ts'
import { writePrivateFile } from '../files/private-file.ts'
import { browserLogin } from '../login/browser-login.ts'
import { deviceLogin } from '../login/device-login.ts'
import { signIn, signOut } from '../login/session.ts'
import { json, type PlainFormat } from '../output.ts'
import type { CommandContext } from './context.ts'
import { signOutEverywhere } from './sessions.ts'
import { askWhoAmI, type WhoAmI } from './whoami.ts'

type LoginOptions = {
  readonly device?: boolean
  /** commander's name for `--no-browser`. */
  readonly browser: boolean
  readonly printUrlFile?: string
  readonly output: PlainFormat
}

async function rememberIssuer({ settings }: CommandContext): Promise<void> {
  const saved: SavedConfig = { issuer: settings.issuer, ...defined({ caFile: settings.caFile }) }
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
  if (options.output === 'json') return terminal.result(json({ issuer: tokens.issuer, expiresAt }))
  say(await greeting(context, tokens.issuer))
}

/**
 * Who signed in, and what comes next. The sign-in itself has succeeded: a platform that does not answer now is not a failure of
 * it.
 */
async function greeting(context: CommandContext, issuer: string): Promise<string> {
  try {
    return greetingOf(await askWhoAmI(context), issuer)
  } catch (error) {
    if (!isAppError(error)) throw error
    return `signed in to ${issuer}; who you are there is not known: ${error.message}`
  }
}

/** Pure. */
export function greetingOf({ login, subject, tenants, platformAdmin }: WhoAmI, issuer: string): string {
  const who = `signed in to ${issuer} as ${login ?? subject}`
  const [first] = tenants
  if (first === undefined)
    return platformAdmin
      ? `${who}, platform admin. Next: sekisho kubeconfig writes a context for kubectl`
      : `${who}, without a role in any tenant. Next: an owner of your GitHub organization opens ${issuer}/onboard, or gives one of your teams a role`
  const roles = tenants.map(({ namespace, role }) => `${role} of ${namespace}`).join(', ')
  const namespace = tenants.length === 1 ? '' : ` --namespace ${first.namespace}`
  return `${who}, ${roles}. Next: sekisho kubeconfig${namespace} writes a context for kubectl; then sekisho status shows what runs`
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
