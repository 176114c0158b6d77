// `/tenants/:namespace/roles`: who has which role, for people whom the Tenant names; its owners change roles there. Whether
// somebody is an owner is asked of GitHub at that moment, for the page and again for the change.
import { Type } from '@fastify/type-provider-typebox'
import type { WebServer } from '../../../web/server.ts'
import type { BrokerContext } from '../../context.ts'
import { changeRoles, viewRoles } from '../../owners/change-roles.ts'
import { rolesPage } from '../../pages/tenant/roles-page.ts'
import { csrfText, idText, namespaceText, objectGeneration, objectUid } from '../field-schemas.ts'
import { perMinute } from '../limits.ts'
import { personOrSignIn, sendPage } from '../pages.ts'
import type { Identities } from './identities.ts'

/** The page, and the forms on it. */
export function registerRolesPage(server: WebServer, context: BrokerContext, identityOf: Identities): void {
  const { sessions, visibleTenants, owners } = context
  const params = Type.Object({ namespace: namespaceText })

  server.get('/tenants/:namespace/roles', { schema: { params }, config: perMinute(60) }, async (request, reply) => {
    const person = await personOrSignIn(sessions, request, reply)
    if (person === undefined) return reply
    const { tenant } = visibleTenants.stateOnly(await identityOf(person), request.params.namespace)
    return sendPage(reply, rolesPage({ person, view: await viewRoles(owners, { person, tenant }) }))
  })

  /** Without a team it is about all members. */
  const body = Type.Object({
    csrf: csrfText,
    uid: objectUid,
    generation: objectGeneration,
    team: Type.Optional(idText),
    role: Type.Union([
      Type.Literal('viewer'),
      Type.Literal('developer'),
      Type.Literal('admin'),
      Type.Literal('auditor'),
      Type.Literal('none'),
    ]),
  })
  server.post('/tenants/:namespace/roles', { schema: { params, body }, config: perMinute(30) }, async (request, reply) => {
    const person = await sessions.requireForm(request, request.body.csrf)
    const { namespace } = request.params
    const { uid, generation, team, role } = request.body
    const { tenant } = visibleTenants.stateOnly(await identityOf(person), namespace)
    const subject = team === undefined ? ({ type: 'Members' } as const) : ({ type: 'Team', id: Number(team) } as const)
    const seen = { uid, generation: Number(generation) }
    await changeRoles(owners, { person, tenant, seen, change: { subject, role } })
    return reply.redirect(`/tenants/${namespace}/roles`, 303)
  })
}
