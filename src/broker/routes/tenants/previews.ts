// `/tenants/:namespace/previews`: the pull requests of a tenant's AppPipelines, with a form to approve the commit of each that
// waits for it. For people whom RBAC lets list AppPipelines; who may approve is asked of GitHub when the form is sent.
import { Type } from '@fastify/type-provider-typebox'
import { headCommitPattern } from '../../../api/apps/preview-approval.ts'
import type { WebServer } from '../../../web/server.ts'
import type { BrokerContext } from '../../context.ts'
import { previewsPage } from '../../pages/previews.ts'
import { approvePreview } from '../../previews/approve-preview.ts'
import { csrfText, namespaceText, objectNameText, pullRequestNumber } from '../field-schemas.ts'
import { perMinute } from '../limits.ts'
import { personOrSignIn, sendPage } from '../pages.ts'
import type { Identities } from './identities.ts'

/** The page, and the form on it. */
export function registerPreviewPages(server: WebServer, context: BrokerContext, identityOf: Identities): void {
  const { sessions, approvals, github } = context
  const params = Type.Object({ namespace: namespaceText })

  server.get('/tenants/:namespace/previews', { schema: { params }, config: perMinute(120) }, async (request, reply) => {
    const person = await personOrSignIn(sessions, request, reply)
    if (person === undefined) return reply
    const { namespace } = request.params
    const pipelines = await approvals.previews.list(await identityOf(person), namespace)
    return sendPage(reply, previewsPage({ person, namespace, pipelines, web: github.app().endpoints.web }))
  })

  const body = Type.Object({
    csrf: csrfText,
    pipeline: objectNameText,
    number: pullRequestNumber,
    headCommit: Type.String({ pattern: headCommitPattern }),
  })
  server.post(
    '/tenants/:namespace/previews/approve',
    { schema: { params, body }, config: perMinute(30) },
    async (request, reply) => {
      const person = await sessions.requireForm(request, request.body.csrf)
      const { namespace } = request.params
      const { pipeline, number, headCommit } = request.body
      const identity = await identityOf(person)
      await approvePreview(approvals, { identity, namespace, pipeline, number: Number(number), headCommit, via: 'Page' })
      return reply.redirect(`/tenants/${namespace}/previews`, 303)
    },
  )
}
