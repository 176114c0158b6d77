// How much an installation may write to GitHub now. GitHub allows 80 requests that create content in a minute and 500 in an
// hour, for everything that acts as the installation. The platform takes less: some is left for tokens that tenants request,
// and a write that was counted may be sent a little later, with those of the next minute. Any window of that length counts.
// Pure.
// Source: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits

/** In any sixty seconds, and in any hour. */
export const writeLimits = { perMinute: 50, perHour: 400 } as const

/** Of the hour, what each kind of write may use: the comments and statuses of the next minutes have what the others leave. */
const hourOf = {
  /** What people wait for. */
  urgent: writeLimits.perHour,
  rest: 300,
  /** About commits of forks that nobody has approved: strangers decide how many there are. */
  unapproved: 60,
} as const
export type Share = keyof typeof hourOf

/**
 * A process that takes over does not know all that was written in the last minute: together with what the former one may have
 * written, so many fewer stay within GitHub's minute.
 */
export const unknownWrites = 20

const minute = 60_000
const hour = 3_600_000

export type Allowance = {
  /** So many writes may be sent now. */
  readonly writes: number
  /** So many of them may be others than urgent ones. */
  readonly rest: number
  /** So many of those may be about commits that nobody has approved. */
  readonly unapproved: number
  /** More than half of the hour is left: states that soon give way to others may be written, too. */
  readonly isRelaxed: boolean
}

/** Of the times of writes, those that still count. */
export function counted(times: readonly number[], now: number): readonly number[] {
  // A clock that was set back must not stop writes for the time it lost.
  return times.filter(time => time > now - hour && time <= now)
}

/**
 * `times`: when writes were sent, in milliseconds; `unapproved`: of those about commits that nobody has approved, which are in
 * `times`, too.
 */
export function allowance(times: readonly number[], now: number, unapproved: readonly number[] = []): Allowance {
  const inHour = counted(times, now)
  const inMinute = inHour.filter(time => time > now - minute)
  const writes = Math.max(0, Math.min(writeLimits.perMinute - inMinute.length, writeLimits.perHour - inHour.length))
  const rest = Math.max(0, Math.min(writes, hourOf.rest - inHour.length))
  const ofUnapproved = Math.max(0, Math.min(rest, hourOf.unapproved - counted(unapproved, now).length))
  return { writes, rest, unapproved: ofUnapproved, isRelaxed: inHour.length < writeLimits.perHour / 2 }
}

/**
 * Milliseconds until `wanted` writes (at most the limit of a minute) are allowed together, if nobody writes before; 0 for now.
 */
export function waitFor(times: readonly number[], wanted: number, now: number, share: Share = 'urgent'): number {
  const inHour = [...counted(times, now)].sort((a, b) => a - b)
  const inMinute = inHour.filter(time => time > now - minute)
  const needed = Math.min(wanted, writeLimits.perMinute)
  const until = (sorted: readonly number[], limit: number, window: number): number => {
    const tooMany = sorted.length + needed - limit
    const last = tooMany > 0 ? sorted[Math.min(tooMany, sorted.length) - 1] : undefined
    return last === undefined ? 0 : last + window - now
  }
  return Math.max(0, until(inMinute, writeLimits.perMinute, minute), until(inHour, hourOf[share], hour))
}
