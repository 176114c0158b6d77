// What is known of an Application's image, and when a registry is to be asked again. Pure.
import { soonest } from '../../kit/soonest.ts'
import type { ContentsState } from './contents.ts'
import type { Followed } from './followed-tag.ts'

export type ImageFacts = {
  /** What its tag means, when it follows one: the Application then has the digest, if that is known. */
  readonly followed?: Followed
  /** What its image says about the processes in it. */
  readonly contents: ContentsState
}

/** A registry that did not answer is asked again after this time. */
const unreadableRetryMilliseconds = 10_000

/**
 * Milliseconds until the first answer about the image or the tag, without which nothing can be said; undefined when it is
 * there.
 */
export function untilFirstAnswer({ contents, followed }: ImageFacts): number | undefined {
  if (contents.kind === 'pending') return contents.requeueAfterMilliseconds
  return followed?.digest === undefined && followed?.problem === undefined ? followed?.requeueAfterMilliseconds : undefined
}

/** Milliseconds until a registry may say something else; undefined when it need not be asked. */
export function untilNextAnswer({ contents, followed }: ImageFacts): number | undefined {
  const isTriedAgain = contents.kind === 'unreadable' && !contents.permanent
  return soonest(followed?.requeueAfterMilliseconds, isTriedAgain ? unreadableRetryMilliseconds : undefined)
}
