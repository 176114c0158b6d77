// Combines the signals and the time limit that may end one request. Unlike AbortSignal.any and AbortSignal.timeout, the
// combination can be released when the request is over; those stay registered at long-lived signals until garbage collection,
// and their timers still fire.

export type LinkedSignal = {
  /** Aborts with the reason of the first signal that aborts, or with a `TimeoutError`. */
  readonly signal: AbortSignal
  /** After this call the signal never aborts, and nothing stays registered. */
  readonly unlink: () => void
}

/** `milliseconds` count from now and do not keep the process alive; without them there is no time limit. */
export function linkSignals(signals: readonly (AbortSignal | undefined)[], milliseconds?: number): LinkedSignal {
  const linked = new AbortController()
  const unlinks: (() => void)[] = []
  for (const signal of signals) {
    if (signal === undefined) continue
    if (signal.aborted) linked.abort(signal.reason)
    const abort = (): void => linked.abort(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    unlinks.push(() => signal.removeEventListener('abort', abort))
  }
  if (milliseconds !== undefined) {
    const expire = (): void => linked.abort(new DOMException(`no end within ${milliseconds} ms`, 'TimeoutError'))
    const timer = setTimeout(expire, milliseconds).unref()
    unlinks.push(() => clearTimeout(timer))
  }
  const unlink = (): void => {
    for (const end of unlinks) end()
  }
  return { signal: linked.signal, unlink }
}
