// Runs the demo's steps in order and prints each with its time; the first failure ends the run.
import { Hopeless } from '../../src/lib/waiting/wait-until.ts'

export type Step = { readonly title: string; readonly run: () => Promise<string | undefined> }

/** The platform did not do what the demo promises; waiting longer would not help. */
export class DemoFailure extends Hopeless {
  override readonly name = 'DemoFailure'
}

/** Throws DemoFailure with the message when the condition is false. */
export function expectThat(condition: boolean, message: string): asserts condition {
  if (!condition) throw new DemoFailure(message)
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
