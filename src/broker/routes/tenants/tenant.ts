// `/tenants/:namespace`: the page of a tenant. What is on it is decided by the RBAC of the person who looks; for who sees
// nothing, the tenant does not exist (404).
import { Type } from '@fastify/type-provider-typebox'
import { isAppError } from '../../../lib/errors.ts'
import type { WebServer } from '../../../web/server.ts'
import type { BrokerContext } from '../../context.ts'
import { choiceIn } from '../../pages/state/choice.ts'
import { tenantPage, tenantStatePage } from '../../pages/tenant/tenant-page.ts'
import type { Person } from '../../sessions.ts'
import { namespaceText } from '../field-schemas.ts'
import { perMinute } from '../limits.ts'
import { personOrSignIn, sendPage } from '../pages.ts'
import type { Identities } from './identities.ts'

/** The page; as long as GitHub does not answer, the state of the Tenant alone. */
export function registerTenantPage(server: WebServer, context: BrokerContext, identityOf: Identities): void {
  const { sessions, people, visibleTenants, settings, github, clock } = context
  const query = Type.Record(Type.String(), Type.Unknown())
  const options = { schema: { params: Type.Object({ namespace: namespaceText }), querystring: query }, config: perMinute(120) }

  server.get('/tenants/:namespace', options, async (request, reply) => {
    const person = await personOrSignIn(sessions, request, reply)
    if (person === undefined) return reply
    const { namespace } = request.params
    const identity = await identityOf(person).catch(unlessAway)
    if (identity === undefined) return sendPage(reply, tenantStatePage({ person, view: await lastKnown(person, namespace) }))
    const view = await visibleTenants.find(identity, namespace)
    const { web } = github.app().endpoints
    return sendPage(
      reply,
      tenantPage({ person, view, issuer: settings.publicUrl.origin, web, now: clock.now(), choice: choiceIn(request.query) }),
    )
  })

  async function lastKnown({ subject, host, userId }: Person, namespace: string) {
    const groups = await people.shownGroups(host, userId)
    return visibleTenants.stateOnly({ subject, groups }, namespace)
  }
}

/** Undefined while GitHub does not answer. */
function unlessAway(error: unknown): undefined {
  if (!isAppError(error, 'unavailable') && !isAppError(error, 'upstream_failed')) throw error
}
