// `/api/v1/audit/acknowledge`: a platform admin records why entries of the audit log are missing. `/api/v1/audit/prune`: one
// allows that its oldest entries are removed.
import { Type } from '@fastify/type-provider-typebox'
import type { WebServer } from '../../../../web/server.ts'
import { approveCut } from '../../../audit/approve-cut.ts'
import type { LossDeps } from '../../../audit/loss-deps.ts'
import { acknowledgeLosses } from '../../../audit/lost-entries.ts'
import type { BrokerContext } from '../../../context.ts'
import { perMinute } from '../../limits.ts'
import { requirePlatformAdmin } from '../bearer.ts'

/** What the route needs of the broker. */
export type AcknowledgeContext = Pick<BrokerContext, 'verifyIdToken' | 'platformAdmins'> & { readonly losses: LossDeps }

const cutBody = Type.Object(
  { reason: Type.String({ minLength: 1, maxLength: 500 }), statement: Type.String({ maxLength: 2048 }) },
  { additionalProperties: false },
)
const body = Type.Object(
  {
    reason: Type.String({ minLength: 1, maxLength: 500 }),
    statements: Type.Array(Type.String({ maxLength: 2048 }), { maxItems: 100 }),
  },
  { additionalProperties: false },
)

/** `POST /api/v1/audit/acknowledge`, `POST /api/v1/audit/prune`. */
export function registerAuditAcknowledge(server: WebServer, context: AcknowledgeContext): void {
  server.post('/api/v1/audit/acknowledge', { schema: { body }, config: perMinute(10), bodyLimit: 262_144 }, async request => {
    const { subject: actor } = await requirePlatformAdmin(context, request)
    const acknowledged = await acknowledgeLosses(context.losses, { actor, ...request.body })
    return { acknowledged: acknowledged.map(loss => ({ ...loss, at: loss.at.toISOString() })) }
  })
  server.post('/api/v1/audit/prune', { schema: { body: cutBody }, config: perMinute(10) }, async request => {
    const { subject: actor } = await requirePlatformAdmin(context, request)
    return approveCut(context.losses, { actor, ...request.body })
  })
}
