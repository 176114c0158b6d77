// The values that `sekisho secrets set` is given: from arguments, files, standard input, or the keyboard without an echo. None
// of them is printed or put into an error.
import { readFile } from 'node:fs/promises'
import { AppError } from '../../../lib/errors.ts'
import { SecretString } from '../../../lib/secret-string.ts'
import { reservedVariable } from '../env/env-change.ts'

/** Where the values can come from besides the arguments. */
export type ValueSources = {
  readonly readFile: (path: string) => Promise<Buffer>
  /** All of standard input, up to `maxBytes`. */
  readonly readInput: () => Promise<Buffer>
  /** Asks for one line without showing it; undefined when nobody sits at a terminal. */
  readonly ask: ((question: string) => Promise<string>) | undefined
}

/** Of one value; the platform refuses longer ones. */
export const maxBytes = 32 * 1024

type Word =
  | { readonly key: string; readonly from: 'argument'; readonly value: string }
  | { readonly key: string; readonly from: 'file'; readonly path: string }
  | { readonly key: string; readonly from: 'input' | 'keyboard' }

/** Throws `invalid_request`, which repeats the name only. */
function parsed(word: string, { ask }: ValueSources): Word {
  const end = word.indexOf('=')
  const key = end < 0 ? word : word.slice(0, end)
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(key))
    throw new AppError(
      'invalid_request',
      'write a name of letters, digits and _ (dots and dashes are not allowed, as in the names of environment variables), then = and the value, such as DATABASE_URL=…; a word was given that does not begin so',
    )
  const reserved = reservedVariable(key)
  if (reserved !== undefined) throw new AppError('invalid_request', reserved)
  if (end < 0) return { key, from: ask === undefined ? 'input' : 'keyboard' }
  const value = word.slice(end + 1)
  if (value === '-') return { key, from: 'input' }
  return value.startsWith('@') ? { key, from: 'file', path: value.slice(1) } : { key, from: 'argument', value }
}

/** Name → value, in the order of the words. Throws `invalid_request` for what cannot be a value. */
export async function readValues(
  words: readonly string[],
  sources: ValueSources,
): Promise<{ readonly values: ReadonlyMap<string, SecretString>; readonly inArguments: boolean }> {
  const all = words.map(word => parsed(word, sources))
  const twice = all.find(({ key }, index) => all.findIndex(other => other.key === key) !== index)
  if (twice !== undefined) throw new AppError('invalid_request', `${twice.key} is given twice`)
  if (all.filter(({ from }) => from === 'input').length > 1)
    throw new AppError('invalid_request', 'standard input is one value: give only one name without a value or with -')
  const values = new Map<string, SecretString>()
  for (const word of all) values.set(word.key, await readWord(word, sources))
  return { values, inArguments: all.some(({ from }) => from === 'argument') }
}

async function readWord(word: Word, { readFile, readInput, ask }: ValueSources): Promise<SecretString> {
  switch (word.from) {
    case 'argument':
      return new SecretString(word.value)
    case 'file':
      return fileText(word.key, word.path, readFile)
    case 'input':
      return textOf(word.key, await readInput(), true)
    case 'keyboard':
      return new SecretString((await ask?.(`${word.key}: `)) ?? '')
  }
}

async function fileText(key: string, path: string, read: ValueSources['readFile']): Promise<SecretString> {
  try {
    return textOf(key, await read(path), false)
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    throw new AppError(
      'invalid_request',
      `${key}: the file after @ cannot be read; a value that begins with @ is given by standard input, with ${key}=-`,
      { cause },
    )
  }
}

/** A pipe from `echo` ends in a newline that is not meant; a file is taken as it is. */
function textOf(key: string, bytes: Buffer, fromPipe: boolean): SecretString {
  if (bytes.length > maxBytes + 2) throw new AppError('invalid_request', `${key} is larger than ${maxBytes / 1024} KiB`)
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return new SecretString(fromPipe ? text.replace(/\r?\n$/, '') : text)
  } catch (cause) {
    throw new AppError('invalid_request', `${key} is not UTF-8 text: encode it, such as in base64`, { cause })
  }
}

/** Of this process. */
export const processSources: ValueSources = {
  readFile: path => readFile(path),
  async readInput() {
    const chunks: Buffer[] = []
    let length = 0
    for await (const chunk of process.stdin) {
      chunks.push(chunk as Buffer)
      length += (chunk as Buffer).length
      if (length > maxBytes + 2) break
    }
    return Buffer.concat(chunks)
  },
  ask: process.stdin.isTTY ? askHidden : undefined,
}

/** The question on standard error; what is typed is not shown. Ctrl-C ends the process as a signal would. */
async function askHidden(question: string): Promise<string> {
  const { createInterface } = await import('node:readline/promises')
  const { Writable } = await import('node:stream')
  process.stderr.write(question)
  const silent = new Writable({ write: (_chunk, _encoding, next) => next() })
  const lines = createInterface({ input: process.stdin, output: silent, terminal: true })
  lines.once('SIGINT', () => process.kill(process.pid, 'SIGINT'))
  try {
    return await lines.question('')
  } finally {
    lines.close()
    process.stderr.write('\n')
  }
}
