// Runs the demo's steps in order and prints each with its time; the first failure ends the run.

export type Step = { readonly title: string; readonly run: () => Promise<string | undefined> }

/** The platform did not do what the demo promises. */
export class DemoFailure extends Error {
  override readonly name = 'DemoFailure'
}

/** Throws DemoFailure with the message when the condition is false. */
export function expectThat(condition: boolean, message: string): asserts condition {
  if (!condition) throw new DemoFailure(message)
}

/** Polls at once and then ten times a second until the result is defined; a DemoFailure of `ask` and the timeout end the wait. */
export async function eventually<T>(what: string, seconds: number, ask: () => Promise<T | undefined>): Promise<T> {
  const deadline = performance.now() + seconds * 1000
  let last = ''
  while (performance.now() < deadline) {
    try {
      const answer = await ask()
      if (answer !== undefined) return answer
    } catch (error) {
      if (error instanceof DemoFailure) throw error
      last = error instanceof Error ? `; the last error was: ${error.message}` : ''
    }
    await new Promise(resolve => setTimeout(resolve, 100))
  }
  throw new DemoFailure(`timed out after ${seconds} s: ${what}${last}`)
}

/** Resolves to the number of steps; prints the step that fails and throws its error. */
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
