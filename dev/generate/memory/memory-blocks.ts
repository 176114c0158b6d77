// Reads memory blocks: the comments in which a file of the product says what it keeps in memory. docs/reference/memory.md is
// made of them.
import { notState, statesOf } from './find-state.ts'

export const fieldNames = ['life', 'bound', 'freshness', 'replicas'] as const
export type FieldName = (typeof fieldNames)[number]

/** `holds`: key → value. */
export type MemoryBlock = { readonly name: string; readonly holds: string } & Readonly<Record<FieldName, string>>

export type MemoryState = { readonly path: string; readonly block: MemoryBlock }

/** A file of the product, by its path in the repository. */
export type SourceFile = { readonly path: string; readonly text: string }

/** What to write, as it stands in the code. Long texts go on in lines that begin with `//     `. */
export const blockForm = `// Memory (<name>): <key> → <value>
//   life: <until when an entry is kept>
//   bound: <how many there can be, and which one goes first>
//   freshness: <what ends or corrects an entry before>
//   replicas: <what two replicas do>`

const maxLine = 130
const start = /^\s*\/\/ Memory \((?<name>[^)]*)\):(?<text>.*)$/
/** Also what is meant as a block and is none. */
const startLike = /^\s*\/\/ Memory ?[(:]/
const field = /^\s*\/\/ {3}(?<name>\S[^:]*):(?<text>.*)$/
const continuation = /^\s*\/\/ {5}(?<text>\S.*)$/

/** `texts`: what it holds, then the text of each field. */
type Draft = {
  readonly line: number
  readonly name: string
  readonly texts: string[]
  readonly fields: string[]
  readonly lines: string[]
}

/** The blocks of a file in order, and what is wrong with them, each with its line. */
export function blocksOf({ path, text }: SourceFile): {
  readonly blocks: readonly MemoryBlock[]
  readonly problems: readonly string[]
} {
  const drafts = draftsOf(text)
  const read = drafts.map(draft => ({ draft, problem: problemOf(draft) }))
  return {
    blocks: read.flatMap(({ draft, problem }) => (problem === undefined ? [blockOf(draft)] : [])),
    problems: read.flatMap(({ draft, problem }) => (problem === undefined ? [] : [`${path}:${draft.line}: ${problem}`])),
  }
}

/**
 * All blocks with their files, and everything that is wrong, each with file, line and cure: blocks without the form, equal
 * names, and files that keep something and have no block. `exceptions`: files whose collections are no state; one that is not
 * needed is wrong, too.
 */
export function memoryOf(
  files: readonly SourceFile[],
  exceptions: Readonly<Record<string, string>> = notState,
): { readonly states: readonly MemoryState[]; readonly problems: readonly string[] } {
  const read = files.map(file => ({ file, ...blocksOf(file) }))
  const states = read.flatMap(({ file, blocks }) => blocks.map(block => ({ path: file.path, block })))
  const without = read.filter(({ blocks, problems }) => blocks.length + problems.length === 0)
  const keeping = without.flatMap(({ file: { path, text } }) => statesOf(path, text).map(state => ({ path, ...state })))
  const undescribed = keeping
    .filter(({ path }) => !(path in exceptions))
    .map(
      ({ path, line, owner }) => `${path}:${line}: ${owner} keeps something in memory: write a memory block above what makes it`,
    )
  const unused = Object.keys(exceptions)
    .filter(path => !keeping.some(one => one.path === path))
    .map(path => `dev/generate/memory/find-state.ts: ${path} keeps nothing without a memory block: take it out of notState`)
  return { states, problems: [...read.flatMap(({ problems }) => problems), ...equalNames(states), ...undescribed, ...unused] }
}

/** How many lines of a file are memory blocks. */
export function memoryLines(text: string): number {
  return draftsOf(text).reduce((sum, { lines }) => sum + lines.length, 0)
}

function equalNames(states: readonly MemoryState[]): readonly string[] {
  return [...Map.groupBy(states, ({ block }) => block.name)]
    .filter(([, same]) => same.length > 1)
    .map(([name, same]) => `${same.map(({ path }) => path).join(' and ')}: two memory blocks are named “${name}”`)
}

function draftsOf(text: string): readonly Draft[] {
  const drafts: Draft[] = []
  let open: Draft | undefined
  for (const [index, line] of text.split('\n').entries()) {
    if (startLike.test(line)) {
      const { name = '', text: holds = '' } = start.exec(line)?.groups ?? {}
      open = { line: index + 1, name: name.trim(), texts: [holds.trim()], fields: [], lines: [line] }
      drafts.push(open)
    } else if (open !== undefined && !goesOn(open, line)) open = undefined
  }
  return drafts
}

/** Adds the line to the block, unless the block ends before it. */
function goesOn(draft: Draft, line: string): boolean {
  const part = field.exec(line)?.groups
  const more = continuation.exec(line)?.groups?.['text']
  if (part === undefined && more === undefined) return false
  draft.lines.push(line)
  if (part !== undefined) {
    draft.fields.push(part['name'] ?? '')
    draft.texts.push((part['text'] ?? '').trim())
  } else draft.texts.push(`${draft.texts.pop()} ${more}`.trim())
  return true
}

function problemOf({ name, texts, fields, lines }: Draft): string | undefined {
  if (name === '') return 'this memory block has no name'
  if (fields.join() !== fieldNames.join())
    return `this memory block has ${fields.join(', ') || 'no fields'}; it needs ${fieldNames.join(', ')} in this order`
  const empty = texts.indexOf('')
  if (empty === 0) return 'this memory block does not say what it holds'
  if (empty > 0) return `${fields[empty - 1]} of this memory block is empty`
  const isLong = lines.some(line => line.length > maxLine)
  return isLong ? `a line of this memory block has more than ${maxLine} characters` : undefined
}

function blockOf({ name, texts }: Draft): MemoryBlock {
  const [holds = '', life = '', bound = '', freshness = '', replicas = ''] = texts
  return { name, holds, life, bound, freshness, replicas }
}
