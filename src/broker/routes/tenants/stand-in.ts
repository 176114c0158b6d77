// `/tenants/:namespace/stand-in`: an owner stands in for the binding of the tenant, or is taken away again, with one click on the
// page of the tenant. Proved at GitHub, and recorded, as every onboarding.
import { Type } from '@fastify/type-provider-typebox'
import type { WebServer } from '../../../web/server.ts'
import type { BrokerContext } from '../../context.ts'
import { onboardedInstallation } from '../../onboarding/desired.ts'
import { standIn, withdrawStandIn } from '../../owners/stand-in.ts'
import { csrfText, idText, namespaceText, shownDigest } from '../field-schemas.ts'
import { perMinute } from '../limits.ts'
import type { Identities } from './identities.ts'

/** The forms on the page of a tenant. */
export function registerStandIn(server: WebServer, context: BrokerContext, identityOf: Identities): void {
  const { sessions, visibleTenants, installations, standIns } = context
  const params = Type.Object({ namespace: namespaceText })

  const body = Type.Object({ csrf: csrfText, shown: shownDigest })
  server.post('/tenants/:namespace/stand-in', { schema: { params, body }, config: perMinute(10) }, async (request, reply) => {
    const person = await sessions.requireForm(request, request.body.csrf)
    const { namespace } = request.params
    const { tenant } = visibleTenants.stateOnly(await identityOf(person), namespace)
    const named = onboardedInstallation(tenant, installations.list(namespace))
    await standIn(standIns, { person, tenant, named, shown: request.body.shown })
    return reply.redirect(`/tenants/${namespace}`, 303)
  })

  const withdrawal = { params, body: Type.Object({ csrf: csrfText, person: idText }) }
  server.post('/tenants/:namespace/stand-in/withdraw', { schema: withdrawal, config: perMinute(10) }, async (request, reply) => {
    const person = await sessions.requireForm(request, request.body.csrf)
    const { namespace } = request.params
    const { tenant } = visibleTenants.stateOnly(await identityOf(person), namespace)
    await withdrawStandIn(standIns, { person, tenant, standInId: Number(request.body.person) })
    return reply.redirect(`/tenants/${namespace}`, 303)
  })
}
