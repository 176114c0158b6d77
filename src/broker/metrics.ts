// The broker's metrics, on a registry that the process owns. Labels are closed sets, and every series starts as 0.
import { Counter, type Registry } from 'prom-client'
import { type ForeignReason, foreignReasons } from './webhooks/delivering-app.ts'

export type BrokerMetrics = {
  readonly ignoredDelivery: (reason: ForeignReason) => void
  /** Of a webhook that GitHub sends as a form: nothing of it can be read until its setting is changed. */
  readonly formDelivery: () => void
}

/** Registers all metrics on `registry`; call once per registry. */
export function createBrokerMetrics(registry: Registry): BrokerMetrics {
  const ignored = new Counter({
    name: 'sekisho_webhook_deliveries_ignored_total',
    help: 'Signed webhook deliveries that are not of one of our Apps: another host, not a webhook of an App, or another App.',
    labelNames: ['reason'],
    registers: [registry],
  })
  for (const reason of foreignReasons) ignored.inc({ reason }, 0)
  const forms = new Counter({
    name: 'sekisho_webhook_deliveries_form_encoded_total',
    help: 'Signed webhook deliveries that are refused because they are form-encoded: set the content type of the webhook to application/json.',
    registers: [registry],
  })
  return { ignoredDelivery: reason => ignored.inc({ reason }), formDelivery: () => forms.inc() }
}
