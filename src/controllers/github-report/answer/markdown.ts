// Text of others in GitHub-flavoured Markdown. GitHub makes links, mentions, images and HTML of almost any text, and a
// backslash does not stop mentions, references and bare addresses. It leaves alone what stands in code: so all text that the
// platform did not write itself goes into a code span or a fenced block whose delimiter the text does not contain. Pure.
// Source: https://github.github.com/gfm/#code-spans , #fenced-code-blocks;
// https://docs.github.com/en/get-started/writing-on-github

/** Control characters, and those that change the direction of text or are not seen. Line feeds are treated by the callers. */
const unseen = /(?!\n)[\p{Cc}\p{Cf}]/gu
/** A line can also end so. */
const lineEnd = /\r\n?|[\u0085\u2028\u2029]/g

function readable(text: string): string {
  return text.toWellFormed().replace(lineEnd, '\n').replace(unseen, ' ')
}

/** At most `most` characters, and never half of a surrogate pair. */
function bounded(text: string, most: number): string {
  const characters = [...text]
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`
}

function delimiter(text: string, least: number): string {
  const longest = Math.max(0, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length))
  return '`'.repeat(Math.max(least, longest + 1))
}

/**
 * The text on one line as code. Spaces around it are not part of the code, and keep backticks at its ends apart from the
 * delimiter.
 */
export function codeSpan(text: string, most = 100): string {
  const line = bounded(readable(text).replace(/\s+/g, ' ').trim(), most)
  if (line === '') return '` (empty) `'
  const ticks = delimiter(line, 1)
  return `${ticks} ${line} ${ticks}`
}

/** The text as a block of code, at most so many lines and characters. */
export function codeBlock(text: string, most: { readonly lines: number; readonly characters: number }): string {
  const lines = readable(text).split('\n')
  const shown = bounded(lines.slice(0, most.lines).join('\n'), most.characters).trim()
  const fence = delimiter(shown, 3)
  return `${fence}text\n${shown}\n${fence}`
}

const address = /^https?:\/\/[a-z0-9]([-a-z0-9.]*[a-z0-9])?(:[0-9]{1,5})?(\/[A-Za-z0-9._~/-]*)?$/

/** Whether it has the form of an address that the platform makes. */
export function isAddress(url: string): boolean {
  return address.test(url)
}

/** A link that shows its address; an address of any other form than the platform makes is text of others. */
export function link(url: string): string {
  return isAddress(url) ? `<${url}>` : codeSpan(url, 512)
}
