// Times of GitHub as a sign that nothing has changed since it was asked, which saves the question. Pure.

/**
 * So much later than the change must the question have been that its answer showed it: GitHub's times have whole seconds, and
 * its servers learn of a change one after the other.
 */
export const settlingMilliseconds = 60_000

/** A question: when it was asked, and the time of the last change that GitHub named before it. */
export type TimedQuestion = { readonly at: Date; readonly time: string | undefined }

/**
 * Whether its answer still holds: GitHub names the same time `now`, and the question came long enough after it. In doubt it
 * does not.
 */
export function isSettled({ at, time }: TimedQuestion, now: string | undefined): boolean {
  return time !== undefined && time === now && at.getTime() - Date.parse(time) > settlingMilliseconds
}

/** A time of GitHub in one spelling, so that texts of several answers can be compared; undefined for what is none. */
export function changeTime(text: string | undefined): string | undefined {
  return text === undefined || Number.isNaN(Date.parse(text)) ? undefined : new Date(text).toISOString()
}
