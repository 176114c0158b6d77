// Checks what a pack unpacks to before anybody checks it out: the commit itself, the number and size of the objects, and the
// files and folders as a checkout would write them. A small pack can hold a huge tree: the same folder named a million times,
// or folders ten thousand deep.
import type { AppError } from '../../../../lib/errors.ts'
import { runGit } from './git-command.ts'
import { createIncompleteFiles } from './incomplete-files.ts'
import { malformed, packRefusal, tooLarge, tooManyOrDeep } from './refusals.ts'

export type ContentLimits = {
  /** Of all objects, and of all files of a checkout. */
  readonly unpackedBytes: number
}

const timeoutMilliseconds = 30_000
/** Linux has 90,000 files, Chromium 450,000. */
export const maxObjects = 1_000_000
const maxFiles = 1_000_000
/** Folders in folders. Linux and Chromium have fewer than 20. */
const deepest = 256
/** PATH_MAX of Linux, with room for the folder of the checkout. */
const maxPath = 3_840
/** What stands before a path in a line. */
const besidePath = 192
/** A list of files is longer only when its paths are. */
const maxList = 268_435_456

function longPath(): AppError {
  return tooManyOrDeep(`a path in the commit is longer than ${maxPath} bytes`)
}

/** Splits what git writes at `end`. The rest of an unfinished line stays until more comes, and is bounded. */
function createLineReader(end: number, onLine: (line: string) => void): (piece: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  let total = 0
  return piece => {
    total += piece.length
    if (total > maxList) throw tooManyOrDeep('the list of the files of the commit is too long')
    let bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece])
    for (let at = bytes.indexOf(end); at >= 0; at = bytes.indexOf(end)) {
      onLine(bytes.toString('utf8', 0, at))
      bytes = bytes.subarray(at + 1)
    }
    if (bytes.length > maxPath + besidePath) throw longPath()
    rest = Buffer.from(bytes)
  }
}

type Check = {
  readonly folder: string
  readonly commit: string
  readonly limits: ContentLimits
  readonly signal: AbortSignal
  /** The folder that is built, where submodules and files in Git LFS are refused; undefined when they are not needed. */
  readonly completeBelow: string | undefined
}

async function readLines(check: Check, words: readonly string[], end: number, onLine: (line: string) => void): Promise<void> {
  const { folder, signal, limits } = check
  const onOutput = createLineReader(end, onLine)
  const result = await runGit({ folder, arguments: words, timeoutMilliseconds, signal, onOutput })
  if (result.code !== 0) throw packRefusal(result, limits.unpackedBytes)
}

/** Also objects that the commit does not name count: they are on the disk. */
async function checkObjects(check: Check): Promise<void> {
  let objects = 0
  let bytes = 0
  let found: string | undefined
  const words = ['cat-file', '--batch-all-objects', '--unordered', '--buffer']
  await readLines(check, [...words, '--batch-check=%(objectname) %(objecttype) %(objectsize)'], 0x0a, line => {
    const [name, type, size] = line.split(' ')
    objects += 1
    bytes += Number(size)
    if (name === check.commit) found = type
    if (objects > maxObjects) throw tooManyOrDeep(`the commit has more than ${maxObjects} objects`)
    if (!(bytes <= check.limits.unpackedBytes)) throw tooLarge(check.limits.unpackedBytes)
  })
  if (found === undefined) throw malformed(`the pack does not contain the commit ${check.commit}`)
  if (found !== 'commit') throw malformed(`${check.commit} is a ${found}, not a commit`)
}

/** The files one by one, as a checkout would write them: a folder that is named twice counts twice. */
async function checkFiles(check: Check): Promise<void> {
  let files = 0
  let bytes = 0
  const { completeBelow: subPath } = check
  const incomplete = subPath === undefined ? undefined : createIncompleteFiles({ ...check, subPath })
  // Without --format, which quotes paths also with -z: mode, type, object and padded size, then a tab.
  await readLines(check, ['ls-tree', '-r', '-t', '-z', '-l', '--full-tree', check.commit], 0, line => {
    const tab = line.indexOf('\t')
    const [, type = '', object = '', size = ''] = line.slice(0, tab).split(/ +/)
    const path = line.slice(tab + 1)
    files += 1
    if (type === 'blob') bytes += Number(size)
    if (files > maxFiles) throw tooManyOrDeep(`the commit has more than ${maxFiles} files`)
    if (!(bytes <= check.limits.unpackedBytes)) throw tooLarge(check.limits.unpackedBytes)
    if (path.length > maxPath) throw longPath()
    if (path.split('/').length > deepest) throw tooManyOrDeep(`folders of the commit are more than ${deepest} deep`)
    incomplete?.see({ type, size: Number(size), object, path })
  })
  await incomplete?.check()
}

/**
 * Rejects with a refusal that names what is wrong. git names objects by their content, so the expected id is the expected
 * content.
 */
export async function checkContent(check: Check): Promise<void> {
  await checkObjects(check)
  await checkFiles(check)
}
