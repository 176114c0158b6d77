// The metrics of the authorizer, on a registry that the process owns. Labels are closed sets, and every series starts as 0.
import { Counter, type Registry } from 'prom-client'

const answers = ['denied', 'no_opinion', 'overflow'] as const

/** `overflow` is denied as well, unread: too large, or too many at once. */
export type Answered = (typeof answers)[number]

/** Registers on `registry`; call once per registry. */
export function createAuthorizerMetrics(registry: Registry): { readonly answered: (answer: Answered) => void } {
  const counter = new Counter({
    name: 'sekisho_authorizer_reviews_total',
    help: 'SubjectAccessReviews that the authorizer answered, by the answer.',
    labelNames: ['answer'],
    registers: [registry],
  })
  for (const answer of answers) counter.inc({ answer }, 0)
  return { answered: answer => counter.inc({ answer }) }
}
