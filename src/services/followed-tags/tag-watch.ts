// What followed tags mean, asked in the background: a registry cannot be watched, and a slow one must not hold a worker of the
// controller. An answer that says something new wakes those who follow the tag. Equal tags of all tenants are one entry with
// one request; tenants take turns; a registry that asks for fewer requests gets none until its pause is over. In memory only:
// what a tag meant last is in the status of each Application.
import { exponential } from '../../lib/backoff.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import { type Clock, elapsed } from '../../lib/clock.ts'
import { createFairLimit } from '../../lib/limits/fair-limit.ts'
import { spreadOf } from '../../lib/limits/spread.ts'
import { type FollowedTag, fewerRequests, type TagAnswer, type TagReader } from './read-tag.ts'

export type TagState = {
  /** The last one that the registry answered; undefined before the first. */
  readonly digest: string | undefined
  /** What was wrong with the last request; continues “the registry …”. */
  readonly problem: string | undefined
  /** When to look at it again. */
  readonly requeueAfterMilliseconds: number
}

/** Safe for concurrent use. */
export type TagWatch = {
  /** What is known; asks the registry when that is due. `tenant`: in whose turn. */
  readonly stateOf: (tag: FollowedTag, tenant: string) => TagState
  /** Calls `listener` with the name of a tag (`tagName`) of which an answer says something new. It must not throw. */
  readonly onChange: (listener: (name: string) => void) => void
}

/** What tells tags apart: `registry/repository:tag` in canonical form. */
export function tagName(host: string, { repository, tag }: Pick<FollowedTag, 'repository' | 'tag'>): string {
  return `${host}/${repository}:${tag}`
}

export type TagWatchDeps = {
  readonly read: TagReader['read']
  readonly clock: Clock
  /** Between two requests about a tag, ±10 %. */
  readonly everyMilliseconds: number
}

type Entry = { digest?: string; problem?: string | undefined; failures: number; dueAt: number; asking: boolean }

/** Tenants take turns for these. Those of one tenant that wait are all that it may follow. */
const limits = { concurrency: 4, waitingPerKey: 50, waiting: 10_000 } as const
/** Beyond this number what was asked longest ago is forgotten. */
const maxEntries = 20_000
const maxPause = 3_600_000
const shortestPause = 60_000
/** When too many wait for their turn, and at least before the next look. */
const refusedLook = 10_000
const usualSoonest = 1000

function clamped(milliseconds: number): number {
  return Math.min(Math.max(milliseconds, shortestPause), maxPause)
}

// Memory (followed tags): tag → digest, and when it is asked for next; registry → end of the pause that it wants (ADR 0053)
//   life: the process; the digest in status.followedTag for good
//   bound: 20,000 tags, the one asked about longest ago forgotten first; registries of the list; 4 requests at once, 50 wait of
//     a tenant and 10,000 in all
//   freshness: the next answer: after 5 minutes ±10 %, up to an hour after failures
//   replicas: leader only; the next asks again
/** Does nothing until it is asked. */
export function createTagWatch({ read, clock, everyMilliseconds }: TagWatchDeps): TagWatch {
  const entries = new BoundedMap<Entry>(maxEntries)
  const fair = createFairLimit(limits)
  /** Host → the end of its pause. Only hosts of the administrators' list. */
  const pauses = new Map<string, number>()
  const listeners: ((name: string) => void)[] = []
  const soonest = Math.min(usualSoonest, everyMilliseconds)

  async function answerOf(tag: FollowedTag): Promise<TagAnswer> {
    const left = (pauses.get(tag.registry.host) ?? 0) - elapsed(clock)
    if (left > 0) return { kind: 'unreadable', message: fewerRequests, pauseSeconds: left / 1000 }
    const answer = await read(tag)
    const pause = answer.kind === 'unreadable' ? answer.pauseSeconds : undefined
    if (pause !== undefined) pauses.set(tag.registry.host, elapsed(clock) + clamped(pause * 1000))
    return answer
  }

  /** When to ask again: as usual, later after each failure, and not before the registry wants it. */
  function pauseAfter(answer: TagAnswer, { failures }: Entry, key: string): number {
    const spread = spreadOf(key)
    if (answer.kind === 'digest') return everyMilliseconds * spread
    if (answer.pauseSeconds !== undefined)
      return Math.max(clamped(answer.pauseSeconds * 1000), everyMilliseconds) * (spread + 0.1)
    const pauses = { baseMilliseconds: everyMilliseconds, capMilliseconds: Math.max(maxPause, everyMilliseconds) }
    return exponential(pauses, failures - 1) * spread
  }

  async function ask(key: string, entry: Entry, tag: FollowedTag): Promise<void> {
    const answer = await answerOf(tag)
    const { digest, problem } = entry
    if (answer.kind === 'digest') Object.assign(entry, { digest: answer.digest, problem: undefined, failures: 0 })
    else Object.assign(entry, { problem: answer.message, failures: entry.failures + (answer.pauseSeconds === undefined ? 1 : 0) })
    entry.dueAt = elapsed(clock) + pauseAfter(answer, entry, key)
    entry.asking = false
    if (entry.digest === digest && entry.problem === problem) return
    for (const listener of listeners) listener(key)
  }

  /** While the registry is asked, its answer is what wakes: this is when to ask again if it confirms what is known. */
  function look({ dueAt, asking }: Entry, key: string): number {
    if (asking) return everyMilliseconds * spreadOf(key) + soonest
    const left = dueAt - elapsed(clock)
    return left > 0 ? Math.max(left, soonest) : refusedLook
  }

  return {
    stateOf(tag, tenant) {
      const key = tagName(tag.registry.host, tag)
      const entry: Entry = entries.get(key) ?? { failures: 0, dueAt: 0, asking: false }
      entries.set(key, entry)
      if (!entry.asking && entry.dueAt <= elapsed(clock))
        entry.asking = fair.run(tenant, () => ask(key, entry, tag)) !== undefined
      return { digest: entry.digest, problem: entry.problem, requeueAfterMilliseconds: look(entry, key) }
    },
    onChange: listener => void listeners.push(listener),
  }
}
