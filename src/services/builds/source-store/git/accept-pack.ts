// Makes a bare repository of one commit from the bytes of a pack, or refuses it. The bytes come from a server that holds what
// strangers pushed: git reads them in a process with limits, and what they unpack to is checked before anything names it. It
// never writes outside `folder`, and it has no credential: whoever downloads the pack keeps the token.
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError, messageOf } from '../../../../lib/errors.ts'
import { type ContentLimits, checkContent, maxObjects } from './check-content.ts'
import { strictOption } from './fsck-rules.ts'
import { runGit } from './git-command.ts'
import { failed, packRefusal, tooLarge, tooManyOrDeep } from './refusals.ts'

export type AcceptLimits = ContentLimits & {
  /** From the first byte of the pack to the end of all checks. */
  readonly timeoutMilliseconds: number
  /** Maximum size of the pack. */
  readonly packedBytes: number
}

export type Acceptance = {
  /** Does not exist yet. */
  readonly folder: string
  /** 40 hex digits, or 64 in a repository with SHA-256. */
  readonly commit: string
  /** Whether the commit has parents, which are not in the pack. */
  readonly shallow: boolean
  /** The folder that is built, where submodules and files in Git LFS are refused; undefined when they are not needed. */
  readonly completeBelow: string | undefined
  readonly limits: AcceptLimits
  readonly signal: AbortSignal
}

/** The branch that names the commit; a clone of the source checks it out. */
const sourceBranch = 'refs/heads/source'
/** What git writes beside the pack: its index, 32 bytes and a few for each object. */
const indexBytes = 67_108_864

/**
 * Writes what `git init --bare` writes (gitrepository-layout) without starting a process, which would add to the time from push
 * to URL.
 */
async function makeEmptyRepository({ folder, commit, shallow }: Acceptance): Promise<void> {
  const plain = '[core]\n\trepositoryformatversion = 0\n\tbare = true\n'
  const sha256 = '[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectformat = sha256\n'
  await mkdir(join(folder, 'objects', 'pack'), { recursive: true, mode: 0o700 })
  await mkdir(join(folder, 'refs', 'heads'), { recursive: true, mode: 0o700 })
  await writeFile(join(folder, 'config'), commit.length === 64 ? sha256 : plain)
  await writeFile(join(folder, 'HEAD'), `ref: ${sourceBranch}\n`)
  if (shallow) await writeFile(join(folder, 'shallow'), `${commit}\n`)
}

/** `PACK`, the version, and the number of objects, for which git reserves memory before it has seen any (gitformat-pack). */
const headerBytes = 12

function checkHeader(header: Buffer): void {
  const objects = header.length < headerBytes ? 0 : header.readUInt32BE(8)
  if (objects > maxObjects) throw tooManyOrDeep(`the commit has more than ${maxObjects} objects`)
}

/** The pack from its first to its last byte, with its header in one piece. */
async function* atMost(limit: number, pack: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let total = 0
  let header: Buffer | undefined = Buffer.alloc(0)
  for await (const piece of pack) {
    total += piece.length
    if (total > limit) throw tooLarge(limit)
    if (header === undefined) {
      yield piece
      continue
    }
    header = Buffer.concat([header, piece])
    if (header.length < headerBytes) continue
    checkHeader(header)
    yield header
    header = undefined
  }
  if (header !== undefined) yield header
}

async function bytesOnDisk(folder: string): Promise<number> {
  const packs = join(folder, 'objects', 'pack')
  const sizes = (await readdir(packs)).map(async name => (await stat(join(packs, name))).size)
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}

async function indexPack({ folder, limits, signal }: Acceptance, pack: AsyncIterable<Uint8Array>): Promise<void> {
  const { packedBytes, timeoutMilliseconds } = limits
  const result = await runGit({
    folder,
    arguments: ['index-pack', '--stdin', strictOption, '--threads=1', `--max-input-size=${packedBytes}`],
    input: atMost(packedBytes, pack),
    fileBytes: packedBytes + indexBytes,
    timeoutMilliseconds,
    signal,
  })
  if (result.code !== 0) throw packRefusal(result, packedBytes)
}

/**
 * Resolves to the bytes on disk. Rejects with an AppError whose reason is SourceTooLarge, SourceMalformed or SourceIncomplete
 * (another try would find the same) or FetchFailed (another try may help).
 */
export async function acceptPack(acceptance: Acceptance, pack: AsyncIterable<Uint8Array>): Promise<number> {
  const { folder, commit, limits, completeBelow } = acceptance
  const late = AbortSignal.timeout(limits.timeoutMilliseconds)
  const signal = AbortSignal.any([acceptance.signal, late])
  try {
    await makeEmptyRepository(acceptance)
    await indexPack({ ...acceptance, signal }, pack)
    await checkContent({ folder, commit, limits, signal, completeBelow })
    // Last: what no branch names is not served.
    await writeFile(join(folder, sourceBranch), `${commit}\n`)
    return await bytesOnDisk(folder)
  } catch (error) {
    if (error instanceof AppError && error.reason !== undefined) throw error
    if (late.aborted) throw failed(`the commit was not fetched and checked within ${limits.timeoutMilliseconds / 1000} s`)
    throw failed(messageOf(error))
  }
}
