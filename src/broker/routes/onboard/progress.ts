// `/onboard/progress`: waits until the tenant is there, then leads to its page.
import { Type } from '@fastify/type-provider-typebox'
import type { WebServer } from '../../../web/server.ts'
import type { BrokerContext } from '../../context.ts'
import { ownOnboarding } from '../../onboarding/onboarding-requests.ts'
import { preparingPage } from '../../pages/onboard.ts'
import { onboardingStatePage } from '../../pages/requests.ts'
import { onboardingId } from '../field-schemas.ts'
import { personOrSignIn, sendPage } from '../pages.ts'

/** The address of this page for an onboarding. */
export function progressPath(id: string): string {
  return `/onboard/progress?onboarding=${encodeURIComponent(id)}`
}

/** `/onboard/progress`: how far an onboarding has got; the page reloads itself until it is finished. */
export function registerProgress(server: WebServer, { sessions, onboarding, tenants }: BrokerContext): void {
  const shown = Type.Object({ onboarding: onboardingId })
  server.get('/onboard/progress', { schema: { querystring: shown } }, async (request, reply) => {
    const person = await personOrSignIn(sessions, request, reply)
    if (person === undefined) return reply
    const record = await ownOnboarding(onboarding, person, request.query.onboarding)
    const { state, intent } = record
    if (state === 'finished' && intent.tenantName !== undefined) {
      const namespace = tenants.get({ name: intent.tenantName })?.spec.namespace ?? intent.tenantName
      return reply.redirect(`/tenants/${namespace}`, 303)
    }
    if (state !== 'confirmed' && state !== 'tenant-written' && state !== 'installation-written')
      return sendPage(reply, onboardingStatePage(person, record))
    return sendPage(reply, preparingPage(person, intent.account.login))
  })
}
