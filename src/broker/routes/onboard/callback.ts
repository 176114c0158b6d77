// `/onboard/callback`: GitHub sends the browser here after the App was installed, changed or requested (the App's setup URL).
// An installation is tied to the person and the browser that began it by a one-use state, which GitHub sends back, and a cookie
// with the same state: an answer without both binds nothing.
// Source: https://docs.github.com/en/apps/creating-github-apps/registering-a-github-app/about-the-setup-url
import { type Static, Type } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../../lib/errors.ts'
import { objectAt } from '../../../lib/json/json-value.ts'
import type { WebServer } from '../../../web/server.ts'
import type { BrokerContext } from '../../context.ts'
import { waitForApproval } from '../../onboarding/approval/owner-approval.ts'
import { beginOnboarding } from '../../onboarding/onboarding-requests.ts'
import { waitingPage } from '../../pages/onboard.ts'
import { cookieAttributes, type Person } from '../../sessions.ts'
import { handleText, idText } from '../field-schemas.ts'
import { perMinute } from '../limits.ts'
import { personOrSignIn, sendPage } from '../pages.ts'
import { confirmPath } from './confirm.ts'

const stateLifeMilliseconds = 60 * 60_000
/** GitHub does not send the state back when an owner has to approve: then this cookie has it. */
const stateCookie = '__Host-sekisho-onboarding'
const purpose = 'onboard'

const answer = Type.Object({
  installation_id: Type.Optional(idText),
  setup_action: Type.Optional(Type.Union([Type.Literal('install'), Type.Literal('update'), Type.Literal('request')])),
  state: Type.Optional(handleText),
  code: Type.Optional(Type.String({ maxLength: 512 })),
})

/** `/onboard/callback`: where GitHub's install page returns to. `installation_id` is a claim; the proof follows. */
export function registerCallback(server: WebServer, context: BrokerContext): void {
  const { sessions, onboarding } = context

  server.get('/onboard/callback', { schema: { querystring: answer }, config: perMinute(60) }, async (request, reply) => {
    const person = await personOrSignIn(sessions, request, reply)
    if (person === undefined) return reply
    const { setup_action, state } = request.query
    const stateOfBrowser = takeStateCookie(request, reply)
    // Controllers learn of a changed installation by its webhook. What was added to the selection is bound by onboarding again.
    if (setup_action === 'update') return reply.redirect('/onboard', 303)
    if (setup_action === 'request') {
      await endInstall(context, state ?? stateOfBrowser, person)
      await waitForApproval(onboarding, person)
      return sendPage(reply, waitingPage(person))
    }
    // Begun at GitHub: an owner approved what a member requested, or installed the App from its own page. Nothing is bound; the
    // account is among those to continue with.
    if (state === undefined) return reply.redirect('/onboard', 303)
    await endInstall(context, requireSameBrowser(state, stateOfBrowser), person)
    const id = await beginOnboarding(onboarding, person, requireInstallation(request.query))
    return reply.redirect(confirmPath(id), 303)
  })
}

/** Stops: a link with another person's state, which would bind that person's installation in this browser's session. */
function requireSameBrowser(state: string, stateOfBrowser: string | undefined): string {
  if (state === stateOfBrowser) return state
  throw new AppError('invalid_request', 'this onboarding did not begin in this browser: begin again at /onboard')
}

function requireInstallation({ installation_id }: Static<typeof answer>): number {
  if (installation_id !== undefined) return Number(installation_id)
  throw new AppError('invalid_request', 'installation_id is missing: begin again at /onboard')
}

/** Resolves to the state to send to GitHub, and sets the cookie. */
export async function beginInstall({ store, clock }: BrokerContext, reply: FastifyReply, person: Person): Promise<string> {
  const data = { purpose, subject: person.subject }
  const expiresAt = new Date(clock.now().getTime() + stateLifeMilliseconds)
  const state = (await store.sessions.createLoginState({ data, expiresAt })).reveal()
  reply.setCookie(stateCookie, state, { ...cookieAttributes, maxAge: stateLifeMilliseconds / 1000 })
  return state
}

/** The state of this browser. Clears the cookie. */
function takeStateCookie(request: FastifyRequest, reply: FastifyReply): string | undefined {
  const state = request.cookies[stateCookie]
  reply.clearCookie(stateCookie, cookieAttributes)
  return state
}

/** Uses the state up. Rejects with `invalid_request` unless this person began an installation with it. */
async function endInstall({ store }: BrokerContext, state: string | undefined, person: Person): Promise<void> {
  const begun = objectAt(state === undefined ? undefined : await store.sessions.takeLoginState(state))
  if (begun?.['purpose'] === purpose && begun['subject'] === person.subject) return
  throw new AppError(
    'invalid_request',
    'this onboarding was used already, has expired, or was begun by another person: begin again at /onboard',
  )
}
