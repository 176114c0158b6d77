// What `make test` repeats in its last lines, because continuous integration may show only those: each test that failed, and each that passed only
// when it was repeated, with the error in one line. Vitest's own report stays beside it.
// https://vitest.dev/api/advanced/reporters
import type { Reporter, TestCase, TestModule } from 'vitest/node'

type ReportedError = { readonly message: string }

const mostCharacters = 240

/** How a line of {@link OutcomeReporter} begins. */
export const outcomePrefixes = ['failed: ', 'flaky: '] as const

/** Prints one line for each test, file and unhandled error that is not simply green. Vitest makes it from its default export. */
export default class OutcomeReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly ReportedError[]): void {
    const lines = [...modules.flatMap(linesOfModule), ...unhandled.map(error => line('failed', 'outside of a test', [error]))]
    if (lines.length > 0) process.stdout.write(`\n${lines.join('\n')}\n`)
  }
}

function linesOfModule(module: TestModule): readonly string[] {
  const file = module.relativeModuleId
  const suites = [...module.children.allSuites()].filter(suite => suite.errors().length > 0)
  return [
    ...(module.errors().length > 0 ? [line('failed', file, module.errors())] : []),
    ...suites.map(suite => line('failed', `${file} > ${suite.fullName}`, suite.errors())),
    ...[...module.children.allTests()].flatMap(test => lineOfTest(file, test)),
  ]
}

function lineOfTest(file: string, test: TestCase): readonly string[] {
  const { state, errors } = test.result()
  if (state === 'failed') return [line('failed', `${file} > ${test.fullName}`, errors)]
  return test.diagnostic()?.flaky === true ? [line('flaky', `${file} > ${test.fullName}`, errors ?? [])] : []
}

function line(outcome: 'failed' | 'flaky', what: string, errors: readonly ReportedError[]): string {
  const text = `${outcome}: ${what}: ${errors[0]?.message ?? 'no error was reported'}`
  return text.replaceAll(/\s+/g, ' ').slice(0, mostCharacters)
}
