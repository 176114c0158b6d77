// Makes a log readable and safe to show: no terminal control, no tokens, no line that stands in every build. Pure.
// Logs are untrusted text: whoever writes the application writes them.
import { redactedTail } from '../../../lib/log.ts'
import type { CleanLog } from './rule.ts'

/** Enough for what npm prints after its cause, and a bound on the work of the patterns. */
const maxLog = 65_536
const maxLine = 1_000

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminal control sequences are what is removed here
const terminalControl = /\u001b\[[0-9;?]*[A-Za-z]|[\u0000-\u0008\u000b-\u001f\u007f]/g

/** What lifecycle, npm and pip say in builds that succeed, too. */
const noise = [
  /^target distro name\/version labels not found/,
  /^Warning: No analyzed metadata found/,
  /^npm error A complete log of this run can be found in/,
  /^npm error\s*$/,
  /^npm warn Unknown /,
  /^npm warn deprecated /,
  /^npm notice/,
  /^\[notice\] /,
  /^Build reason\(s\):/,
  /^Timer: /,
]

/** The number of the step and the time that BuildKit writes before each line of a RUN. */
const buildkitProgress = /^#\d+ (?:\d+\.\d+ )?/

/**
 * The last 64 KiB of `log`, line by line, without trailing blanks and without noise. Control sequences go first, because a token
 * could be written with one in its middle.
 */
export function cleanLog(log: string): CleanLog {
  const lines = redactedTail(log.replaceAll(terminalControl, ''), maxLog)
    .split('\n')
    .map(line => line.trimEnd().replace(buildkitProgress, '').slice(0, maxLine))
    .filter(line => line !== '' && !noise.some(pattern => pattern.test(line)))
  return { text: lines.map(line => `${line}\n`).join(''), lines }
}
