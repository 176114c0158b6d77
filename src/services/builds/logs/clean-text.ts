// What may be kept of what a build printed: no secrets, and nothing that a terminal or a page could take for a command. Control
// sequences go first, because a secret could be written with one in its middle. Pure.
// Source: ECMA-48 §5.4 (control sequences), §8.3.89 (operating system commands)
import { redactTokens } from '../../../lib/log.ts'

const escapeCharacter = String.fromCharCode(0x1b)
const bell = String.fromCharCode(0x07)
/** Those with parameters, those with a text that a terminal takes as a command, and all others. */
const controlSequence = new RegExp(
  `${escapeCharacter}(?:\\[[0-?]*[ -/]*[@-~]|\\][^${bell}${escapeCharacter}\n]*(?:${bell}|${escapeCharacter}\\\\)?|[PX^_][^${escapeCharacter}\n]*(?:${escapeCharacter}\\\\)?|[ -/]*[0-~])`,
  'g',
)
/** Besides tab and newline; those of the 8-bit set and those that change the direction of text, too. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is removed here
const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g
const mark = '[redacted]'
/** A shorter text is in many words by chance. */
const shortestMasked = 4
const maxMasked = 1000

/** Replaces what must not be kept in texts of whole lines. */
export type CleanText = (text: string) => string

/** Each value is found as it is, by each of its lines, in base64 and in an address. */
export function createCleanText(values: readonly string[]): CleanText {
  const spellings = values.flatMap(value => [
    value,
    ...value.split(/\r?\n/).map(line => line.trim()),
    Buffer.from(value).toString('base64').replace(/=+$/, ''),
    encodeURIComponent(value.toWellFormed()),
  ])
  // The longest first: a value may be the beginning of another one.
  const masked = [...new Set(spellings.filter(text => text.length >= shortestMasked))]
    .sort((a, b) => b.length - a.length)
    .slice(0, maxMasked)
  const pattern = masked.length === 0 ? undefined : new RegExp(masked.map(RegExp.escape).join('|'), 'g')
  return text => {
    // A line that is written over itself, as a progress bar is, becomes several.
    const plain = text.replace(controlSequence, '').replace(/\r+\n/g, '\n').replace(/\r/g, '\n').replace(control, '')
    return redactTokens(pattern === undefined ? plain : plain.replace(pattern, mark))
  }
}
