// `/onboardings`: platform admins approve or refuse accounts that are not listed. For other people the pages do not exist (404).
import { Type } from '@fastify/type-provider-typebox'
import { AppError } from '../../../lib/errors.ts'
import type { WebServer } from '../../../web/server.ts'
import type { BrokerContext } from '../../context.ts'
import { approveOnboarding, refuseOnboarding } from '../../onboarding/approval/platform-approval.ts'
import { decisionsPage } from '../../pages/requests.ts'
import type { Person } from '../../sessions.ts'
import { csrfText, onboardingId, refusalReason } from '../field-schemas.ts'
import { perMinute } from '../limits.ts'
import { personOrSignIn, sendPage } from '../pages.ts'
import { noGroups } from '../tenants/identities.ts'

/** `/onboardings`, `/onboardings/approve` and `/onboardings/refuse`. */
export function registerOnboardings(server: WebServer, context: BrokerContext): void {
  const { sessions, onboarding, onboardingController } = context
  const config = perMinute(60)

  server.get('/onboardings', { config }, async (request, reply) => {
    const person = await personOrSignIn(sessions, request, reply)
    if (person === undefined) return reply
    await requireAdmin(context, person)
    return sendPage(reply, decisionsPage(person, await onboarding.onboardings.waitingForAdmin()))
  })

  const approved = Type.Object({ csrf: csrfText, onboarding: onboardingId })
  server.post('/onboardings/approve', { schema: { body: approved }, config }, async (request, reply) => {
    const person = await sessions.requireForm(request, request.body.csrf)
    await requireAdmin(context, person)
    const id = request.body.onboarding
    await approveOnboarding(onboarding, { id, actor: person.subject })
    await onboardingController.attempt(id)
    return reply.redirect('/onboardings', 303)
  })

  const refused = Type.Object({ csrf: csrfText, onboarding: onboardingId, reason: refusalReason })
  server.post('/onboardings/refuse', { schema: { body: refused }, config }, async (request, reply) => {
    const person = await sessions.requireForm(request, request.body.csrf)
    await requireAdmin(context, person)
    const { onboarding: id, reason } = request.body
    await refuseOnboarding(onboarding, { id, actor: person.subject, reason })
    return reply.redirect('/onboardings', 303)
  })
}

/** By the groups that GitHub answers now: without its answer the decision is refused. */
async function requireAdmin({ people, platformAdmins }: BrokerContext, { subject }: Person): Promise<void> {
  const claims = await people.claims(subject).catch(noGroups)
  if (claims === undefined) throw new AppError('unauthenticated', 'your GitHub sign-in has ended: sign in again')
  if (await platformAdmins.includes({ subject, groups: claims.groups })) return
  throw new AppError('not_found', 'there is no such page')
}
