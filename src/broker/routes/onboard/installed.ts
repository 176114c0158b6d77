// `/onboard/installed`: the person chose an account that has the App already.
import { Type } from '@fastify/type-provider-typebox'
import type { WebServer } from '../../../web/server.ts'
import type { BrokerContext } from '../../context.ts'
import { beginOnboarding } from '../../onboarding/onboarding-requests.ts'
import { csrfText, idText } from '../field-schemas.ts'
import { perMinute } from '../limits.ts'
import { confirmPath } from './confirm.ts'

export function registerInstalled(server: WebServer, { sessions, onboarding }: BrokerContext): void {
  const body = Type.Object({ csrf: csrfText, installation_id: idText })
  server.post('/onboard/installed', { schema: { body }, config: perMinute(60) }, async (request, reply) => {
    const person = await sessions.requireForm(request, request.body.csrf)
    const id = await beginOnboarding(onboarding, person, Number(request.body.installation_id))
    return reply.redirect(confirmPath(id), 303)
  })
}
