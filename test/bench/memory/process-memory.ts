// The memory of a process by what it is mapped from, and of its children, read from /proc (proc_pid_smaps(5),
// proc_pid_stat(5)). Only reads.
import { readdir, readFile } from 'node:fs/promises'

export type ProcessMemory = {
  readonly residentBytes: number
  /** Resident memory with shared pages divided among the processes that share them. */
  readonly proportionalBytes: number
  /** What only this process has and what is not in a file: counted against a container's limit whatever else runs on the node. */
  readonly anonymousBytes: number
  /** The largest mappings by what they are, in descending order of resident memory. */
  readonly mappings: readonly { readonly name: string; readonly residentBytes: number; readonly sizeBytes: number }[]
}

/** @throws when there is no such process */
export async function memoryOfProcess(pid: number): Promise<ProcessMemory> {
  return parseSmaps(await readFile(`/proc/${pid}/smaps`, 'utf8'))
}

/**
 * What the children of a process, and theirs, have for themselves; the files that they map are their parent's too. Those that
 * end meanwhile are left out.
 */
export async function anonymousBytesOfChildren(pid: number): Promise<number> {
  const names = (await readdir('/proc')).filter(name => /^\d+$/.test(name))
  const parents = new Map<number, number>()
  for (const name of names) {
    const stat = await unlessGone(readFile(`/proc/${name}/stat`, 'utf8'))
    if (stat !== undefined) parents.set(Number(name), parentOfStat(stat))
  }
  let sum = 0
  for (const child of descendants(pid, parents)) sum += (await unlessGone(memoryOfProcess(child)))?.anonymousBytes ?? 0
  return sum
}

/** The fourth field; the second, the name, is in parentheses and may contain anything. */
export function parentOfStat(text: string): number {
  return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1])
}

/** `parents`: process to parent. */
export function descendants(pid: number, parents: ReadonlyMap<number, number>): readonly number[] {
  const children = [...parents].flatMap(([child, parent]) => (parent === pid ? [child] : []))
  return children.flatMap(child => [child, ...descendants(child, parents)])
}

async function unlessGone<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH')) return undefined
    throw error
  }
}

const header = /^[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ \d+ *(.*)$/

/** Mappings of one file, and small anonymous ones, are added up. */
export function parseSmaps(text: string): ProcessMemory {
  const sums = { Rss: 0, Pss: 0, Anonymous: 0 }
  const mappings = new Map<string, { residentBytes: number; sizeBytes: number }>()
  let path = ''
  let size = 0
  for (const line of text.split('\n')) {
    const mapping = header.exec(line)
    if (mapping) path = mapping[1] ?? ''
    const [, field = '', kilobytes] = /^(\w+): +(\d+) kB$/.exec(line) ?? []
    const bytes = Number(kilobytes) * 1024
    if (field === 'Size') size = bytes
    if (field === 'Rss' || field === 'Pss' || field === 'Anonymous') sums[field] += bytes
    if (field !== 'Rss') continue
    const name = nameOf(path, size)
    const sum = mappings.get(name) ?? { residentBytes: 0, sizeBytes: 0 }
    mappings.set(name, { residentBytes: sum.residentBytes + bytes, sizeBytes: sum.sizeBytes + size })
  }
  return {
    residentBytes: sums.Rss,
    proportionalBytes: sums.Pss,
    anonymousBytes: sums.Anonymous,
    mappings: [...mappings]
      .map(([name, { residentBytes, sizeBytes }]) => ({ name, residentBytes, sizeBytes }))
      .sort((one, other) => other.residentBytes - one.residentBytes),
  }
}

/**
 * V8 maps its heap in pages of 256 KiB, which the kernel may show as one mapping; WebAssembly memories and malloc's arenas are
 * larger.
 */
const pageBytes = 1024 * 1024

function nameOf(path: string, size: number): string {
  if (path !== '') return path.split('/').at(-1) ?? path
  return size <= pageBytes ? 'anonymous, up to 1 MB each' : `anonymous, ${Math.round(size / pageBytes)} MB`
}
