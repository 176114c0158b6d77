// Olivia, who owns the account of an environment, as a person who is signed in at the broker: her session and the forms that
// her browser sends, her ID token and the calls of the API that her command line makes.
import { issueTokens } from '../../../dev/github/actions/user-tokens.ts'
import type { RunningEmulator } from '../../../dev/github/emulator.ts'
import { groups, kubernetesClientId, userSubject } from '../../../src/api/names.ts'
import { loadIssuerKeys } from '../../../src/identity/oidc/issuer-keys.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { SecretString } from '../../../src/lib/secret-string.ts'
import { people } from '../environment/account.ts'
import { type Environment, host } from '../environment/environment.ts'

const brokerUrl = ({ ports }: Environment): string => `http://127.0.0.1:${ports.broker}`

const olivia = { host, userId: people.olivia, login: 'olivia' } as const

const issued = new WeakMap<RunningEmulator, { readonly accessToken: string; readonly expiresAt: Date }>()

/**
 * Her token of GitHub, one for all environments, of which none ends it. GitHub keeps ten tokens of a person and an App: with
 * one for each environment, a case that waits for a lease of the killed process would lose its own to the cases that run
 * meanwhile.
 */
function tokenOf({ fixture, account }: Environment) {
  const known = issued.get(fixture.github)
  if (known !== undefined) return known
  const { accessToken, expiresIn } = issueTokens(fixture.github.context, account.app, people.olivia)
  const token = { accessToken, expiresAt: new Date(Date.now() + expiresIn * 1000) }
  issued.set(fixture.github, token)
  return token
}

/** Writes her token of GitHub to the store, as a sign-in does; resolves to the time until which it is valid. */
async function saveTokens(environment: Environment): Promise<Date> {
  const { accessToken, expiresAt } = tokenOf(environment)
  await environment.store.users.save({
    ...olivia,
    accessToken: new SecretString(accessToken),
    accessTokenExpiresAt: expiresAt,
    groups: [],
  })
  return expiresAt
}

/** The cookie of Olivia, after writing to the store what a sign-in in the browser writes. */
export async function signIn(environment: Environment): Promise<string> {
  const expiresAt = await saveTokens(environment)
  const handle = await environment.store.sessions.create({ ...olivia, expiresAt, data: {} })
  return `__Host-sekisho-session=${handle.reveal()}`
}

/**
 * An ID token of Olivia as the issuer of the environment signs them, after writing to the store what a sign-in to kubectl
 * writes.
 */
export async function signInToKubectl(environment: Environment): Promise<SecretString> {
  const expiresAt = await saveTokens(environment)
  const { store, account, ports } = environment
  const fails = (error: unknown): never => {
    throw error
  }
  const keys = await loadIssuerKeys(store.keys, systemClock, fails)
  const claims = {
    iss: `https://127.0.0.1:${ports.broker}`,
    aud: kubernetesClientId,
    sub: userSubject(host, olivia.userId),
    login: olivia.login,
    groups: [groups.owners(host, account.organization.id)],
    exp: Math.floor(expiresAt.getTime() / 1000),
  }
  return new SecretString(await keys.sign(claims, 'JWT'))
}

/** A call of the API with a body, as the command line makes it. */
export function callApi(environment: Environment, path: string, idToken: SecretString, body: object): Promise<Response> {
  const headers = { authorization: `Bearer ${idToken.reveal()}`, 'content-type': 'application/json' }
  return fetch(`${brokerUrl(environment)}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
}

export type Fields = Readonly<Record<string, string>>

/** Sends a form as a browser does; resolves to the answer, also when it redirects. */
export function submit(environment: Environment, path: string, cookie: string, fields: Fields): Promise<Response> {
  const headers = { cookie, accept: 'text/html' }
  const body = new URLSearchParams(fields)
  return fetch(`${brokerUrl(environment)}${path}`, { method: 'POST', headers, body, redirect: 'manual' })
}

/** The CSRF secret in every form of the person's pages. */
export async function formSecret(environment: Environment, cookie: string): Promise<string> {
  const answer = await fetch(`${brokerUrl(environment)}/onboard`, { headers: { cookie }, redirect: 'manual' })
  const secret = /name="csrf" value="([^"]+)"/.exec(await answer.text())?.[1]
  if (secret === undefined) throw new Error(`the page has no form: ${answer.status}`)
  return secret
}
