// The broker's metrics, on a registry that the process owns. Labels are closed sets, and every series starts as 0.
import { Counter, Gauge, type Registry } from 'prom-client'
import { createAnswerMetrics, type GitHubObserver } from '../github/index.ts'
import type { InboxBacklog } from '../store/inbox/inbox.ts'
import { type OnboardingState, openStates } from '../store/onboardings.ts'
import { type ForeignReason, foreignReasons } from './webhooks/delivering-app.ts'

/** What became of an attempt to handle a stored delivery. */
export type HandlingResult = 'handled' | 'retried' | 'given_up'

export type BrokerMetrics = {
  readonly ignoredDelivery: (reason: ForeignReason) => void
  /** Of a webhook that GitHub sends as a form: nothing of it can be read until its setting is changed. */
  readonly formDelivery: () => void
  readonly receivedDelivery: (result: 'stored' | 'duplicate') => void
  readonly refusedDelivery: () => void
  readonly handledDelivery: (result: HandlingResult) => void
  readonly signIn: (result: 'signed_in' | 'refused') => void
  /** For requests in the name of people: each has a rate limit of their own. */
  readonly askedGitHub: GitHubObserver
  /** Undefined: not known. */
  readonly waiting: (waits: Waiting | undefined, now: Date) => void
}

export type Waiting = { readonly inbox: InboxBacklog; readonly onboardings: ReadonlyMap<OnboardingState, number> }

/** Registers all metrics on `registry`; call once per registry. */
export function createBrokerMetrics(registry: Registry): BrokerMetrics {
  const registers = [registry]
  const counter = <L extends string>(name: string, help: string, label?: L, values: readonly string[] = []) => {
    const made = new Counter<L>({ name, help, labelNames: label === undefined ? [] : [label], registers })
    for (const value of values) made.inc({ [label ?? '']: value } as Record<L, string>, 0)
    return made
  }
  const gauge = (name: string, help: string, ...labelNames: readonly string[]) =>
    new Gauge({ name, help, labelNames: [...labelNames], registers })

  const ignored = counter(
    'sekisho_webhook_deliveries_ignored_total',
    'Signed webhook deliveries that are not of one of our Apps: another host, not a webhook of an App, or another App.',
    'reason',
    foreignReasons,
  )
  const forms = counter(
    'sekisho_webhook_deliveries_form_encoded_total',
    'Signed webhook deliveries that are refused because they are form-encoded: set the content type of the webhook to application/json.',
  )
  const received = counter(
    'sekisho_webhook_deliveries_received_total',
    'Signed webhook deliveries of our Apps: stored, or a duplicate of one that was stored.',
    'result',
    ['stored', 'duplicate'],
  )
  const refused = counter(
    'sekisho_webhook_deliveries_refused_total',
    'Requests to the webhook endpoint that were refused: without a valid signature, or with a body that does not fit the event.',
  )
  const handled = counter(
    'sekisho_webhook_deliveries_handled_total',
    'Attempts to handle a stored delivery: handled, retried (it failed and is tried again), or given up.',
    'result',
    ['handled', 'retried', 'given_up'],
  )
  const signIns = counter(
    'sekisho_sign_ins_total',
    'Returns from the sign-in page of GitHub: signed in, or refused. What programs got is counted in sekisho_audit_entries_total as kubectl-token.issued.',
    'result',
    ['signed_in', 'refused'],
  )
  const askedGitHub = createAnswerMetrics(registry, {
    prefix: 'sekisho_broker_github',
    requests:
      'Requests to GitHub by the broker in the name of people: read or write; code 0: no answer. Sign-ins are in sekisho_sign_ins_total.',
    duration: 'Time until GitHub answered a request of the broker in the name of a person.',
  })
  const depth = gauge(
    'sekisho_webhook_inbox_deliveries',
    'Webhook deliveries that are stored and not handled yet. NaN while the database does not answer. Every replica reports the same.',
  )
  const lag = gauge(
    'sekisho_webhook_inbox_oldest_seconds',
    'Age of the oldest delivery that is not handled yet; 0 when there is none. NaN while the database does not answer.',
  )
  const onboardings = gauge(
    'sekisho_onboardings',
    'Onboardings that have not ended, by state: waiting-for-admin waits for a platform admin. NaN while the database does not answer. Every replica reports the same.',
    'state',
  )
  return {
    ignoredDelivery: reason => ignored.inc({ reason }),
    formDelivery: () => forms.inc(),
    receivedDelivery: result => received.inc({ result }),
    refusedDelivery: () => refused.inc(),
    handledDelivery: result => handled.inc({ result }),
    signIn: result => signIns.inc({ result }),
    askedGitHub,
    waiting(waits, now) {
      depth.set(waits?.inbox.depth ?? Number.NaN)
      const { oldest } = waits?.inbox ?? {}
      lag.set(waits === undefined ? Number.NaN : Math.max(0, now.getTime() - (oldest ?? now).getTime()) / 1000)
      for (const state of openStates) onboardings.set({ state }, waits?.onboardings.get(state) ?? Number.NaN)
    },
  }
}
