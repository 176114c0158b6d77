// `/tenants/:namespace/offboard`: what ends with the tenant, and its end by an owner who types the name. Whether somebody is an
// owner is asked of GitHub at that moment, for the page and again for the end.
import { Type } from '@fastify/type-provider-typebox'
import { AppError } from '../../../lib/errors.ts'
import type { WebServer } from '../../../web/server.ts'
import type { BrokerContext } from '../../context.ts'
import { offboard, offboardRefusal, viewEnding } from '../../owners/offboard.ts'
import { offboardPage } from '../../pages/tenant/offboard-page.ts'
import { csrfText, namespaceText, objectUid } from '../field-schemas.ts'
import { perMinute } from '../limits.ts'
import { personOrSignIn, sendPage } from '../pages.ts'
import type { Identities } from './identities.ts'

/** The page, and the form on it. */
export function registerOffboardPage(server: WebServer, context: BrokerContext, identityOf: Identities): void {
  const { sessions, visibleTenants, owners } = context
  const params = Type.Object({ namespace: namespaceText })

  server.get('/tenants/:namespace/offboard', { schema: { params }, config: perMinute(30) }, async (request, reply) => {
    const person = await personOrSignIn(sessions, request, reply)
    if (person === undefined) return reply
    const { tenant } = visibleTenants.stateOnly(await identityOf(person), request.params.namespace)
    const ending = await viewEnding(owners, { person, tenant })
    const lock = offboardRefusal({ tenant, halt: owners.haltOf(tenant) }, tenant.metadata.name)?.message
    return sendPage(reply, offboardPage({ person, tenant, ending, lock }))
  })

  const body = Type.Object({ csrf: csrfText, uid: objectUid, name: Type.String({ maxLength: 253 }) })
  server.post('/tenants/:namespace/offboard', { schema: { params, body }, config: perMinute(10) }, async (request, reply) => {
    const person = await sessions.requireForm(request, request.body.csrf)
    const { tenant } = visibleTenants.stateOnly(await identityOf(person), request.params.namespace)
    // Stops: the form of a tenant that is gone, sent to another one of that name.
    if (tenant.metadata.uid !== request.body.uid)
      throw new AppError('conflict', 'this is another tenant than the one that the page showed: load the page again')
    await offboard(owners, { person, tenant, typed: request.body.name })
    return reply.redirect('/', 303)
  })
}
