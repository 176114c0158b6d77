// Finds what GitHub could not deliver (the broker was away, answered late or refused) and asks for it again: GitHub itself never does.
// It runs where the App's key is and only while this process leads; the broker gets the deliveries by the ordinary way and dedupes them.
// Source: https://docs.github.com/en/rest/apps/webhooks#list-deliveries-for-an-app-webhook
import type { ClusterGitHubApp } from '../api/github/cluster-github-app.ts'
import type { AppClient, Delivery } from '../github/index.ts'
import type { Cache } from '../kube/cache/object-cache.ts'
import type { Clock } from '../lib/clock.ts'
import { messageOf } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
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

export type RedeliveryPoll = {
  /** One look at every App; resolves to how many deliveries were asked for again. A failing App is logged and does not keep others back. */
  readonly once: () => Promise<number>
  readonly until: (signal: AbortSignal, everyMilliseconds: number) => Promise<void>
}

/** Of 100 deliveries each. What lies beyond is seen once the younger ones are through. */
const mostPages = 50
/** GitHub wants a second between writes: a look may take this many seconds. */
const mostInOneLook = 100
/** A look goes this far behind the one before it: an attempt is listed only when its ten seconds are over. */
const overlapMilliseconds = 10 * 60_000

export function createRedeliveryPoll(deps: RedeliveryDeps): RedeliveryPoll {
  const { clock, log, isLeader } = deps
  /** By App: everything older than this moment has arrived or is not to be had any more. In memory: a new leader looks at all of it. */
  const settledUntil = new Map<string, number>()

  const lookAt = async (name: string): Promise<number> => {
    const { client } = await deps.githubApps.get(name)
    const now = clock.now()
    const oldest = now.getTime() - redeliverableMilliseconds
    const from = Math.max(oldest, settledUntil.get(name) ?? oldest)
    const { attempts, complete } = await attemptsSince(client, from)
    const missed = missedDeliveries(attempts, now)
    const due = missed.filter(one => one.due).slice(0, mostInOneLook)
    for (const { id } of due) {
      if (!isLeader()) return 0
      await client.redeliver(id)
    }
    if (complete)
      settledUntil.set(name, Math.min(now.getTime() - overlapMilliseconds, missed[0]?.firstAttempt.getTime() ?? now.getTime()))
    if (missed.length > 0)
      log.info({ app: name, missed: missed.length, asked: due.length }, 'missed webhooks were asked for again')
    return due.length
  }

  const once = async (): Promise<number> => {
    let asked = 0
    for (const { metadata } of deps.apps.list()) {
      if (!isLeader()) break
      try {
        asked += await lookAt(metadata.name)
      } catch (error) {
        log.error({ app: metadata.name, problem: messageOf(error) }, 'deliveries of webhooks could not be looked at')
      }
    }
    return asked
  }

  return {
    once,
    async until(signal, everyMilliseconds) {
      while (!signal.aborted) {
        if (isLeader()) await once()
        // Rejects only when stopped, which the loop's condition sees.
        await clock.sleep(everyMilliseconds, signal).catch(() => {})
      }
    },
  }
}

async function attemptsSince(
  client: Pick<AppClient, 'deliveries'>,
  from: number,
): Promise<{ readonly attempts: readonly Delivery[]; readonly complete: boolean }> {
  const attempts: Delivery[] = []
  let cursor: string | undefined
  for (let page = 0; page < mostPages; page++) {
    const { deliveries, nextCursor } = await client.deliveries(cursor === undefined ? {} : { cursor })
    attempts.push(...deliveries)
    const last = deliveries.at(-1)
    if (nextCursor === undefined || last === undefined || last.deliveredAt.getTime() < from) return { attempts, complete: true }
    cursor = nextCursor
  }
  return { attempts, complete: false }
}
