// `/tenants/:namespace/grants`: the grants of a tenant that wait for people, with a form to answer for each. For people whom RBAC
// lets list RepositoryGrants; who may answer is asked of RBAC again when the form is sent.
import { Type } from '@fastify/type-provider-typebox'
import { printableLine } from '../../../api/github/halt.ts'
import { AppError } from '../../../lib/errors.ts'
import type { WebServer } from '../../../web/server.ts'
import type { BrokerContext } from '../../context.ts'
import { answerGrant } from '../../grants/answer-grant.ts'
import { grantsPage, grantsPath } from '../../pages/tenant/grants.ts'
import type { Identity } from '../../people/tenant-access.ts'
import type { Person } from '../../sessions.ts'
import { csrfText, namespaceText, objectUid } from '../field-schemas.ts'
import { perMinute } from '../limits.ts'
import { personOrSignIn, sendPage } from '../pages.ts'
import { type Identities, noGroups } from './identities.ts'

/** The page, and the form on it. */
export function registerGrantPages(server: WebServer, context: BrokerContext, identityOf: Identities): void {
  const { sessions, people, grantAnswers } = context
  const params = Type.Object({ namespace: namespaceText })

  server.get('/tenants/:namespace/grants', { schema: { params }, config: perMinute(120) }, async (request, reply) => {
    const person = await personOrSignIn(sessions, request, reply)
    if (person === undefined) return reply
    const { namespace } = request.params
    const view = await grantAnswers.grants.waiting(await identityOf(person), namespace)
    return sendPage(reply, grantsPage({ person, namespace, view }))
  })

  const body = Type.Object({
    csrf: csrfText,
    grant: Type.String({ pattern: '^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$', description: 'the name of a RepositoryGrant' }),
    uid: objectUid,
    answer: Type.Union([Type.Literal('Approve'), Type.Literal('Deny')]),
    lifetime: Type.Optional(Type.Union([Type.Literal('hour'), Type.Literal('day'), Type.Literal('week'), Type.Literal('month')])),
    reason: Type.String({ minLength: 3, maxLength: 500, pattern: printableLine, description: 'one line of text' }),
  })
  server.post(
    '/tenants/:namespace/grants/answer',
    { schema: { params, body }, config: perMinute(30) },
    async (request, reply) => {
      const person = await sessions.requireForm(request, request.body.csrf)
      const { namespace } = request.params
      const { grant: name, uid, answer, reason, lifetime = 'month' } = request.body
      const identity = await presentIdentity(person)
      await answerGrant(grantAnswers, { identity, login: person.login, namespace, name, uid, answer, reason, lifetime })
      return reply.redirect(grantsPath(namespace), 303)
    },
  )

  /** With the groups that GitHub names now: who left the team of admins a moment ago answers for nothing. */
  async function presentIdentity({ subject }: Person): Promise<Identity> {
    const claims = await people.claims(subject).catch(noGroups)
    if (claims === undefined) throw new AppError('unauthenticated', 'your GitHub sign-in has ended: sign in again')
    return { subject, groups: claims.groups }
  }
}
