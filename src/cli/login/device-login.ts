// Sign-in on another device: prints a code, which the user enters there (RFC 8628).
import * as oidc from 'openid-client'
import { loginScope, type Tokens, translated } from './issuer-client.ts'

/** Resolves when the user has signed in. Rejects with an AppError: `unauthenticated` when the code expires, `forbidden` when refused. */
export async function deviceLogin(configuration: oidc.Configuration, say: (text: string) => void): Promise<Tokens> {
  const device = await translated(() => oidc.initiateDeviceAuthorization(configuration, { scope: loginScope }))
  say(device.verification_uri)
  say(
    `open this URL on any device and enter the code ${device.user_code}; it expires in ${Math.floor(device.expires_in / 60)} minutes`,
  )
  return translated(() => oidc.pollDeviceAuthorizationGrant(configuration, device))
}
