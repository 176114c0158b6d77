// `/onboard`: choose an account that has the App (`/onboard/installed`), or install the App on another one. The path of a
// person: choose → GitHub's page of the App → callback with an installation id → proof → choose teams and confirm → progress.
// Every step that binds anything proves again: an installation id from a browser is only a claim.
import { Type } from '@fastify/type-provider-typebox'
import { installationPage } from '../../../github/index.ts'
import { AppError } from '../../../lib/errors.ts'
import type { WebServer } from '../../../web/server.ts'
import type { BrokerContext } from '../../context.ts'
import type { BrokerGitHub } from '../../github.ts'
import { onboardingCandidates } from '../../onboarding/candidates.ts'
import { beginOnboarding, ownOnboardings, withdrawOnboarding } from '../../onboarding/onboarding-requests.ts'
import { chooseAccountPage } from '../../pages/onboard.ts'
import { csrfText, idText, onboardingId } from '../field-schemas.ts'
import { perMinute } from '../limits.ts'
import { personOrSignIn, sendPage } from '../pages.ts'
import { beginInstall, registerCallback } from './callback.ts'
import { confirmPath, registerConfirm } from './confirm.ts'
import { registerProgress } from './progress.ts'

/** `/onboard/…`: from the choice of an account to the finished tenant. */
export function registerOnboard(server: WebServer, context: BrokerContext): void {
  const { sessions, people, github, onboarding, installations } = context

  server.get('/onboard', { config: perMinute(60) }, async (request, reply) => {
    const person = await personOrSignIn(sessions, request, reply)
    if (person === undefined) return reply
    const client = await people.userClient(person.host, person.userId)
    const candidates = await onboardingCandidates(client, github.app().appId, person.userId)
    const ofHost = installations.list().filter(({ spec }) => spec.account.host === person.host)
    const bound = ofHost.map(({ metadata, spec }) => ({
      installationId: spec.installationId,
      boundAt: new Date(metadata.creationTimestamp ?? 0),
    }))
    const own = await ownOnboardings(onboarding, person, { candidates, bound })
    const namespaces = new Map(ofHost.map(({ metadata, spec }) => [spec.installationId, metadata.namespace ?? '']))
    return sendPage(reply, chooseAccountPage({ person, accounts: candidates, own, namespaces }))
  })

  const begin = Type.Object({ csrf: csrfText })
  server.post('/onboard', { schema: { body: begin }, config: perMinute(60) }, async (request, reply) => {
    const person = await sessions.requireForm(request, request.body.csrf)
    const { endpoints, slug } = verifiedApp(github)
    const state = await beginInstall(context, reply, person)
    return reply.redirect(installationPage(endpoints, slug, state), 303)
  })

  // For an account that has the App already.
  const installed = Type.Object({ csrf: csrfText, installation_id: idText })
  server.post('/onboard/installed', { schema: { body: installed }, config: perMinute(60) }, async (request, reply) => {
    const person = await sessions.requireForm(request, request.body.csrf)
    const id = await beginOnboarding(onboarding, person, Number(request.body.installation_id))
    return reply.redirect(confirmPath(id), 303)
  })

  const withdrawn = Type.Object({ csrf: csrfText, onboarding: onboardingId })
  server.post('/onboard/withdraw', { schema: { body: withdrawn }, config: perMinute(60) }, async (request, reply) => {
    const person = await sessions.requireForm(request, request.body.csrf)
    await withdrawOnboarding(onboarding, person, request.body.onboarding)
    return reply.redirect('/onboard', 303)
  })

  registerCallback(server, context)
  registerConfirm(server, context)
  registerProgress(server, context)
}

function verifiedApp(github: BrokerGitHub) {
  const { endpoints, slug } = github.app()
  if (slug !== undefined) return { endpoints, slug }
  throw new AppError('unavailable', 'the GitHub App is not verified yet: try again in a minute')
}
