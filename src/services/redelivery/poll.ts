// Finds webhooks that GitHub could not deliver (the broker was down, answered late or refused) and requests their redelivery:
// GitHub never does so by itself. It runs where the App's key is and only on the leader; the broker receives redeliveries like
// any others and deduplicates them.
// Source: https://docs.github.com/en/rest/apps/webhooks#list-deliveries-for-an-app-webhook
import type { ClusterGitHubApp } from '../../api/github/cluster-github-app.ts'
import type { AppClient, Delivery } from '../../github/index.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { Clock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/errors.ts'
import { defined } from '../../lib/json/defined.ts'
import type { Log } from '../../lib/log.ts'
import { type Periodic, periodic } from '../../lib/periodic.ts'
import type { GitHubApps } from '../token-desk/app-clients.ts'
import { missedDeliveries, redeliverableMilliseconds } from './decide.ts'

export type RedeliveryDeps = {
  readonly apps: Pick<Cache<ClusterGitHubApp>, 'list'>
  readonly githubApps: GitHubApps
  /** False on a replica that does not lead. */
  readonly isLeader: () => boolean
  readonly clock: Clock
  readonly log: Log
}

/** Of 100 deliveries each. Older deliveries are listed once the younger ones have arrived. */
const maxPages = 50
/** GitHub wants a second between writes, so a poll takes up to this many seconds for each App. */
const maxInOnePoll = 100
/** A poll overlaps the previous one by this much, because GitHub lists an attempt only when its ten seconds are over. */
const overlapMilliseconds = 10 * 60_000

/** The poll as a loop; rounds are left out while `isLeader` is false. */
export function createRedelivery(deps: RedeliveryDeps & { readonly everyMilliseconds: number }): Periodic {
  const { clock, log, isLeader, everyMilliseconds } = deps
  return periodic({ name: 'webhook redelivery', everyMilliseconds, work: redeliveryPoll(deps), clock, log, enabled: isLeader })
}

// Memory (redelivery): App → time before which every delivery has arrived
//   life: until the process ends
//   bound: one of each App
//   freshness: a new leader starts over
//   replicas: leader only; a webhook that is redelivered twice is stored once
/**
 * One poll of every App; resolves to the number of requested redeliveries. An App that fails is logged and does not delay the
 * others.
 */
export function redeliveryPoll(deps: RedeliveryDeps): () => Promise<number> {
  const { clock, log, isLeader } = deps
  /**
   * By App: all older deliveries have arrived or can no longer be redelivered. In memory only: a new leader lists all of them.
   */
  const settledBefore = new Map<string, number>()

  const pollApp = async (name: string): Promise<number> => {
    const { client, endpoints } = await deps.githubApps.get(name)
    const now = clock.now()
    const oldest = now.getTime() - redeliverableMilliseconds(endpoints.host)
    const { attempts, complete } = await attemptsSince(client, Math.max(oldest, settledBefore.get(name) ?? oldest))
    const missed = missedDeliveries(attempts, endpoints.host, now)
    const due = missed.filter(delivery => delivery.due).slice(0, maxInOnePoll)
    for (const { id } of due) {
      if (!isLeader()) return 0
      await client.redeliver(id)
    }
    const oldestMissed = missed[0]?.firstAttempt.getTime() ?? now.getTime()
    if (complete) settledBefore.set(name, Math.min(now.getTime() - overlapMilliseconds, oldestMissed))
    if (missed.length > 0)
      log.info({ app: name, missed: missed.length, requested: due.length }, 'requested redelivery of missed webhooks')
    return due.length
  }

  return async () => {
    let requested = 0
    for (const { metadata } of deps.apps.list()) {
      if (!isLeader()) break
      try {
        requested += await pollApp(metadata.name)
      } catch (error) {
        log.error({ app: metadata.name, error: messageOf(error) }, 'failed to redeliver webhooks')
      }
    }
    return requested
  }
}

/** All attempts since `from` (milliseconds), the youngest first; not `complete` when the pages did not reach back so far. */
async function attemptsSince(
  client: Pick<AppClient, 'deliveries'>,
  from: number,
): Promise<{ readonly attempts: readonly Delivery[]; readonly complete: boolean }> {
  const attempts: Delivery[] = []
  let cursor: string | undefined
  for (let page = 0; page < maxPages; page++) {
    const { deliveries, nextCursor } = await client.deliveries(defined({ cursor }))
    attempts.push(...deliveries)
    const last = deliveries.at(-1)
    if (nextCursor === undefined || last === undefined || last.deliveredAt.getTime() < from) return { attempts, complete: true }
    cursor = nextCursor
  }
  return { attempts, complete: false }
}
