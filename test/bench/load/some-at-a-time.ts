// Work for many things, a few of them at once.

/** Runs `work` for each of them, in their order, at most `atOnce` at the same time. Rejects with the first error of `work`. */
export async function someAtATime<T>(all: Iterable<T>, atOnce: number, work: (one: T) => Promise<unknown>): Promise<void> {
  const waiting = [...all].values()
  const worker = async (): Promise<void> => {
    for (const one of waiting) await work(one)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}
