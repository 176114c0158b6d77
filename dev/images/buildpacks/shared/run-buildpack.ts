// Runs the build phase of a buildpack. Only this file sets the exit code.
import { BuildFailure, failureLine } from './build-failure.ts'
import { type BuildContext, readContext } from './config.ts'

/** A defect of the buildpack ends the process with its stack; a failure of the app ends it with the sentence for its owner. */
export function runBuildpack(name: string, build: (context: BuildContext) => void): void {
  try {
    build(readContext(name))
  } catch (error) {
    if (!(error instanceof BuildFailure)) throw error
    console.log(failureLine(name, error))
    process.exitCode = 1
  }
}
