// Files that a mount changes, such as Secrets and ConfigMaps: read again at an interval, and what they contain is compared. A
// mount is a chain of symbolic links that is swapped as a whole, for which file events are not delivered.
import { messageOf } from '../lib/errors.ts'

export type Polling = {
  /** Reads, and takes over what changed. False: nothing did. What it throws is reported, once while it stays the same. */
  readonly takeOver: () => boolean
  readonly failed: (message: string) => void
  readonly intervalMilliseconds: number
}

/** Resolves nothing and keeps no process alive; `stop` ends it. */
export function pollFiles({ takeOver, failed, intervalMilliseconds }: Polling): { readonly stop: () => void } {
  let reported: string | undefined
  const poll = (): void => {
    try {
      if (takeOver()) reported = undefined
    } catch (error) {
      if (messageOf(error) === reported) return
      reported = messageOf(error)
      failed(reported)
    }
  }
  const timer = setInterval(poll, intervalMilliseconds).unref()
  return { stop: () => clearInterval(timer) }
}
