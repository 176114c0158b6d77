// Which webhook deliveries did not reach the platform and are asked for again. Pure, over GitHub's own list of attempts: what was answered
// 2xx is durable in the inbox, everything else was missed. It never looks into the inbox: that is the broker's.
// Source: https://docs.github.com/en/webhooks/using-webhooks/automatically-redelivering-failed-deliveries-for-a-github-app-webhook
import type { Delivery } from '../github/index.ts'

/** GitHub delivers again what is at most three days old. */
export const redeliverableMilliseconds = 3 * 24 * 3_600_000
/** Attempts of one delivery are this far apart at first, twice as far each time, and never farther than the last. */
const firstWaitMilliseconds = 60_000
const longestWaitMilliseconds = 6 * 3_600_000

export type Missed = {
  /** Of its latest attempt: the one to ask for again. */
  readonly id: string
  readonly guid: string
  readonly firstAttempt: Date
  /** Waiting for its next turn, because earlier attempts failed too. */
  readonly due: boolean
}

/** Oldest first. `attempts` are all that GitHub lists, in any order. */
export function missedDeliveries(attempts: readonly Delivery[], now: Date): readonly Missed[] {
  const byGuid = Map.groupBy(attempts, attempt => attempt.guid)
  return [...byGuid.values()]
    .filter(same => !same.some(({ statusCode }) => statusCode >= 200 && statusCode < 300))
    .map(same => missed(same, now))
    .filter(one => now.getTime() - one.firstAttempt.getTime() < redeliverableMilliseconds)
    .sort((a, b) => a.firstAttempt.getTime() - b.firstAttempt.getTime() || (a.guid < b.guid ? -1 : 1))
}

function missed(same: readonly Delivery[], now: Date): Missed {
  const inOrder = same.toSorted(
    (a, b) => a.deliveredAt.getTime() - b.deliveredAt.getTime() || Number(a.redelivery) - Number(b.redelivery),
  )
  const [first, last] = [inOrder[0], inOrder.at(-1)]
  if (first === undefined || last === undefined) throw new RangeError('a delivery without attempts')
  const again = same.length - 1
  // The first repetition is due at once: a poll later is late enough.
  const wait = again === 0 ? 0 : Math.min(longestWaitMilliseconds, firstWaitMilliseconds * 2 ** Math.min(again - 1, 20))
  const due = now.getTime() - last.deliveredAt.getTime() >= wait
  return { id: last.id, guid: first.guid, firstAttempt: first.deliveredAt, due }
}
