// The log of the bench: lines as builds print them, numbered, some with colours and some with a secret, with the times of a
// node that writes ten thousand lines a second. Pure: what is kept of it can be computed for any part.

/** Given to the build, and never kept. */
export const secret = 'hunter2-hunter2-hunter2'

const linesPerSecond = 10_000
const beginning = Date.parse('2026-01-01T00:00:00Z')
const sentences = [
  'npm http fetch GET 200 https://registry.npmjs.org/some-package-of-a-build 34ms (cache miss)',
  'added 812 packages, and audited 813 packages in the time that it takes to read this sentence',
  'src/components/orders/table.tsx:114:9 warning: a variable is assigned a value that nobody ever reads',
  'asset static/js/orders-of-the-shop.4f2a9c31.chunk.js 244 KiB [emitted] [immutable] [minimized]',
]

const sentenceOf = (index: number): string => sentences[index % sentences.length] ?? ''
const hasSecret = (index: number): boolean => index % 997 === 0
const hasColour = (index: number): boolean => index % 4 === 1

/** As the program prints it. */
export function printedLine(index: number): string {
  const text = `${index} ${hasSecret(index) ? `--token=${secret} ` : ''}${sentenceOf(index)}`
  return hasColour(index) ? `\u001b[32m${text}\u001b[39m` : text
}

/** As it must be kept. */
export function keptLine(index: number): string {
  return `${index} ${hasSecret(index) ? '--token=[redacted] ' : ''}${sentenceOf(index)}`
}

/** The second of a line, in milliseconds since 1970. */
export function secondOf(index: number): number {
  return beginning + Math.floor(index / linesPerSecond) * 1000
}

/** As the kubelet sends it, with its newline. */
export function sentLine(index: number): string {
  const second = new Date(secondOf(index)).toISOString().slice(0, 19)
  const nanoseconds = ((index % linesPerSecond) * (1_000_000_000 / linesPerSecond)).toString().padStart(9, '0')
  return `${second}.${nanoseconds}Z ${printedLine(index)}\n`
}

/** How many lines a log of so many bytes has, as it is sent. */
export function linesIn(bytes: number): number {
  let sum = 0
  let lines = 0
  for (; sum < bytes; lines++) sum += sentLine(lines).length
  return lines
}
