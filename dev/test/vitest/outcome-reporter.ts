// What the runner knows of a run of Vitest: how long each file took, and what failed in it with its error. Vitest's own report
// stays beside it. https://vitest.dev/api/advanced/reporters
import { writeFileSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'
import { processEnvironment } from '../../../src/lib/config.ts'

/** The variable with the path of the file that gets the {@link RunRecord} as JSON. */
export const recordVariable = 'SEKISHO_TEST_RECORD'

/** `test` is the full name of a test or suite; undefined: the file as a whole. `seed` is that of a property (replay-seed.ts). */
export type Failure = { readonly test: string | undefined; readonly error: string; readonly seed: string | undefined }
export type FileRecord = {
  readonly project: string
  /** Its path in the repository. */
  readonly file: string
  readonly seconds: number
  readonly failures: readonly Failure[]
  /** Full names of tests that did not run. */
  readonly skipped: readonly string[]
}
/** `stray`: errors outside of a file. */
export type RunRecord = { readonly files: readonly FileRecord[]; readonly stray: readonly string[] }

/** Of Vitest, which adds the path to errors that nothing handled. Of a process that crashed the cause says it, in its message. */
type ReportedError = {
  readonly message: string
  readonly VITEST_TEST_PATH?: unknown
  readonly cause?: unknown
}

/** Vitest makes it from its default export. Without the variable it does nothing. */
export default class OutcomeReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly ReportedError[]): void {
    const path = processEnvironment()[recordVariable]
    if (path !== undefined) writeFileSync(path, JSON.stringify(recordOf(modules, unhandled)))
  }
}

function recordOf(modules: readonly TestModule[], unhandled: readonly ReportedError[]): RunRecord {
  const isOf = (error: ReportedError, { moduleId }: TestModule): boolean =>
    error.VITEST_TEST_PATH === moduleId || crashOf(error)?.files.includes(moduleId) === true
  return {
    files: modules.map(module => {
      const { environmentSetupDuration, prepareDuration, setupDuration, collectDuration, duration } = module.diagnostic()
      const milliseconds = environmentSetupDuration + prepareDuration + setupDuration + collectDuration + duration
      const ofFile = unhandled.filter(error => isOf(error, module))
      return {
        project: module.project.name,
        file: module.relativeModuleId,
        seconds: Math.round(milliseconds / 100) / 10,
        failures: [...failuresOf(module), ...ofFile.map(error => failure(undefined, [error]))],
        skipped: [...module.children.allTests('skipped')].map(({ fullName }) => fullName),
      }
    }),
    stray: unhandled.filter(error => !modules.some(module => isOf(error, module))).map(({ message }) => message),
  }
}

/** How a process ended while it ran files, such as by a signal, and these files. */
function crashOf({ cause }: ReportedError): { readonly message: string; readonly files: readonly string[] } | undefined {
  const message = typeof cause === 'object' && cause !== null && 'message' in cause ? String(cause.message) : ''
  const [, files] = / while running test files? (.+)$/.exec(message) ?? []
  return files === undefined ? undefined : { message, files: files.split(', ') }
}

function failuresOf(module: TestModule): readonly Failure[] {
  const suites = [...module.children.allSuites()].filter(suite => suite.errors().length > 0)
  const tests = [...module.children.allTests('failed')]
  return [
    ...(module.errors().length > 0 ? [failure(undefined, module.errors())] : []),
    ...suites.map(suite => failure(suite.fullName, suite.errors())),
    ...tests.map(test => failure(test.fullName, test.result().errors ?? [])),
  ]
}

/**
 * fast-check names the seed and the path to the smallest counterexample in its message.
 * https://fast-check.dev/docs/tutorials/quick-start/read-test-reports
 */
function failure(test: string | undefined, errors: readonly ReportedError[]): Failure {
  const [first] = errors
  const error = (first && crashOf(first)?.message) ?? first?.message ?? 'no error was reported'
  const [, seed, path] = /\{ seed: (-?\d+), path: "([\d:]*)"/.exec(error) ?? []
  return { test, error, seed: seed === undefined ? undefined : `${seed}:${path}` }
}
