// Olivia, who owns the account of an environment, as a person who is signed in at the broker: her session, and the forms that her browser sends.
import { issueTokens } from '../../../dev/github/actions/user-tokens.ts'
import { SecretString } from '../../../src/lib/secret-string.ts'
import { people } from '../environment/account.ts'
import { type Environment, host } from '../environment/environment.ts'

const olivia = { host, userId: people.olivia, login: 'olivia' } as const

/** The cookie of Olivia, after writing to the store what a sign-in writes. */
export async function signIn(environment: Environment): Promise<string> {
  const { accessToken, expiresIn } = issueTokens(environment.fixture.github.context, environment.account.app, people.olivia)
  const expiresAt = new Date(Date.now() + expiresIn * 1000)
  await environment.store.users.save({
    ...olivia,
    accessToken: new SecretString(accessToken),
    accessTokenExpiresAt: expiresAt,
    groups: [],
  })
  const handle = await environment.store.sessions.create({ ...olivia, expiresAt, data: {} })
  return `__Host-sekisho-session=${handle.reveal()}`
}

export type Fields = Readonly<Record<string, string>>

/** Sends a form as a browser does; resolves to the answer, also when it redirects. */
export function submit(environment: Environment, path: string, cookie: string, fields: Fields): Promise<Response> {
  const headers = { cookie, accept: 'text/html' }
  const body = new URLSearchParams(fields)
  return fetch(`http://127.0.0.1:${environment.ports.broker}${path}`, { method: 'POST', headers, body, redirect: 'manual' })
}

/** The CSRF secret in every form of the person's pages. */
export async function formSecret(environment: Environment, cookie: string): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${environment.ports.broker}/onboard`, { headers: { cookie }, redirect: 'manual' })
  const secret = /name="csrf" value="([^"]+)"/.exec(await answer.text())?.[1]
  if (secret === undefined) throw new Error(`the page has no form: ${answer.status}`)
  return secret
}
