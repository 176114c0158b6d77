// `/api/v1/onboardings`: the accounts that wait for a platform admin, and the decision about them. For platform admins only.
import { Type } from '@fastify/type-provider-typebox'
import { userSubject } from '../../../api/names.ts'
import type { WebServer } from '../../../web/server.ts'
import type { BrokerContext } from '../../context.ts'
import { approveOnboarding, refuseOnboarding } from '../../onboarding/approval/platform-approval.ts'
import type { OnboardingRecord } from '../../onboarding/onboarding-records.ts'
import { onboardingId, refusalReason } from '../field-schemas.ts'
import { perMinute } from '../limits.ts'
import { requirePlatformAdmin } from './bearer.ts'

/** What these routes need of the broker. */
export type OnboardingsContext = Pick<BrokerContext, 'verifyIdToken' | 'platformAdmins' | 'onboarding' | 'onboardingController'>

/** `GET /api/v1/onboardings`, `POST /api/v1/onboardings/approve`, `POST /api/v1/onboardings/refuse`. */
export function registerOnboardingsApi(server: WebServer, context: OnboardingsContext): void {
  const { onboarding, onboardingController } = context
  const config = perMinute(60)

  server.get('/api/v1/onboardings', { config }, async request => {
    await requirePlatformAdmin(context, request)
    return { onboardings: (await onboarding.onboardings.waitingForAdmin()).map(shown) }
  })

  const approved = Type.Object({ onboarding: onboardingId }, { additionalProperties: false })
  server.post('/api/v1/onboardings/approve', { schema: { body: approved }, config }, async request => {
    const { subject: actor } = await requirePlatformAdmin(context, request)
    const id = request.body.onboarding
    await approveOnboarding(onboarding, { id, actor })
    await onboardingController.attempt(id)
    return { onboarding: id, decision: 'approved' }
  })

  const refused = Type.Object({ onboarding: onboardingId, reason: refusalReason }, { additionalProperties: false })
  server.post('/api/v1/onboardings/refuse', { schema: { body: refused }, config }, async request => {
    const { subject: actor } = await requirePlatformAdmin(context, request)
    const { onboarding: id, reason } = request.body
    await refuseOnboarding(onboarding, { id, actor, reason })
    return { onboarding: id, decision: 'refused' }
  })
}

function shown({ id, state, updatedAt, installationId, intent }: OnboardingRecord) {
  const { account, boundBy, ceiling } = intent
  return {
    id,
    state,
    account: { host: account.host, id: account.id, login: account.login, type: account.type },
    requestedBy: { user: userSubject(account.host, boundBy.id), login: boundBy.login },
    since: updatedAt.toISOString(),
    installationId: installationId ?? null,
    repositories: ceiling === undefined ? null : ceiling.repositories === 'All' ? 'all' : (ceiling.repositoryIds?.length ?? 0),
  }
}
