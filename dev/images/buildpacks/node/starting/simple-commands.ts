// The commands of a line of shell, as far as they are certain to run: for finding a program that is not there. Pure.
// Source: https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html

/** A word; not `certain` where the shell puts something in, such as a variable. */
export type Word = { readonly text: string; readonly certain: boolean }

/** Words that make what follows depend on something, or give it another meaning. */
const conditions = [
  ...['if', 'then', 'else', 'elif', 'for', 'while', 'until', 'case', 'select', 'function', 'time', '!', '{', '['],
  ...[
    '[[',
    'test',
    'command',
    'type',
    'which',
    'hash',
    'eval',
    'alias',
    'trap',
    'source',
    '.',
    'exit',
    'return',
    'true',
    'false',
  ],
]
const assignment = /^[A-Za-z_]\w*=/

/**
 * The commands that run one after the other, without variables in front of them and without `exec`. Undefined of a line in
 * which one of them may be left out, or which only a shell understands.
 */
export function simpleCommands(line: string): readonly (readonly Word[])[] | undefined {
  const commands = split(line)?.map(withoutPrefix)
  if (commands === undefined) return undefined
  const found = commands.filter(words => words.length > 0)
  return found.some(([first]) => first !== undefined && conditions.includes(first.text)) ? undefined : found
}

function withoutPrefix(words: readonly Word[]): readonly Word[] {
  const first = words.findIndex(({ text }) => !assignment.test(text) && text !== 'exec')
  return first < 0 ? [] : words.slice(first)
}

/** One piece of a line: an operator, blanks, a comment, or a part of a word. */
const piece =
  /(?<operator>&&|[|&](?![|&>])|\n)|(?<blank>[ \t]+)|'(?<single>[^']*)'|"(?<double>(?:[^"\\]|\\.)*)"|(?<plain>[^\s'"|&;<>(){}`\\#]+|(?<=[^\s])#)/y

type Piece = { readonly ends: 'word' | 'command' } | Word

function split(line: string): Word[][] | undefined {
  const commands: Word[][] = [[]]
  let word: Word | undefined
  const text = `${line.trim()}\n`
  piece.lastIndex = 0
  while (piece.lastIndex < text.length) {
    const next = nextPiece(text)
    if (next === undefined) return undefined
    if ('ends' in next) {
      if (word !== undefined) commands.at(-1)?.push(word)
      word = undefined
      if (next.ends === 'command') commands.push([])
    } else word = { text: (word?.text ?? '') + next.text, certain: word?.certain !== false && next.certain }
  }
  return commands
}

function nextPiece(text: string): Piece | undefined {
  const groups = piece.exec(text)?.groups
  if (groups === undefined) return undefined
  const { operator, blank, single, double, plain } = groups
  if (operator !== undefined) return { ends: 'command' }
  if (blank !== undefined) return { ends: 'word' }
  if (single !== undefined) return { text: single, certain: true }
  if (double !== undefined) return { text: double, certain: !/[$`\\]/.test(double) }
  return { text: plain ?? '', certain: !/[$*?~[]/.test(plain ?? '') }
}
