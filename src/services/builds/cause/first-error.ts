// What a log says about a failure that no rule knows: the first line that names an error. Hints, notes, warnings and footers, of
// which tools write more than of errors, are never a cause. Pure; one pass over lines of bounded length for each tier.

/** What stands beside an error: advice, warnings, how to see more, and what each failure ends with. */
const besides: readonly RegExp[] = [
  /^\W*(?:hint|note|help|tip|info|notice|warn|warning|debug|deprecat\w*|npm (?:warn|notice|verbose|info)|failed with errors in)\b/i,
  /^\W*\w{0,60}Warning:/,
  /: (?:\w{0,60}Warning|warning|note|help|hint): /i,
  /^sekisho\/\w+: |^ERROR: failed to build|^ERROR: No buildpack groups/,
  /^npm (?:error|ERR!) (?:code|errno|syscall|path|dest|file|command|cwd|workspace|location|node|npm|signal|in workspace:) /i,
  /^\W*(?:exit code|arguments|directory|output|command|cwd|full command): /i,
  /Log files were not written|complete log of this run|Lifecycle script .{1,80} failed with error|This is probably not a problem with npm/,
  /^npm (?:error|ERR!)\s*(?:$|\[|--|-\w|Usage:|Options:|Run "npm help|aliases?:|npm \w+$|This is related to npm|There is likely additional)/,
  /likely not a problem with pip|See above for|end of output|\d lines of output|returned non-zero exit status|Please check/i,
  /ELIFECYCLE|Command failed(?: with exit code|:| with signal)|RECURSIVE_RUN_FIRST_FAIL|[Tt]his error happened while|Exit status \d|lifecycle script failed/,
  /\b(?:compiled with|Found) \d+ errors?|\d+ problems? \(|Build failed because of|build worker exited|with \d+ errors?:?$/,
  /^make(?:\[\d+\])?: (?:\*\*\*|Leaving|Entering)|collect2: error: ld returned|ninja: build stopped|^\W*\[?stderr\]?:?$/,
  /could not compile `|aborting due to \d|\[Help \d\]|re-run Maven|Re-run Maven|full stack trace|For more information/,
  /^(?:-{6,}|={6,})$|^\s*>? ?\[.{0,200}\d+\/\d+\] |^\S*Dockerfile\S*:\d+$|^\s*\d+ \| |^ERROR: process "|^error: failed to solve: process/,
  /^\s*(?:at |File "|\^|~|> |\}|Node\.js v|node:internal|throw )/,
  /^➤ YN00(?:00: [┌└·]|(?:02|07|13|19|60|61|68|85|86|87):)/,
  /^\W*[✖✔✗✓] .{1,300} \(\d[\d.]*m?s\)$/,
  /^\W*The above exception|^\W*During handling of the above/,
]

/** They say only that something failed, of which another line says what: taken when there is no other line. */
const wrappers: readonly RegExp[] = [
  /subprocess-exited-with-error|metadata-generation-failed|legacy-install-failure|did not run successfully|Encountered error while/,
  /Failed building wheel|Failed to build|failed to build|Could not build wheels|error: command '[^']{1,200}' failed/,
  /error during build:|Build failed|BUILD FAILURE|COMPILATION ERROR|build backend returned an error|Call to `.{1,200}` failed/,
  /couldn't be built successfully|failing tests:$/,
  /Failed to compile|^\W*(?:error|failed)\W*$|exited with code|exit code:? \d|exit status/i,
]

/** A line that carries the mark of an error. */
const marks: readonly RegExp[] = [
  /\b(?:error|fatal|panic|exception|failure)\b(?:\[\w{1,40}\]| \[\w{1,40}\]| [A-Z]{1,4}\d{1,6})?: /i,
  /^\W*[\w.]{0,200}(?:Error|Exception|Fault)(?: \[\w{1,40}\])?(?::|$)/,
  /^\W*(?:ERR_\w+|E[A-Z]{3,30})\b/,
  /^\W{0,8}(?:ERROR|E:|ERR!|FATAL|PANIC|error)\b\S{0,2} /,
  /^\s*[✘✖×❌] \S/,
  /^\s*\d+:\d+\s+error\s/,
  /^\S{1,300}\.\w{1,8}:\d+(?::\d+)?: \S/,
]

/** What npm says itself, or repeats of a script. */
const npmSays: readonly RegExp[] = [/^npm (?:error|ERR!) \S/]

/** A line that says so in words. */
const failures: readonly RegExp[] = [
  /command not found|\bnot found\b|No such file or directory|Permission denied|Operation not permitted|Read-only file system/i,
  /\b(?:cannot|can't|could not|couldn't|unable to|failed to|failed|no such|not permitted|undefined reference|unknown|invalid)\b/i,
  /needs to be updated|out of date|out of sync|do(?:es)? not (?:match|agree|satisfy)|changed significantly/i,
  /does not exist|is not (?:defined|recognized|set|installed)|is (?:required|missing)|\baborted\b|^Killed$|Segmentation fault/i,
]

const has = (patterns: readonly RegExp[], line: string): boolean => patterns.some(pattern => pattern.test(line))

/** Without what npm writes before the lines of a script that failed. */
const bareOf = (line: string): string => line.replace(/^npm (?:error|ERR!) /, '')
const isBeside = (line: string): boolean => has(besides, line) || has(besides, bareOf(line))

const indentOf = (line: string): number => line.length - line.trimStart().length
const traceback = /^\W*Traceback \(most recent call last\):$/
const chained = /^\W*(?:The above exception was the direct cause|During handling of the above exception)/

/** The line in which a traceback of Python ends; of several, one in the handling of another, the last. Undefined without any. */
function exceptionIn(lines: readonly string[]): number | undefined {
  let found: number | undefined
  let isChained = false
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? ''
    if (chained.test(line)) isChained = true
    if (!traceback.test(line)) continue
    if (found !== undefined && !isChained) return found
    isChained = false
    const indent = indentOf(line)
    const end = lines.findIndex((other, index) => index > at && indentOf(other) <= indent)
    if (end < 0) return found
    found = end
    at = end
  }
  return found
}

/** What a tool writes before its words. */
const prefix = /^(?:\s|[│╰├─▶➤·✖✘×❌●|>]|YN\d{4}:|npm (?:error|ERR!)(?= ))+(?:\S{1,200} STD(?:ERR|OUT) )?/u
/** A line that announces what the next one says. */
const announces = /:$|^\W*[\w.]{1,200}(?:Error|Exception)$|^rake aborted!$/
const longest = 300

function textAt(lines: readonly string[], at: number): string {
  const text = (lines[at] ?? '').replace(prefix, '').trim()
  const next = lines[at + 1]
  if (!announces.test(text) || next === undefined || isBeside(next)) return text.slice(0, longest)
  return `${text} ${next.replace(prefix, '').trim()}`.slice(0, longest)
}

export type FirstError = {
  /** At most 300 characters, without what tools write before their words. */
  readonly text: string
  readonly line: string
  /** Whether the line names an error, by its mark or in words; otherwise it is only the last one that tells anything. */
  readonly isNamed: boolean
}

/** `lines`: of one command, cleaned. Undefined when none of them tells anything. */
export function firstError(lines: readonly string[]): FirstError | undefined {
  const found = (at: number, isNamed: boolean): FirstError => ({
    text: textAt(lines, at),
    line: (lines[at] ?? '').trim(),
    isNamed,
  })
  const telling = lines.map(line => !isBeside(line))
  const first = (patterns: readonly RegExp[]): number =>
    lines.findIndex(
      (line, at) => telling[at] === true && !has(wrappers, line) && (has(patterns, bareOf(line)) || has(patterns, line)),
    )
  const exception = exceptionIn(lines)
  const marked = first(marks)
  if (exception !== undefined && (marked < 0 || marked > lines.findIndex(line => traceback.test(line))))
    return found(exception, true)
  for (const at of [marked, first(npmSays), first(failures)]) if (at >= 0) return found(at, true)
  const wrapper = lines.findIndex((line, at) => telling[at] === true && has(wrappers, line))
  if (wrapper >= 0) return found(wrapper, true)
  const last = telling.lastIndexOf(true)
  return last < 0 ? undefined : found(last, false)
}

/** For the end of a sentence that says which command failed; empty when the command told nothing. */
export function toldIn(lines: readonly string[]): string {
  const first = firstError(lines)
  return first === undefined ? '' : `: ${first.text}`
}
