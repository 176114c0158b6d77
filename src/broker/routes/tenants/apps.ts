// `/tenants/:namespace/apps`: an owner binds another App of the pool that is installed on the account, with one click on the page
// of the tenant. Proved at GitHub, and recorded, as every onboarding.
import { Type } from '@fastify/type-provider-typebox'
import type { WebServer } from '../../../web/server.ts'
import type { BrokerContext } from '../../context.ts'
import { onboardedInstallation } from '../../onboarding/desired.ts'
import { bindApp } from '../../owners/bind-app.ts'
import { appNameText, csrfText, namespaceText } from '../field-schemas.ts'
import { perMinute } from '../limits.ts'
import type { Identities } from './identities.ts'

/** The form on the page of a tenant. */
export function registerApps(server: WebServer, context: BrokerContext, identityOf: Identities): void {
  const { sessions, visibleTenants, installations, bindApps } = context
  const params = Type.Object({ namespace: namespaceText })
  const body = Type.Object({ csrf: csrfText, app: appNameText })
  server.post('/tenants/:namespace/apps', { schema: { params, body }, config: perMinute(10) }, async (request, reply) => {
    const person = await sessions.requireForm(request, request.body.csrf)
    const { namespace } = request.params
    const { tenant } = visibleTenants.stateOnly(await identityOf(person), namespace)
    await bindApp(bindApps, person, onboardedInstallation(tenant, installations.list(namespace)), request.body.app)
    return reply.redirect(`/tenants/${namespace}`, 303)
  })
}
