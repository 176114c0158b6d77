// `/tenants/:namespace/binding`: a present owner takes over the binding of the tenant's Installation, with one click on the
// page of the tenant. Proved at GitHub, and recorded, as every onboarding.
import { Type } from '@fastify/type-provider-typebox'
import type { WebServer } from '../../../web/server.ts'
import type { BrokerContext } from '../../context.ts'
import { onboardedInstallation } from '../../onboarding/desired.ts'
import { takeOver } from '../../owners/take-over.ts'
import { csrfText, namespaceText } from '../field-schemas.ts'
import { perMinute } from '../limits.ts'
import { confirmPath } from '../onboard/confirm.ts'
import { progressPath } from '../onboard/progress.ts'
import type { Identities } from './identities.ts'

/** The form on the page of a tenant. */
export function registerBinding(server: WebServer, context: BrokerContext, identityOf: Identities): void {
  const { sessions, visibleTenants, installations, onboarding, onboardingController } = context
  const params = Type.Object({ namespace: namespaceText })
  const body = Type.Object({ csrf: csrfText })
  server.post('/tenants/:namespace/binding', { schema: { params, body }, config: perMinute(10) }, async (request, reply) => {
    const person = await sessions.requireForm(request, request.body.csrf)
    const { namespace } = request.params
    const { tenant } = visibleTenants.stateOnly(await identityOf(person), namespace)
    const bound = onboardedInstallation(tenant, installations.list(namespace))
    const { id, state } = await takeOver(onboarding, person, bound)
    if (state === 'proved') return reply.redirect(confirmPath(id), 303)
    if (state === 'confirmed') await onboardingController.attempt(id)
    return reply.redirect(progressPath(id), 303)
  })
}
