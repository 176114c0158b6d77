// `/api/v1/sessions`: who is signed in and where, and ending it. People end their own sign-ins; a platform admin also those of
// others.
import { Type } from '@fastify/type-provider-typebox'
import { parseUserSubject, userSubject } from '../../../api/names.ts'
import { AppError } from '../../../lib/errors.ts'
import { compareText } from '../../../lib/text/compare-text.ts'
import type { BrokerStore } from '../../../store/store.ts'
import type { WebServer } from '../../../web/server.ts'
import type { BrokerContext } from '../../context.ts'
import { endSignIns } from '../../people/end-sign-ins.ts'
import { wouldEnd } from '../../people/halt-controller.ts'
import { perMinute } from '../limits.ts'
import { requireBearer, requirePlatformAdmin } from './bearer.ts'

/** What these routes need of the broker. */
export type SessionsContext = Pick<BrokerContext, 'verifyIdToken' | 'platformAdmins' | 'onboarding'> & {
  readonly store: Pick<BrokerStore, 'audit' | 'oidc' | 'sessions' | 'users'>
}

type SignedIn = { readonly user: string; readonly login: string | null; readonly webSessions: number; readonly programs: number }

/** `GET /api/v1/sessions`, `GET /api/v1/sessions/person`, `POST /api/v1/sessions/revoke`, `POST /api/v1/sessions/sign-out`. */
export function registerSessions(server: WebServer, context: SessionsContext): void {
  const { store, verifyIdToken } = context
  const config = perMinute(60)

  server.get('/api/v1/sessions', { config }, async request => {
    await requirePlatformAdmin(context, request)
    return { people: await signedIn(store) }
  })

  const querystring = Type.Object({ user: Type.String({ maxLength: 300 }) })
  server.get('/api/v1/sessions/person', { schema: { querystring }, config }, async request => {
    await requirePlatformAdmin(context, request)
    const { user } = request.query
    return { user, ...(await wouldEnd({ store, onboardings: context.onboarding.onboardings }, requirePerson(user))) }
  })

  const body = Type.Object({ user: Type.String({ maxLength: 300 }) }, { additionalProperties: false })
  server.post('/api/v1/sessions/revoke', { schema: { body }, config }, async request => {
    const { subject: actor } = await requirePlatformAdmin(context, request)
    const person = requirePerson(request.body.user)
    const ended = await endSignIns({ store }, { ...person, actor, cause: 'revoked by a platform admin' })
    return { user: request.body.user, ...ended }
  })

  server.post('/api/v1/sessions/sign-out', { config }, async request => {
    const { subject, host, userId } = await verifyIdToken(requireBearer(request))
    const ended = await endSignIns({ store }, { host, userId, actor: subject, cause: 'signed out everywhere' })
    return { user: subject, ...ended }
  })
}

function requirePerson(user: string): { readonly host: string; readonly userId: number } {
  const person = parseUserSubject(user)
  if (person !== undefined) return person
  throw new AppError('invalid_request', 'user must be a subject such as github|github.com|42: sekisho sessions list shows them')
}

/** Everybody with a session on the pages or a sign-in of a program, by subject. */
async function signedIn(store: SessionsContext['store']): Promise<readonly SignedIn[]> {
  const people = new Map<string, SignedIn>()
  for (const { host, userId, login, sessions } of await store.sessions.people()) {
    const user = userSubject(host, userId)
    people.set(user, { user, login, webSessions: sessions, programs: 0 })
  }
  for (const { account: user, count } of await store.oidc.signIns()) {
    const known = people.get(user) ?? { user, login: await lastLogin(store, user), webSessions: 0 }
    people.set(user, { ...known, programs: count })
  }
  return [...people.values()].sort((a, b) => compareText(a.user, b.user))
}

async function lastLogin({ users }: SessionsContext['store'], user: string): Promise<string | null> {
  const person = parseUserSubject(user)
  return (person && (await users.find(person.host, person.userId))?.login) ?? null
}
