// A disk that can lose its power: it records what the embedded database writes, flushes, creates, renames and removes, and
// rebuilds the folder as a power cut at any moment may leave it. What was flushed is there; of the rest nothing, or any part.
// The model is more pessimistic than ext4, XFS or Btrfs: `fsync` of a file keeps its content and its name, and nothing else; a
// rename or a removal is kept by `fsync` of its folder only. Sectors of 512 bytes are written wholly or not at all.
import { cpSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { DurableFolder } from '../durable-folder.ts'

const sector = 512

type FileOperation =
  | { readonly kind: 'write'; readonly file: number; readonly position: number; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly file: number; readonly size: number }
type NameOperation =
  | { readonly kind: 'create'; readonly path: string; readonly file: number }
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'rename'; readonly path: string; readonly to: string }
  | { readonly kind: 'remove'; readonly path: string }
type Flush = { readonly kind: 'flush'; readonly path: string; readonly file: number | undefined }
type Operation = FileOperation | NameOperation | Flush

type Node = { readonly mode: number }
type Stream = { readonly nfd: number; readonly node: Node; position: number; recordedPath?: string }
type Module = Parameters<DurableFolder['prepare']>[0] & {
  readonly NODEFS: {
    readonly node_ops: Record<string, (...given: never[]) => unknown>
    readonly realPath: (node: Node) => string
  }
}

/**
 * The file system of a database whose every operation is recorded. The folder must be a closed database: it counts as flushed.
 */
export class RecordingFolder extends DurableFolder {
  readonly operations: Operation[] = []
  readonly #files = new Map<string, number>()
  readonly #folder: string
  #next = 0

  constructor(folder: string) {
    super(folder)
    this.#folder = folder
  }

  protected override prepare(module: Module): void {
    super.prepare(module)
    const { NODEFS } = module
    const record = (operation: Operation): void => void this.operations.push(operation)
    const path = (node: Node): string => relative(this.#folder, NODEFS.realPath(node))
    const streams = NODEFS.stream_ops as Record<string, (...given: never[]) => unknown>
    const wrap = (target: Record<string, (...given: never[]) => unknown>, name: string, after: (...given: never[]) => void) => {
      const inner = target[name]
      if (inner === undefined) throw new Error(`NODEFS has no ${name}`)
      target[name] = (...given: never[]) => {
        const answer = inner(...given)
        after(...given)
        return answer
      }
    }
    wrap(streams, 'write', ((...[stream, buffer, offset, length, position]: [Stream, Uint8Array, number, number, number]) =>
      record({
        kind: 'write',
        file: this.#fileOf(path(stream.node)),
        position,
        bytes: Buffer.from(buffer.subarray(offset, offset + length)),
      })) as never)
    wrap(streams, 'fsync', ((stream: Stream) => {
      const flushed = path(stream.node)
      record({ kind: 'flush', path: flushed, file: isFolder(stream.node) ? undefined : this.#fileOf(flushed) })
    }) as never)
    const truncated = (node: Node, attributes: { readonly size?: number }): void => {
      if (attributes.size !== undefined) record({ kind: 'truncate', file: this.#fileOf(path(node)), size: attributes.size })
    }
    wrap(streams, 'setattr', ((stream: Stream, attributes: object) => truncated(stream.node, attributes)) as never)
    wrap(NODEFS.node_ops, 'setattr', truncated as never)
    wrap(NODEFS.node_ops, 'mknod', ((parent: Node, name: string, mode: number) => {
      const created = join(path(parent), name)
      if (isFolder({ mode })) return record({ kind: 'folder', path: created })
      this.#files.set(created, this.#next++)
      record({ kind: 'create', path: created, file: this.#fileOf(created) })
    }) as never)
    const rename = NODEFS.node_ops['rename'] as (node: Node, parent: Node, name: string) => unknown
    NODEFS.node_ops['rename'] = ((node: Node, parent: Node, name: string) => {
      const [from, to] = [path(node), join(path(parent), name)]
      const answer = rename(node, parent, name)
      this.#files.set(to, this.#fileOf(from))
      this.#files.delete(from)
      record({ kind: 'rename', path: from, to })
      return answer
    }) as never
    const removed = ((parent: Node, name: string) => {
      const gone = join(path(parent), name)
      this.#files.delete(gone)
      record({ kind: 'remove', path: gone })
    }) as never
    wrap(NODEFS.node_ops, 'unlink', removed)
    wrap(NODEFS.node_ops, 'rmdir', removed)
  }

  /** The path at the first operation names the file of the folder that was there before. */
  #fileOf(path: string): number {
    const known = this.#files.get(path)
    if (known !== undefined) return known
    const file = this.#next++
    this.#files.set(path, file)
    this.operations.push({ kind: 'create', path, file })
    return file
  }
}

function isFolder({ mode }: Node): boolean {
  return (mode & 0o170000) === 0o040000
}

/**
 * The folder `into` as a power cut after `count` operations leaves it; `before` is a copy of the folder from before the
 * recording.
 */
export function afterPowerCut(
  operations: readonly Operation[],
  cut: { readonly count: number; readonly before: string; readonly into: string; readonly survives: () => boolean },
): void {
  const disk = createDisk(cut.before)
  for (const operation of operations.slice(0, cut.count)) disk.apply(operation)
  disk.writeTo(cut.into, cut.survives)
}

function createDisk(before: string) {
  const contents = new Map<number, Content>()
  const unflushed = new Map<number, FileOperation[]>()
  let pendingNames: NameOperation[] = []
  /** Path → file; undefined for a name that is gone. */
  const names = new Map<string, number | undefined>()
  const live = new Map<string, number | undefined>()
  const folders: string[] = []

  const change = (content: Content, operation: FileOperation, survives: () => boolean): void => {
    if (operation.kind === 'truncate') {
      if (survives()) content.resize(operation.size)
      return
    }
    for (let at = 0; at < operation.bytes.length; ) {
      const position = operation.position + at
      const length = Math.min(sector - (position % sector), operation.bytes.length - at)
      if (survives()) content.write(position, operation.bytes.subarray(at, at + length))
      at += length
    }
  }
  const contentOf = (file: number): Content => {
    const content = contents.get(file) ?? createContent(Buffer.alloc(0))
    contents.set(file, content)
    return content
  }
  const applyName = (target: Map<string, number | undefined>, operation: NameOperation): void => {
    if (operation.kind === 'create') target.set(operation.path, operation.file)
    if (operation.kind === 'remove') target.set(operation.path, undefined)
    if (operation.kind !== 'rename') return
    target.set(operation.to, target.get(operation.path) ?? live.get(operation.path))
    target.set(operation.path, undefined)
  }
  const isIn = (folder: string, { path }: NameOperation): boolean => (dirname(path) === '.' ? '' : dirname(path)) === folder

  const flush = ({ path, file }: Flush): void => {
    if (file === undefined) {
      for (const operation of pendingNames.filter(each => isIn(path, each))) applyName(names, operation)
      pendingNames = pendingNames.filter(each => !isIn(path, each))
      return
    }
    for (const operation of unflushed.get(file) ?? []) change(contentOf(file), operation, () => true)
    unflushed.delete(file)
    if (![...names.values()].includes(file)) names.set(path, file)
  }

  /** What was not flushed survives in part. Names change in the order of the journal: a beginning of them. */
  const keepSome = (survives: () => boolean): void => {
    for (const operation of pendingNames) {
      if (!survives()) break
      applyName(names, operation)
    }
    for (const [file, operations] of unflushed) for (const operation of operations) change(contentOf(file), operation, survives)
  }

  return {
    apply(operation: Operation): void {
      switch (operation.kind) {
        case 'write':
        case 'truncate': {
          const waiting = unflushed.get(operation.file)
          if (waiting === undefined) unflushed.set(operation.file, [operation])
          else waiting.push(operation)
          return
        }
        case 'flush':
          flush(operation)
          return
        case 'folder':
          folders.push(operation.path)
          return
        case 'create': {
          applyName(live, operation)
          const existing = existingFile(join(before, operation.path))
          if (existing !== undefined && !names.has(operation.path)) {
            contents.set(operation.file, createContent(existing))
            names.set(operation.path, operation.file)
          } else pendingNames.push(operation)
          return
        }
        default:
          pendingNames.push(operation)
          applyName(live, operation)
      }
    },
    writeTo(into: string, survives: () => boolean): void {
      cpSync(before, into, { recursive: true })
      keepSome(survives)
      for (const folder of folders) mkdirSync(join(into, folder), { recursive: true })
      for (const [path, file] of names) {
        if (file === undefined) rmSync(join(into, path), { recursive: true, force: true })
        else writeFileSync(join(into, path), contentOf(file).bytes(), { mode: 0o600 })
      }
    },
  }
}

/** The bytes of a file; grows by doubling, because a log grows by sectors. */
type Content = {
  readonly write: (position: number, bytes: Buffer) => void
  readonly resize: (size: number) => void
  readonly bytes: () => Buffer
}

function createContent(first: Buffer): Content {
  let room = first
  let size = first.length
  const resize = (wanted: number): void => {
    if (wanted > room.length) {
      const larger = Buffer.alloc(Math.max(wanted, room.length * 2))
      room.copy(larger, 0, 0, size)
      room = larger
    }
    if (wanted < size) room.fill(0, wanted, size)
    size = wanted
  }
  return {
    write(position, bytes) {
      if (position + bytes.length > size) resize(position + bytes.length)
      bytes.copy(room, position)
    },
    resize,
    bytes: () => room.subarray(0, size),
  }
}

function existingFile(path: string): Buffer | undefined {
  const found = statSync(path, { throwIfNoEntry: false })
  return found?.isFile() ? readFileSync(path) : undefined
}
