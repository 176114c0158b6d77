// Signs in on another device: shows a code, the person types it where they are signed in (RFC 8628).
import * as oidc from 'openid-client'
import { loginScope, type Tokens, translated } from './issuer-client.ts'

export async function deviceLogin(configuration: oidc.Configuration, say: (text: string) => void): Promise<Tokens> {
  const device = await translated(() => oidc.initiateDeviceAuthorization(configuration, { scope: loginScope }))
  say(device.verification_uri)
  say(
    `open this address on any device and enter the code ${device.user_code}; it is good for ${Math.floor(device.expires_in / 60)} minutes`,
  )
  return translated(() => oidc.pollDeviceAuthorizationGrant(configuration, device))
}
