// From the Authorization header to the actor. It never decides what the actor may do (state/access.ts).
import type { Actor } from '../state/access.ts'
import { appById, type GitHubState, installationById, userById } from '../state/github-state.ts'
import { checkAppJwt, looksLikeJwt } from './app-jwt.ts'
import { credentialKey } from './formats.ts'

export type Authentication =
  | { readonly ok: true; readonly actor: Actor }
  | { readonly ok: false; readonly status: 401 | 403 | 404; readonly message: string }

const badCredentials: Authentication = { ok: false, status: 401, message: 'Bad credentials' }
/** The longest header that is read; GitHub's longest credential has about 520 characters. */
const maxHeader = 4096

/** User name and password of Basic credentials; `undefined` when the header is malformed. */
export function basicCredentials(header: string): { readonly name: string; readonly password: string } | undefined {
  const encoded = /^basic ([A-Za-z0-9+/=]+)$/i.exec(header)?.[1]
  if (encoded === undefined) return undefined
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  return colon < 0 ? undefined : { name: text.slice(0, colon), password: text.slice(colon + 1) }
}

/** The actor of one opaque token, or why there is none. `now` is milliseconds since the epoch. */
export function authenticateToken(state: GitHubState, token: string, now: number): Authentication {
  const found = state.credentials.accessTokens[credentialKey(token)]
  if (!found || found.expiresAt <= now) return badCredentials
  switch (found.kind) {
    case 'installation': {
      const installation = installationById(state, found.installationId)
      const app = installation && appById(state, installation.appId)
      if (!installation || !app) return badCredentials
      if (installation.suspendedAt !== null) return { ok: false, status: 403, message: 'This installation has been suspended' }
      return { ok: true, actor: { kind: 'installation', app, installation, token: found } }
    }
    case 'user': {
      const user = userById(state, found.userId)
      const app = appById(state, found.appId)
      return user && app ? { ok: true, actor: { kind: 'user', user, app, token: found } } : badCredentials
    }
    case 'personal': {
      const user = userById(state, found.userId)
      return user ? { ok: true, actor: { kind: 'person', user } } : badCredentials
    }
  }
}

/** The credential in an Authorization header: after `Bearer` or `token`, or as user name or password of Basic. */
export function tokenOf(header: string | undefined): string | undefined {
  if (header === undefined || header.length > maxHeader) return undefined
  const basic = basicCredentials(header)
  if (basic) return basic.password === '' || basic.password === 'x-oauth-basic' ? basic.name : basic.password
  return /^(?:bearer|token) (\S+)$/i.exec(header)?.[1]
}

/** The actor of an Authorization header; anonymous without one. A JWT is accepted as a bearer token only. */
export function authenticate(state: GitHubState, header: string | undefined, now: number): Authentication {
  if (header === undefined || header === '') return { ok: true, actor: { kind: 'anonymous' } }
  const credential = tokenOf(header)
  if (credential === undefined) return badCredentials
  if (!looksLikeJwt(credential) || basicCredentials(header)) return authenticateToken(state, credential, now)
  const checked = checkAppJwt(state, credential, now)
  return checked.ok ? { ok: true, actor: { kind: 'app', app: checked.app } } : checked
}
