// From the end of a step's log to the one sentence that a person needs. Pure. The log is untrusted text: a cause is only ever
// shown, and nothing is decided by it.
import { cleanLog } from './clean-log.ts'
import { firstError } from './first-error.ts'
import type { Rule } from './rule.ts'
import { generalRules, statedRules } from './rules/builder.ts'
import { dockerfileRules, failedRunRules } from './rules/dockerfile.ts'
import { javascriptRules } from './rules/javascript.ts'
import { limitRules } from './rules/limits.ts'
import { packageManagerRules } from './rules/package-managers.ts'
import { pnpmAndYarnRules } from './rules/pnpm-and-yarn.ts'
import { pythonRules } from './rules/python.ts'
import { uvAndPoetryRules } from './rules/uv-and-poetry.ts'

export type Cause = {
  /** What is wrong and what to do about it, at most 500 characters, in one line. */
  readonly sentence: string
  /** The line of the log from which it follows. */
  readonly line: string
}

const maxSentence = 500

/**
 * The first rule that matches decides: what a program states itself, then what it ran out of, then what tools say, then how it
 * ended. Where none does, the first line that names an error.
 */
const rules: readonly Rule[] = [
  ...statedRules,
  ...dockerfileRules,
  ...limitRules,
  ...packageManagerRules,
  ...pnpmAndYarnRules,
  ...uvAndPoetryRules,
  ...pythonRules,
  ...javascriptRules,
  ...failedRunRules,
  ...generalRules,
]

/** Undefined when no line of the log names an error. */
export function causeOf(log: string): Cause | undefined {
  const clean = cleanLog(log)
  for (const { pattern, say } of rules) {
    const match = pattern.exec(clean.text)
    if (match === null) continue
    const begin = clean.text.lastIndexOf('\n', match.index) + 1
    const line = clean.text.slice(begin, clean.text.indexOf('\n', match.index))
    const sentence = say(match, clean).replaceAll(/\s+/g, ' ').trim().slice(0, maxSentence)
    return { sentence, line: line.trim() }
  }
  const first = firstError(clean.lines)
  return first?.isNamed === true ? { sentence: first.text, line: first.line } : undefined
}
