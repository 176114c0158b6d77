// Ties an installation on GitHub to the person and the browser that began it: a one-use state in the store, which GitHub sends back, and a
// cookie that holds the same state. An answer without both binds nothing.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../../lib/errors.ts'
import { objectAt } from '../../../lib/json/json-value.ts'
import type { BrokerContext } from '../../context.ts'
import { cookieAttributes, type Person } from '../../sessions.ts'

const stateLifeMilliseconds = 60 * 60_000
/** GitHub does not send the state back when an owner has to approve: then this cookie has it. */
const stateCookie = '__Host-sekisho-onboarding'
const purpose = 'onboard'

/** Resolves to the state to send to GitHub, and sets the cookie. */
export async function beginInstall({ store, clock }: BrokerContext, reply: FastifyReply, person: Person): Promise<string> {
  const data = { purpose, subject: person.subject }
  const expiresAt = new Date(clock.now().getTime() + stateLifeMilliseconds)
  const state = (await store.sessions.createLoginState({ data, expiresAt })).reveal()
  reply.setCookie(stateCookie, state, { ...cookieAttributes, maxAge: stateLifeMilliseconds / 1000 })
  return state
}

/** The state of this browser. Clears the cookie. */
export function takeStateCookie(request: FastifyRequest, reply: FastifyReply): string | undefined {
  const state = request.cookies[stateCookie]
  reply.clearCookie(stateCookie, cookieAttributes)
  return state
}

/** Uses the state up. Rejects with `invalid_request` unless this person began an installation with it. */
export async function endInstall({ store }: BrokerContext, state: string | undefined, person: Person): Promise<void> {
  const begun = objectAt(state === undefined ? undefined : await store.sessions.takeLoginState(state))
  if (begun?.['purpose'] === purpose && begun['subject'] === person.subject) return
  throw new AppError(
    'invalid_request',
    'this onboarding was used already, has expired, or was begun by another person: begin again at /onboard',
  )
}
