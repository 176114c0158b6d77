// `/onboard/confirm`: the person sees the roles and the ceiling, chooses the developers' teams, and confirms. Confirming proves
// again.
import { Type } from '@fastify/type-provider-typebox'
import type { WebServer } from '../../../web/server.ts'
import type { BrokerContext } from '../../context.ts'
import { isTenantOf } from '../../onboarding/desired.ts'
import { confirmOnboarding, openOnboarding } from '../../onboarding/onboarding-requests.ts'
import { confirmPage } from '../../pages/onboard.ts'
import { csrfText, idTexts, numbersOf, onboardingId } from '../field-schemas.ts'
import { perMinute } from '../limits.ts'
import { personOrSignIn, sendPage } from '../pages.ts'
import { progressPath } from './progress.ts'

/** The address of this page for an onboarding. */
export function confirmPath(id: string): string {
  return `/onboard/confirm?onboarding=${encodeURIComponent(id)}`
}

/** `/onboard/confirm`: shows the roles, and starts the onboarding when the person agrees. The proof is made again. */
export function registerConfirm(server: WebServer, context: BrokerContext): void {
  const { sessions, people, onboarding, onboardingController, tenants } = context
  const shown = Type.Object({ onboarding: onboardingId })
  server.get('/onboard/confirm', { schema: { querystring: shown }, config: perMinute(60) }, async (request, reply) => {
    const person = await personOrSignIn(sessions, request, reply)
    if (person === undefined) return reply
    const { id, intent } = await openOnboarding(onboarding, person, request.query.onboarding)
    const client = await people.userClient(person.host, person.userId)
    const teams = intent.account.type === 'Organization' ? await client.organizationTeams(intent.account) : []
    const tenant = tenants.list().find(existing => isTenantOf(existing, intent.account))
    return sendPage(reply, confirmPage({ person, onboardingId: id, intent, teams, tenant }))
  })

  const confirmed = Type.Object({ csrf: csrfText, onboarding: onboardingId, team: idTexts })
  server.post('/onboard/confirm', { schema: { body: confirmed }, config: perMinute(60) }, async (request, reply) => {
    const person = await sessions.requireForm(request, request.body.csrf)
    const open = await openOnboarding(onboarding, person, request.body.onboarding)
    // The roles of a tenant that exists stay: teams are chosen for a new one only.
    const exists = tenants.list().some(existing => isTenantOf(existing, open.intent.account))
    const state = await confirmOnboarding(onboarding, person, open, exists ? [] : numbersOf(request.body.team))
    if (state === 'confirmed') await onboardingController.attempt(open.id)
    return reply.redirect(progressPath(open.id), 303)
  })
}
