// Sign-in through the browser: authorization code flow with PKCE, state and nonce, and a redirect to this computer.
import * as oidc from 'openid-client'
import { writePrivateFile } from '../files/private-file.ts'
import { loginScope, type Tokens, translated } from './issuer-client.ts'
import { startLoopbackServer } from './loopback-server.ts'
import { openBrowser } from './open-browser.ts'

export type BrowserLoginOptions = {
  /** Tries to open the user's browser; the URL is printed in any case. */
  readonly openBrowser: boolean
  /** Also writes the URL to this file, for programs that act as the browser. */
  readonly printUrlFile: string | undefined
  readonly say: (text: string) => void
  readonly platform: string
}

const waitMilliseconds = 5 * 60_000

/** Resolves when the user has signed in. Rejects with an AppError: `unavailable` after five minutes, `forbidden` when refused. */
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
        ? 'waiting for the sign-in in your browser …'
        : 'open this URL in a browser on this computer; waiting …',
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
