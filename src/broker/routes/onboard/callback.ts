// `/onboard/callback`: GitHub sends the browser here after the App was installed, changed or requested (the App's setup URL).
// Source: https://docs.github.com/en/apps/creating-github-apps/registering-a-github-app/about-the-setup-url
import { type Static, Type } from '@fastify/type-provider-typebox'
import { AppError } from '../../../lib/errors.ts'
import type { WebServer } from '../../../web/server.ts'
import type { BrokerContext } from '../../context.ts'
import { waitForApproval } from '../../onboarding/approval.ts'
import { beginOnboarding } from '../../onboarding/onboarding-requests.ts'
import { waitingPage } from '../../pages/onboard.ts'
import { handleText, idText } from '../field-schemas.ts'
import { perMinute } from '../limits.ts'
import { personOrSignIn, sendPage } from '../pages.ts'
import { confirmPath } from './confirm.ts'
import { endInstall, takeStateCookie } from './install-state.ts'

const answer = Type.Object({
  installation_id: Type.Optional(idText),
  setup_action: Type.Optional(Type.Union([Type.Literal('install'), Type.Literal('update'), Type.Literal('request')])),
  state: Type.Optional(handleText),
  code: Type.Optional(Type.String({ maxLength: 512 })),
})

export function registerCallback(server: WebServer, context: BrokerContext): void {
  const { sessions, onboarding } = context

  server.get('/onboard/callback', { schema: { querystring: answer }, config: perMinute(60) }, async (request, reply) => {
    const person = await personOrSignIn(sessions, request, reply)
    if (person === undefined) return reply
    const { setup_action, state } = request.query
    const stateOfBrowser = takeStateCookie(request, reply)
    // Controllers learn of a changed installation by its webhook; nothing is bound here.
    if (setup_action === 'update') return reply.redirect('/', 303)
    if (setup_action === 'request') {
      await endInstall(context, state ?? stateOfBrowser, person)
      await waitForApproval(onboarding, person)
      return sendPage(reply, waitingPage(person))
    }
    await endInstall(context, requireSameBrowser(state, stateOfBrowser), person)
    const id = await beginOnboarding(onboarding, person, requireInstallation(request.query))
    return reply.redirect(confirmPath(id), 303)
  })
}

/** Stops: a link with another person's state, which would bind that person's installation in this browser's session. */
function requireSameBrowser(state: string | undefined, stateOfBrowser: string | undefined): string {
  if (state !== undefined && state === stateOfBrowser) return state
  throw new AppError('invalid_request', 'this onboarding did not begin in this browser: begin again at /onboard')
}

function requireInstallation({ installation_id }: Static<typeof answer>): number {
  if (installation_id !== undefined) return Number(installation_id)
  throw new AppError('invalid_request', 'installation_id is missing: begin again at /onboard')
}
