// An open loop: so many requests a second, whatever comes back, for so many seconds, without waiting for answers.
export type Load = { readonly perSecond: number; readonly seconds: number; readonly signal?: AbortSignal }

export type LoadResult = { readonly sent: number; readonly outcomes: ReadonlyMap<string, number> }

const tickMilliseconds = 20
const maxUnanswered = 4000

/**
 * `once` resolves to what is counted, such as a status; a rejection is counted by its code. Never more than `maxUnanswered` at
 * a time.
 */
export async function openLoop(
  { perSecond, seconds, signal }: Load,
  once: (number: number) => Promise<string>,
): Promise<LoadResult> {
  const outcomes = new Map<string, number>()
  const count = (what: string): void => void outcomes.set(what, (outcomes.get(what) ?? 0) + 1)
  const running = new Set<Promise<void>>()
  const started = performance.now()
  let sent = 0
  while (performance.now() - started < seconds * 1000 && !signal?.aborted) {
    const due = Math.floor(((performance.now() - started) / 1000) * perSecond)
    for (; sent < due && running.size < maxUnanswered; sent++) {
      const one: Promise<void> = once(sent)
        .then(count, (error: unknown) => count(codeOf(error)))
        .finally(() => running.delete(one))
      running.add(one)
    }
    await new Promise(resolve => setTimeout(resolve, tickMilliseconds))
  }
  await Promise.all(running)
  return { sent, outcomes }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error).slice(0, 40)
}

export function outcomesText({ sent, outcomes }: LoadResult): string {
  return `${sent} sent: ${[...outcomes].map(([what, number]) => `${number} × ${what}`).join(', ')}`
}
