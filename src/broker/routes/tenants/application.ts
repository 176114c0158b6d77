// `/tenants/:namespace/applications/:name`: one Application and its releases, for people whom RBAC lets get it; for others it
// does not exist (404).
import { Type } from '@fastify/type-provider-typebox'
import type { WebServer } from '../../../web/server.ts'
import type { BrokerContext } from '../../context.ts'
import { applicationPage } from '../../pages/tenant/application-page.ts'
import { namespaceText, objectNameText } from '../field-schemas.ts'
import { perMinute } from '../limits.ts'
import { personOrSignIn, sendPage } from '../pages.ts'
import type { Identities } from './identities.ts'

/** The page. */
export function registerApplicationPage(server: WebServer, context: BrokerContext, identityOf: Identities): void {
  const { sessions, visibleTenants } = context
  const params = Type.Object({ namespace: namespaceText, name: objectNameText })
  server.get('/tenants/:namespace/applications/:name', { schema: { params }, config: perMinute(120) }, async (request, reply) => {
    const person = await personOrSignIn(sessions, request, reply)
    if (person === undefined) return reply
    const { namespace, name } = request.params
    const view = await visibleTenants.findApplication(await identityOf(person), namespace, name)
    return sendPage(reply, applicationPage({ person, namespace, view }))
  })
}
