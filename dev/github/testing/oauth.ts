// The OAuth web flow from the side of the application and its user. For tests.
import { createHash, randomBytes } from 'node:crypto'
import type { RunningEmulator } from '../emulator.ts'
import type { Browser } from './browser.ts'

export type Tokens = {
  readonly access_token: string
  readonly refresh_token: string
  readonly expires_in: number
  readonly token_type: string
}

type Emulator = Pick<RunningEmulator, 'url' | 'app' | 'context'>

export function newVerifier(): { readonly verifier: string; readonly challenge: string } {
  const verifier = randomBytes(32).toString('base64url')
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') }
}

/** The URL of the consent page with these parameters. */
export function authorizeUrl(emulator: Emulator, parameters: Readonly<Record<string, string>>): string {
  return `${emulator.url}/login/oauth/authorize?${new URLSearchParams({ client_id: emulator.app.clientId, ...parameters }).toString()}`
}

/** Posts to the token endpoint as the application and asks for JSON. */
export async function postToken(
  emulator: Emulator,
  parameters: Readonly<Record<string, string>>,
): Promise<Record<string, unknown>> {
  const body = new URLSearchParams({ client_id: emulator.app.clientId, client_secret: emulator.app.clientSecret, ...parameters })
  const response = await fetch(`${emulator.url}/login/oauth/access_token`, {
    method: 'POST',
    headers: { accept: 'application/json' },
    body,
  })
  return (await response.json()) as Record<string, unknown>
}

/** Lets the user consent (the first time) in the browser; resolves to the code. */
export async function obtainCode(
  emulator: Emulator,
  browser: Browser,
  parameters: Readonly<Record<string, string>> = {},
): Promise<string> {
  const [callback = ''] = emulator.context.state.apps[0]?.callbackUrls ?? []
  browser.stops.push(parameters['redirect_uri'] ?? callback)
  let page = await browser.open(authorizeUrl(emulator, parameters))
  if (page.status === 200) page = await page.form(`Authorize ${emulator.app.slug}`).submit()
  return new URL(page.url).searchParams.get('code') ?? ''
}

/** The whole web flow with PKCE. */
export async function exchange(emulator: Emulator, browser: Browser): Promise<Tokens> {
  const { verifier, challenge } = newVerifier()
  const code = await obtainCode(emulator, browser, { code_challenge: challenge, code_challenge_method: 'S256' })
  return (await postToken(emulator, { code, code_verifier: verifier })) as Tokens
}
