// The lines about single tests in the end of `make test`: what failed, what passed only when it was repeated, and the command
// that repeats exactly it.
import type { Environment } from '../../src/lib/config.ts'
import { shellWord } from '../cluster/environment.ts'
import type { Failure, FileRecord } from './vitest/outcome-reporter.ts'

const maxCharacters = 240

/** How the lines begin that are repeated at the end of a run, whoever prints them. */
export const outcomePrefixes = ['failed: ', 'flaky: ', 'again: '] as const

/** Variables that change what a test does, so that its repetition needs them. */
const keptVariables = ['SEKISHO_LONG']
/** What nothing is long in. */
const oneForm = ['pure', 'unit']

/** In one line, not longer than is read. */
export function inOneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, maxCharacters)
}

export function nameOf({ file }: FileRecord, { test }: Failure): string {
  return test === undefined ? file : `${file} > ${test}`
}

/**
 * For a POSIX shell in the folder of the repository. Vitest matches the names of suites and test, joined by ` > `, as a regular
 * expression.
 */
export function againLine({ project, file }: FileRecord, { test, seed }: Failure, environment: Environment): string {
  const kept = oneForm.includes(project) ? [] : keptVariables
  const variables = [...kept.map(name => [name, environment[name]]), ['SEKISHO_SEED', seed]].flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [`${name}=${shellWord(value)} `],
  )
  const pattern = test?.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`).replaceAll(/[^\S ]/g, String.raw`\s`)
  // A suite fails in its hooks, and then runs with all its tests.
  const only = pattern === undefined ? '' : ` -t ${shellWord(`^${pattern}( > |$)`)}`
  return `again: ${variables.join('')}npx vitest run --project ${shellWord(project)} ${shellWord(file)}${only}`
}
