// `POST /api/v1/tenants/:namespace/previews/:pipeline/:number/approval`: a person approves the head commit of a pull request
// from a fork. Lists need no route: people read AppPipelines at the API server, by their own rights.
import { Type } from '@fastify/type-provider-typebox'
import { headCommitPattern } from '../../../api/apps/preview-approval.ts'
import type { WebServer } from '../../../web/server.ts'
import type { BrokerContext } from '../../context.ts'
import { approvePreview } from '../../previews/approve-preview.ts'
import { namespaceText, objectNameText, pullRequestNumber } from '../field-schemas.ts'
import { perMinute } from '../limits.ts'
import { requireBearer } from './bearer.ts'

/** What this route needs of the broker. */
export type PreviewsContext = Pick<BrokerContext, 'verifyIdToken' | 'approvals'>

export function registerPreviewsApi(server: WebServer, { verifyIdToken, approvals }: PreviewsContext): void {
  const params = Type.Object({ namespace: namespaceText, pipeline: objectNameText, number: pullRequestNumber })
  const body = Type.Object({ headCommit: Type.String({ pattern: headCommitPattern }) }, { additionalProperties: false })
  const path = '/api/v1/tenants/:namespace/previews/:pipeline/:number/approval'
  server.post(path, { schema: { params, body }, config: perMinute(30) }, async request => {
    const identity = await verifyIdToken(requireBearer(request))
    const { namespace, pipeline, number } = request.params
    const { headCommit } = request.body
    const approved = { identity, namespace, pipeline, number: Number(number), headCommit, via: 'CommandLine' } as const
    const name = await approvePreview(approvals, approved)
    return { approval: name, namespace, pipeline, number: Number(number), headCommit }
  })
}
