// How an installation token signs in over HTTP, to git and to registries.
// Source:
// https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/authenticating-as-a-github-app-installation#using-an-installation-access-token-to-authenticate-as-an-app-installation
import type { SecretString } from '../lib/secret-string.ts'

/** The user name that GitHub wants beside the token. */
export const tokenUser = 'x-access-token'

/** Of the header `Authorization`. */
export function basicAuthorization(token: SecretString): string {
  return `Basic ${Buffer.from(`${tokenUser}:${token.reveal()}`).toString('base64')}`
}
