// The metrics of the authorizer, on a registry that the process owns. Labels are closed sets, and every series starts as 0.
import { X509Certificate } from 'node:crypto'
import { Counter, Gauge, type Registry } from 'prom-client'

const answers = ['denied', 'no_opinion', 'overflow'] as const

/** `overflow` is denied as well, unread: too large, or too many at once. */
export type Answered = (typeof answers)[number]

/**
 * Registers on `registry`; call once per registry.
 * @param served The certificate that is served now, in PEM.
 */
export function createAuthorizerMetrics(
  registry: Registry,
  served: () => string,
): { readonly answered: (answer: Answered) => void } {
  new Gauge({
    name: 'sekisho_authorizer_certificate_expiry_timestamp_seconds',
    help: 'When the certificate that this replica of the authorizer serves ends, in seconds since 1970. After it API servers do not trust the authorizer, and RBAC decides alone.',
    registers: [registry],
    collect() {
      this.set(Date.parse(new X509Certificate(served()).validTo) / 1000)
    },
  })
  const counter = new Counter({
    name: 'sekisho_authorizer_reviews_total',
    help: 'SubjectAccessReviews that the authorizer answered, by the answer.',
    labelNames: ['answer'],
    registers: [registry],
  })
  for (const answer of answers) counter.inc({ answer }, 0)
  return { answered: answer => counter.inc({ answer }) }
}
