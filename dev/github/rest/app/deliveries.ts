import type { Delivery } from '../../webhooks/delivery.ts'
import { accepted, invalidField, notFound, ok, type RestAnswer } from '../protocol/answer.ts'
import { fieldsOf } from '../protocol/body.ts'
import { perPage } from '../protocol/page.ts'
import { type AppCall, appRoute, type RestRoute } from '../route.ts'

function item(delivery: Delivery) {
  return {
    id: delivery.id,
    guid: delivery.guid,
    delivered_at: delivery.deliveredAt,
    redelivery: delivery.redelivery,
    duration: delivery.duration,
    status: delivery.status,
    status_code: delivery.statusCode,
    event: delivery.event,
    action: delivery.action,
    installation_id: delivery.installationId,
    repository_id: delivery.repositoryId,
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // A receiver may respond with anything; GitHub shows a body that is not JSON as text.
    return text
  }
}

function full(delivery: Delivery) {
  return {
    ...item(delivery),
    url: delivery.url,
    request: { headers: delivery.request.headers, payload: parsed(delivery.request.payload) },
    response: { headers: delivery.response.headers, payload: delivery.response.payload },
  }
}

function deliveryOf({ app, context, params }: AppCall): Delivery {
  const id = params['delivery_id'] ?? ''
  const found = /^\d{1,15}$/.test(id) ? context.webhooks.log.find(app.id, Number(id)) : undefined
  if (!found) throw notFound()
  return found
}

function cursorOf(delivery: Delivery): string {
  return `v1_${delivery.id}`
}

/** The position of the delivery of a cursor, or of the next older one when the log has dropped it. */
function positionOf(all: readonly Delivery[], cursor: string | null): number {
  if (cursor === null) return 0
  const id = /^v1_(\d{1,15})$/.exec(cursor)?.[1]
  if (id === undefined) throw invalidField('Hook', 'cursor', 'invalid')
  const at = all.findIndex(one => one.id <= Number(id))
  return at < 0 ? all.length : at
}

/** GitHub's description of the parameter `status` counts redirects as successes. */
function succeeded(delivery: Delivery): boolean {
  return delivery.statusCode >= 200 && delivery.statusCode < 400
}

/** The list is paged by cursor, newest first; `status` selects successes or failures. */
function list(call: AppCall): RestAnswer {
  const wanted = call.query.get('status')
  if (wanted !== null && wanted !== 'success' && wanted !== 'failure') throw invalidField('Hook', 'status', 'invalid')
  const all = call.context.webhooks.log
    .list(call.app.id)
    .filter(one => wanted === null || succeeded(one) === (wanted === 'success'))
  const from = positionOf(all, call.query.get('cursor'))
  const size = perPage(call.query)
  const next = all[from + size]
  const page = ok(all.slice(from, from + size).map(item))
  if (!next) return page
  const query = new URLSearchParams(call.query)
  query.set('cursor', cursorOf(next))
  return { ...page, headers: { link: `<${call.paging.url}?${query.toString()}>; rel="next"` } }
}

function configuration({ app }: AppCall) {
  const { webhookUrl: url, webhookEncoding: encoding = 'json' } = app
  if (url === null) throw notFound()
  return { content_type: encoding, insecure_ssl: '0', secret: '********', url }
}

/** Only the encoding: the rest is set where the App is registered. */
function configure(call: AppCall): RestAnswer {
  const wanted = fieldsOf(call.body, 'Hook').optionalText('content_type', 10)
  if (wanted !== undefined && wanted !== 'json' && wanted !== 'form') throw invalidField('Hook', 'content_type', 'invalid')
  if (wanted !== undefined) call.app.webhookEncoding = wanted
  return ok(configuration(call))
}

export const deliveryRoutes: readonly RestRoute[] = [
  appRoute({ method: 'GET', path: '/app/hook/config', handle: call => ok(configuration(call)) }),
  appRoute({ method: 'PATCH', path: '/app/hook/config', handle: configure }),
  appRoute({ method: 'GET', path: '/app/hook/deliveries', handle: list }),
  appRoute({ method: 'GET', path: '/app/hook/deliveries/{delivery_id}', handle: call => ok(full(deliveryOf(call))) }),
  appRoute({
    method: 'POST',
    path: '/app/hook/deliveries/{delivery_id}/attempts',
    handle: call => {
      if (!call.context.webhooks.redeliver(call.app.id, deliveryOf(call).id)) throw notFound()
      return accepted({})
    },
  }),
]
