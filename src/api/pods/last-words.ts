// The line of a process's log that says why it ended, from the end of the log that the kubelet keeps with the exit
// (https://kubernetes.io/docs/tasks/debug/debug-application/determine-reason-pod-failure/). Pure.
import { redactTokens } from '../../lib/log.ts'

const maxCharacters = 200
/** `Error: …`, `TypeError: …`, `ModuleNotFoundError: …`, `panic: …`, `fatal: …`. */
const namesError = /^\s*(Uncaught )?([A-Za-z_.]*(Error|Exception)|panic|fatal|error)\b[^\n]*/i
/** The frames of a stack, the marks below a line of source, and the line that Node.js adds. */
const isFrame = /^\s*(at |File "|\^|~|Node\.js v|goroutine |exit status)/
/** Advice, and what npm, pnpm and yarn write after the program that they started. */
const isBeside =
  /^\W*(hint|note|help|npm (warn|notice))\b|^npm (error|ERR!)\s*($|code|errno|path|command|signal|A complete log|Log files)|ELIFECYCLE|^error Command failed|^info Visit/i

/**
 * The last line that names an error, otherwise the last line; undefined for an empty log. What looks like a token is replaced.
 */
export function lastWords(log: string | undefined): string | undefined {
  const lines = (log ?? '').split('\n').filter(line => line.trim() !== '' && !isFrame.test(line) && !isBeside.test(line))
  const line = lines.findLast(one => namesError.test(one)) ?? lines.at(-1)
  return line === undefined ? undefined : redactTokens(line.replaceAll(/\s+/g, ' ').trim()).slice(0, maxCharacters)
}
