// One signal for all that may end a piece of work. Unlike AbortSignal.any and AbortSignal.timeout it can be told that the work is over:
// those keep their place at a process-long signal until they are collected, and time limits that nobody waits for any more still fire.

export type LinkedSignal = {
  /** Aborts with the reason of the first of the signals that does, or with a `TimeoutError`. */
  readonly signal: AbortSignal
  /** From now on it never aborts. */
  readonly unlink: () => void
}

/** `milliseconds` begin now, and do not keep the process alive; without them there is no time limit. */
export function linkSignals(signals: readonly (AbortSignal | undefined)[], milliseconds?: number): LinkedSignal {
  const linked = new AbortController()
  const unlinks: (() => void)[] = []
  for (const signal of signals) {
    if (signal === undefined) continue
    if (signal.aborted) linked.abort(signal.reason)
    const pass = (): void => linked.abort(signal.reason)
    signal.addEventListener('abort', pass, { once: true })
    unlinks.push(() => signal.removeEventListener('abort', pass))
  }
  if (milliseconds !== undefined) {
    const late = (): void => linked.abort(new DOMException(`no end within ${milliseconds} ms`, 'TimeoutError'))
    const timer = setTimeout(late, milliseconds).unref()
    unlinks.push(() => clearTimeout(timer))
  }
  const unlink = (): void => {
    for (const end of unlinks) end()
  }
  return { signal: linked.signal, unlink }
}
