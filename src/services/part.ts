// What of a service runs. Nothing runs before `start`; `stop` may be called before it, and twice.
export type Part = {
  /** Resolves when it does what others rely on, such as listening. */
  readonly start: () => Promise<void> | void
  readonly stop: () => Promise<void>
}

/** Starts one after the other, and stops all at once. */
export function partOf(...parts: readonly (Part | undefined)[]): Part {
  const known = parts.filter(part => part !== undefined)
  return {
    async start() {
      for (const part of known) await part.start()
    },
    async stop() {
      await Promise.all(known.map(part => part.stop()))
    },
  }
}
