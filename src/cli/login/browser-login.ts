// Signs in through the browser: authorization code with PKCE, state and nonce, back to this computer.
import { spawn } from 'node:child_process'
import * as oidc from 'openid-client'
import { writePrivateFile } from '../files/private-file.ts'
import { loginScope, type Tokens, translated } from './issuer-client.ts'
import { startLoopbackServer } from './loopback-server.ts'

export type BrowserLoginOptions = {
  /** Tries to open the person's browser; the address is shown in any case. */
  readonly openBrowser: boolean
  /** Also writes the address here, for programs that play the browser. */
  readonly printUrlFile: string | undefined
  readonly say: (text: string) => void
  readonly platform: string
}

const waitMilliseconds = 5 * 60_000

/** Once, and never waited for: when it does not open, the person has the address. */
function openBrowser(url: string, platform: string): void {
  const [command, ...args] =
    platform === 'darwin'
      ? ['open', url]
      : platform === 'win32'
        ? ['rundll32', 'url.dll,FileProtocolHandler', url]
        : ['xdg-open', url]
  const child = spawn(command ?? 'xdg-open', args, { stdio: 'ignore', detached: true })
  child.once('error', () => child.unref())
  child.unref()
}

export async function browserLogin(configuration: oidc.Configuration, options: BrowserLoginOptions): Promise<Tokens> {
  const state = oidc.randomState()
  const server = await startLoopbackServer(state)
  try {
    const verifier = oidc.randomPKCECodeVerifier()
    const nonce = oidc.randomNonce()
    const url = oidc.buildAuthorizationUrl(configuration, {
      redirect_uri: server.redirectUri,
      scope: loginScope,
      prompt: 'consent',
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      nonce,
    }).href
    options.say(url)
    if (options.printUrlFile !== undefined) await writePrivateFile(options.printUrlFile, `${url}\n`)
    if (options.openBrowser) openBrowser(url, options.platform)
    options.say(
      options.openBrowser
        ? 'waiting for you to sign in in the browser …'
        : 'open this address in a browser on this computer; waiting …',
    )
    const answer = await server.callback(waitMilliseconds)
    return await translated(() =>
      oidc.authorizationCodeGrant(configuration, answer, {
        pkceCodeVerifier: verifier,
        expectedState: state,
        expectedNonce: nonce,
        idTokenExpected: true,
      }),
    )
  } finally {
    await server.close()
  }
}
