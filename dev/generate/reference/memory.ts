// docs/reference/memory.md: what the processes keep in memory, from the memory blocks of the files that own it.
import { code, page, table } from '../markdown.ts'
import type { MemoryState } from '../memory/memory-blocks.ts'

function anchorOf(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}

function linked(text: string, adrs: readonly string[]): string {
  return text
    .replaceAll(/ADR (\d{4})/g, (words, number: string) => {
      const file = adrs.find(name => name.startsWith(number))
      return file === undefined ? words : `[${words}](../adr/${file})`
    })
    .replaceAll(/\b(?:src|test)\/[\w./-]+\.ts\b/g, path => `[${code(path)}](../../${path})`)
}

function section({ path, block }: MemoryState, adrs: readonly string[]): string {
  const { name, holds, life, bound, freshness, replicas } = block
  const say = (text: string): string => linked(text, adrs)
  return `### ${name[0]?.toUpperCase()}${name.slice(1)}

[${code(path)}](../../${path}): ${say(holds)}

- Life: ${say(life)}
- Bound: ${say(bound)}
- Freshness: ${say(freshness)}
- Two replicas: ${say(replicas)}`
}

/** The folder of `src` that a file is in. */
function folderOf({ path }: MemoryState): string {
  return path.split('/').slice(0, 2).join('/')
}

function whereOf({ block: { replicas } }: MemoryState): string {
  return /^(leader only|in the store|beside the leader)/.exec(replicas)?.[0] ?? 'each replica'
}

/** The page as Markdown. `adrs`: the names of the files in docs/adr. */
export function memoryPage(states: readonly MemoryState[], adrs: readonly string[]): string {
  const folders = Map.groupBy(states, folderOf)
  const rows = states.map(state => [
    code(folderOf(state)),
    `[${state.block.name}](#${anchorOf(state.block.name)})`,
    whereOf(state),
  ])
  return page({
    title: 'Memory',
    subject: 'This page lists what the processes keep in memory beyond one request.',
    source: 'the comments that begin with `// Memory` in `src`',
    sections: [
      'Each entry says what is kept under which key, how long it lives, what bounds it, what ends or corrects it before (freshness), and what two replicas of a process do with it ([ADR 0028](../adr/0028-what-replicas-share.md)). A BoundedMap, a SingleFlight, buckets, or a Map or Set that outlives a call, without such a comment in its file fails `make check`.',
      table(['Folder', 'State', 'Kept by'], rows),
      ...[...folders].flatMap(([folder, own]) => [`## ${folder}`, ...own.map(state => section(state, adrs))]),
    ],
  })
}
