// `sekisho token`: a credential for kubectl on standard output, and nothing else. It never opens a browser.
import { askedApiVersion } from '../exec-info.ts'
import { currentTokens } from '../login/current-tokens.ts'
import type { CommandContext } from './context.ts'

/**
 * Prints an ExecCredential:
 * https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
 */
export async function token(context: CommandContext): Promise<void> {
  // Before anything else: a request that cannot be answered must not refresh a token.
  const apiVersion = askedApiVersion()
  const { idToken, expiresAt } = await currentTokens(context)
  const expirationTimestamp = new Date(expiresAt * 1000).toISOString()
  const credential = {
    apiVersion,
    kind: 'ExecCredential',
    status: { token: idToken, expirationTimestamp },
  }
  context.terminal.result(JSON.stringify(credential))
}
