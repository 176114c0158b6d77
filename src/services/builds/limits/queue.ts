// What a queued build is, and what its owner reads about its place in the queue. Which ones may start is `nextTurns` in
// src/services/builds/limits/fair-share.ts.

import type { RunningBuild } from '../builder.ts'
import { byTurn, sharerText, type WaitingSharer } from './fair-share.ts'

/** `since`: when the commit was resolved (RFC 3339). `tenantLimit`: as its Tenant said when the build was queued last. */
export type QueuedBuild = RunningBuild & WaitingSharer

/** Exact up to here: each end of a build would otherwise change the status of every build that waits. */
const maxExact = 10
const more = `more than ${maxExact}`

export type QueuePlace = {
  /** Of the builds of its tenant that wait, from 1; undefined when many are before it. */
  readonly position: number | undefined
  /** How many builds of its tenant wait; undefined when they are many. */
  readonly waiting: number | undefined
}

/** The place of a build among those of its tenant, in the order in which they begin. */
export function placeOf(build: QueuedBuild, queued: readonly QueuedBuild[]): QueuePlace {
  const own = queued.filter(({ tenant }) => tenant === build.tenant).sort(byTurn)
  const position = own.findIndex(other => sharerText(other) === sharerText(build)) + 1
  const exact = (count: number): number | undefined => (count > maxExact ? undefined : count)
  return { position: exact(position), waiting: exact(own.length) }
}

/** For a status: `3 of 5`. */
export function placeText({ position, waiting }: QueuePlace): string {
  return position === undefined ? `after ${maxExact}` : `${position} of ${waiting ?? more}`
}

const endings: Readonly<Record<string, string>> = { one: 'st', two: 'nd', few: 'rd', other: 'th' }
const rules = new Intl.PluralRules('en', { type: 'ordinal' })

function ordinal(count: number): string {
  return `${count}${endings[rules.select(count)]}`
}

/** Says why a build is queued, and where, beside the reason Queued. About other tenants it reveals only that they build. */
export function queuedMessage(
  build: QueuedBuild,
  {
    running,
    queued,
    platformLimit,
  }: {
    readonly running: readonly RunningBuild[]
    readonly queued: readonly QueuedBuild[]
    readonly platformLimit: number
  },
): string {
  const own = running.filter(({ tenant }) => tenant === build.tenant).length
  const { position, waiting } = placeOf(build, queued)
  const place =
    position === undefined
      ? `${more} builds of this tenant are before it`
      : `${ordinal(position)} of ${waiting ?? more} builds of this tenant that wait`
  return own >= build.tenantLimit
    ? `${place}; ${own} of at most ${build.tenantLimit} of its builds are running: this one starts when those before it have ended`
    : `${place}; all ${platformLimit} build slots of the platform are in use: this one starts when its turn comes`
}
