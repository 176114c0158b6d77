// `sekisho login`, `token` and `logout`. `token` prints a credential for kubectl and nothing else; it never opens a browser.
import { AppError } from '../../lib/errors.ts'
import { hasDisplay, type SavedConfig } from '../config.ts'
import { writePrivateFile } from '../files/private-file.ts'
import { browserLogin } from '../login/browser-login.ts'
import { deviceLogin } from '../login/device-login.ts'
import { currentTokens, signIn, signOut } from '../login/session.ts'
import type { OutputFormat } from '../output.ts'
import type { CommandContext } from './context.ts'

export type LoginOptions = {
  readonly device?: boolean
  /** commander's name for `--no-browser`. */
  readonly browser: boolean
  readonly printUrlFile?: string
  readonly output: OutputFormat
}

async function rememberIssuer({ settings }: CommandContext): Promise<void> {
  const saved: SavedConfig = { issuer: settings.issuer, ...(settings.caFile === undefined ? {} : { caFile: settings.caFile }) }
  await writePrivateFile(settings.folders.configFile, `${JSON.stringify(saved, null, 2)}\n`)
}

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
  if (options.output === 'json') terminal.result(JSON.stringify({ issuer: tokens.issuer, expiresAt }))
  else say(`signed in to ${tokens.issuer}`)
}

/** https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins */
export async function token(context: CommandContext): Promise<void> {
  const { idToken, expiresAt } = await currentTokens(context)
  const expirationTimestamp = new Date(expiresAt * 1000).toISOString()
  const credential = {
    apiVersion: 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    status: { token: idToken, expirationTimestamp },
  }
  context.terminal.result(JSON.stringify(credential))
}

export async function logout(context: CommandContext): Promise<void> {
  if (!(await signOut(context))) throw new AppError('not_found', `you were not signed in to ${context.settings.issuer}`)
  context.say(`signed out of ${context.settings.issuer}`)
}
