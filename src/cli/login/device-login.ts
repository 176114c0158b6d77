// Sign-in on another device: prints a code, which the user enters there (RFC 8628).
import * as oidc from 'openid-client'
import { loginScope, type Tokens, translated } from './issuer-client.ts'

/**
 * Resolves when the user has signed in. Rejects with an AppError: `unauthenticated` when the code expires, `forbidden` when
 * refused.
 */
export async function deviceLogin(configuration: oidc.Configuration, say: (text: string) => void): Promise<Tokens> {
  const device = await translated(() => oidc.initiateDeviceAuthorization(configuration, { scope: loginScope }))
  const { verification_uri, verification_uri_complete, user_code } = device
  const minutes = Math.floor(device.expires_in / 60)
  // The code is shown in any case: the page shows it, too, and the person compares them (RFC 8628 §3.3.1).
  say(verification_uri_complete ?? verification_uri)
  say(
    verification_uri_complete === undefined
      ? `open this URL on any device and enter the code ${user_code}; it expires in ${minutes} minutes`
      : `open this URL on any device and check that it shows the code ${user_code} (or enter it at ${verification_uri}); it expires in ${minutes} minutes`,
  )
  return translated(() => oidc.pollDeviceAuthorizationGrant(configuration, device))
}
