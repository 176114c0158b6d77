// What followed tags mean, asked in the background: a registry cannot be watched, and a slow one must not hold a worker of the controller. Equal tags of
// all tenants are one entry with one request; tenants take turns; a registry that asks for fewer requests gets none until its pause is over. In
// memory only: what a tag meant last is in the status of each Application.
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
  readonly againMilliseconds: number
}

/** Safe for concurrent use. */
export type TagWatch = {
  /** What is known; asks the registry when that is due. `tenant`: in whose turn. */
  readonly stateOf: (tag: FollowedTag, tenant: string) => TagState
}

export type TagWatchDeps = {
  readonly read: TagReader['read']
  readonly clock: Clock
  /** Between two requests about a tag, ±10 %. */
  readonly everyMilliseconds: number
}

type Entry = { digest?: string; problem?: string | undefined; failures: number; dueAt: number; askedAt: number | undefined }

/** Tenants take turns for these. Those of one tenant that wait are all that it may follow. */
const limits = { concurrency: 4, waitingPerKey: 50, waiting: 10_000 } as const
/** Beyond this number what was asked longest ago is forgotten. */
const mostEntries = 20_000
const longestPause = 3_600_000
const shortestPause = 60_000
/** A registry that answers has answered by then. */
const firstLook = 250
const laterLook = 1000
/** When it takes longer: nobody waits for an answer that usually confirms what is known. */
const unhurriedLook = 10_000

function clamped(milliseconds: number): number {
  return Math.min(Math.max(milliseconds, shortestPause), longestPause)
}

/** Does nothing until it is asked. */
export function createTagWatch({ read, clock, everyMilliseconds }: TagWatchDeps): TagWatch {
  const entries = new BoundedMap<Entry>(mostEntries)
  const fair = createFairLimit(limits)
  /** Host → the end of its pause. Only hosts of the administrators' list. */
  const pauses = new Map<string, number>()

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
    return Math.min(everyMilliseconds * 2 ** Math.min(failures - 1, 10), Math.max(longestPause, everyMilliseconds)) * spread
  }

  async function ask(key: string, entry: Entry, tag: FollowedTag): Promise<void> {
    const answer = await answerOf(tag)
    if (answer.kind === 'digest') Object.assign(entry, { digest: answer.digest, problem: undefined, failures: 0 })
    else Object.assign(entry, { problem: answer.message, failures: entry.failures + (answer.pauseSeconds === undefined ? 1 : 0) })
    entry.dueAt = elapsed(clock) + pauseAfter(answer, entry, key)
    entry.askedAt = undefined
  }

  function look({ digest, problem, dueAt, askedAt }: Entry): number {
    const now = elapsed(clock)
    if (askedAt === undefined) return Math.max(dueAt - now, laterLook)
    const isNew = now - askedAt < laterLook
    if (digest === undefined && problem === undefined) return isNew ? firstLook : laterLook
    return isNew ? laterLook : unhurriedLook
  }

  return {
    stateOf(tag, tenant) {
      const key = `${tag.registry.host}/${tag.repository}:${tag.tag}`
      const entry: Entry = entries.get(key) ?? { failures: 0, dueAt: 0, askedAt: undefined }
      entries.set(key, entry)
      if (entry.askedAt === undefined && entry.dueAt <= elapsed(clock)) {
        const asking = fair.run(tenant, () => ask(key, entry, tag))
        if (asking !== undefined) entry.askedAt = elapsed(clock)
      }
      return { digest: entry.digest, problem: entry.problem, againMilliseconds: look(entry) }
    },
  }
}
