// Runs the demo's steps one after another, prints each with its time, and ends at the first broken promise.

export type Step = { readonly title: string; readonly run: () => Promise<string | undefined> }

export class BrokenPromise extends Error {
  override readonly name = 'BrokenPromise'
}

/** Throws BrokenPromise with the message when the condition does not hold. */
export function expectThat(condition: boolean, message: string): asserts condition {
  if (!condition) throw new BrokenPromise(message)
}

/** Asks until the answer is not undefined, or fails with what was waited for. Asks at once, then ten times a second. */
export async function eventually<T>(what: string, seconds: number, ask: () => Promise<T | undefined>): Promise<T> {
  const deadline = performance.now() + seconds * 1000
  let last = ''
  while (performance.now() < deadline) {
    try {
      const answer = await ask()
      if (answer !== undefined) return answer
    } catch (error) {
      if (error instanceof BrokenPromise) throw error
      last = error instanceof Error ? `; the last answer was: ${error.message}` : ''
    }
    await new Promise(resolve => setTimeout(resolve, 100))
  }
  throw new BrokenPromise(`${what}: not within ${seconds} s${last}`)
}

/** Returns the number of steps that passed; throws what the failing step threw, after printing it. */
export async function runSteps(steps: readonly Step[]): Promise<number> {
  for (const [index, step] of steps.entries()) {
    const started = performance.now()
    const seconds = (): string => `${((performance.now() - started) / 1000).toFixed(1).padStart(5)} s`
    try {
      const remark = await step.run()
      console.log(
        `${String(index + 1).padStart(2)}. ${seconds()}  ${step.title}${remark === undefined ? '' : `\n             ${remark.replaceAll('\n', '\n             ')}`}`,
      )
    } catch (error) {
      console.error(`${String(index + 1).padStart(2)}. ${seconds()}  FAILED: ${step.title}`)
      throw error
    }
  }
  return steps.length
}
