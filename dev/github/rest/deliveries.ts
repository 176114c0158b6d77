// Owns: the routes about an App's webhook: where it points, what was delivered, and sending it again.
// https://docs.github.com/en/rest/apps/webhooks
import { nodeId } from '../links.ts'
import type { App } from '../state/apps.ts'
import type { Delivery } from '../webhooks/delivery.ts'
import { accepted, notFound, ok } from './answer.ts'
import { fieldsOf } from './body.ts'
import { paged } from './page.ts'
import { type AppCall, appRoute, type RestRoute } from './route.ts'

const item = (delivery: Delivery) => ({
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
})

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    // A receiver may answer anything; GitHub shows what is not JSON as text.
    return text
  }
}

const full = (delivery: Delivery) => ({
  ...item(delivery),
  url: delivery.url,
  request: { headers: delivery.request.headers, payload: parsed(delivery.request.payload) },
  response: { headers: delivery.response.headers, payload: delivery.response.payload },
})

const deliveryOf = ({ app, context, params }: AppCall): Delivery => {
  const id = params['delivery_id'] ?? ''
  const found = /^\d{1,15}$/.test(id) ? context.webhooks.log.find(app.id, Number(id)) : undefined
  if (!found) throw notFound()
  return found
}

const hookConfiguration = (app: App) => ({
  content_type: 'json',
  insecure_ssl: '0',
  secret: '********',
  url: app.webhookUrl ?? '',
})

/** The list is paged by cursor: `cursor` is the id of the first delivery to show. */
const list = (call: AppCall) => {
  const all = call.context.webhooks.log.list(call.app.id)
  const cursor = call.query.get('cursor')
  const from =
    cursor === null
      ? 0
      : Math.max(
          0,
          all.findIndex(one => nodeId('Delivery', one.id) === cursor),
        )
  const size = Math.min(Number(call.query.get('per_page')) || 30, 100)
  const next = all[from + size]
  const page = paged(
    { ...call.paging, query: new URLSearchParams({ per_page: String(size) }) },
    all.slice(from, from + size),
    item,
  )
  if (!next) return page
  const query = new URLSearchParams({ per_page: String(size), cursor: nodeId('Delivery', next.id) })
  return { ...page, headers: { link: `<${call.paging.url}?${query.toString()}>; rel="next"` } }
}

export const deliveryRoutes: readonly RestRoute[] = [
  appRoute({ method: 'GET', path: '/app/hook/config', handle: ({ app }) => ok(hookConfiguration(app)) }),
  appRoute({
    method: 'PATCH',
    path: '/app/hook/config',
    handle: ({ app, context, body }) => {
      const fields = fieldsOf(body, 'Hook')
      const url = fields.optionalText('url', 2000)
      const secret = fields.optionalText('secret', 200)
      context.store.change(() => {
        if (url !== undefined) app.webhookUrl = url
        if (secret !== undefined) app.webhookSecret = secret
      })
      return ok(hookConfiguration(app))
    },
  }),
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
