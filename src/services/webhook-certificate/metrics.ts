// The end of the serving certificate of the webhook, for metrics.
import { Gauge, type Registry } from 'prom-client'

/** Call once per registry. Returns a function that takes the end of the webhook's serving certificate. */
export function createWebhookCertificateMetrics(registry: Registry): (notAfter: Date) => void {
  const gauge = new Gauge({
    name: 'sekisho_admission_certificate_expiry_timestamp_seconds',
    help: 'When the serving certificate of the admission webhook in its Secret ends, in seconds since 1970. Reported by the leader where the platform renews it; renewal is due ten days before.',
    registers: [registry],
  })
  return notAfter => gauge.set(notAfter.getTime() / 1000)
}
