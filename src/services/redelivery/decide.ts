// Which webhook deliveries did not reach the platform and are redelivered. Pure, over GitHub's own list of attempts: a delivery
// that was answered 2xx is durable in the inbox, every other one was missed. It never reads the inbox, which belongs to the
// broker.
// Source:
// https://docs.github.com/en/webhooks/using-webhooks/automatically-redelivering-failed-deliveries-for-a-github-app-webhook
import type { Delivery } from '../../github/index.ts'
import { exponential } from '../../lib/backoff.ts'
import { compareText } from '../../lib/text/compare-text.ts'

const dayMilliseconds = 24 * 3_600_000

/**
 * How old a delivery may be that the host redelivers: three days on github.com and GHE.com, seven on a GitHub Enterprise
 * Server.
 */
export function redeliverableMilliseconds(host: string): number {
  const isShared = host === 'github.com' || host.endsWith('.ghe.com')
  return (isShared ? 3 : 7) * dayMilliseconds
}

/** How far attempts of one delivery are apart. */
const waits = { baseMilliseconds: 60_000, capMilliseconds: 6 * 3_600_000 }

/** A webhook of which no attempt was answered 2xx. */
export type Missed = {
  /** Id of its latest attempt: the one to redeliver. */
  readonly id: string
  readonly guid: string
  readonly firstAttempt: Date
  /** False while it waits because earlier redeliveries failed too. */
  readonly due: boolean
}

/** The missed deliveries that the host can still redeliver, oldest first. `attempts` are all that it lists, in any order. */
export function missedDeliveries(attempts: readonly Delivery[], host: string, now: Date): readonly Missed[] {
  const byGuid = Map.groupBy(attempts, attempt => attempt.guid)
  return [...byGuid.values()]
    .filter(sameGuid => !sameGuid.some(({ statusCode }) => statusCode >= 200 && statusCode < 300))
    .map(sameGuid => missed(sameGuid, now))
    .filter(({ firstAttempt }) => now.getTime() - firstAttempt.getTime() < redeliverableMilliseconds(host))
    .sort((a, b) => a.firstAttempt.getTime() - b.firstAttempt.getTime() || compareText(a.guid, b.guid))
}

function missed(attempts: readonly Delivery[], now: Date): Missed {
  const inOrder = attempts.toSorted(
    (a, b) => a.deliveredAt.getTime() - b.deliveredAt.getTime() || Number(a.redelivery) - Number(b.redelivery),
  )
  const [first, last] = [inOrder[0], inOrder.at(-1)]
  if (first === undefined || last === undefined) throw new RangeError('a delivery without attempts')
  const redeliveries = attempts.length - 1
  // The first redelivery is due at once: the poll's interval is wait enough.
  const wait = redeliveries === 0 ? 0 : exponential(waits, redeliveries - 1)
  const due = now.getTime() - last.deliveredAt.getTime() >= wait
  return { id: last.id, guid: first.guid, firstAttempt: first.deliveredAt, due }
}
