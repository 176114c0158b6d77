// The sources as JavaScript under their own names, with a hook by which Node.js takes them as they are: the compiler that
// strips types would stay in the memory of every process and worker thread, about 20 MB each. Types become spaces, so stack
// traces stay true.
// Source: https://nodejs.org/docs/latest-v24.x/api/module.html#modulestriptypescripttypescode-options ,
// #synchronous-hooks-of-moduleregisterhooks
import { readFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { type TreeEntry, textFile } from '../archive/tree-entry.ts'

/** The file of the hook, beside the folder `src`. */
export const hookFile = 'load-plain-sources.mjs'

/**
 * Everything below `src` that ends in .ts must be without types. A process without this hook runs the same sources and only
 * needs more memory.
 */
export const hook = `import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

const sources = new URL('src/', import.meta.url).href

registerHooks({
  load(url, context, next) {
    const plain = url.startsWith(sources) && url.endsWith('.ts')
    return plain ? { format: 'module', source: readFileSync(new URL(url), 'utf8'), shortCircuit: true } : next(url, context)
  },
})
`

/** The entry without types when it is a TypeScript file, itself otherwise. */
export async function plainSource(entry: TreeEntry): Promise<TreeEntry> {
  if (entry.kind !== 'file' || !entry.path.endsWith('.ts')) return entry
  const { source } = entry
  const text = source.kind === 'bytes' ? Buffer.from(source.bytes).toString('utf8') : await readFile(source.path, 'utf8')
  return textFile(entry.path, stripTypeScriptTypes(text), entry.mode)
}

/**
 * How Node.js runs in the image, whose sources are below `folder`. Each value was measured: docs/reference/benchmarks.md, memory.
 * - malloc: by default each thread has an arena, and after one large buffer glibc keeps freed ones of that size for reuse;
 *   compiling WebAssembly
 *   leaves 50 MB that way. mallopt(3) says that setting the thresholds makes them constant. V8's optimiser allocates zones in
 * segments of 32 KB;
 *   mapping those too gives PGlite's process 20 MB back to the system.
 * - V8: the space of new objects grows to 3 × 16 MB per thread by default. With 8 MB a review costs the same, with 4 MB 7 %
 *   more processor time.
 */
export function runtimeEnvironment(folder: string): Readonly<Record<string, string>> {
  return {
    NODE_ENV: 'production',
    NODE_OPTIONS: `--max-semi-space-size=8 --import=${folder}/${hookFile}`,
    MALLOC_ARENA_MAX: '2',
    MALLOC_MMAP_THRESHOLD_: '32768',
    MALLOC_TRIM_THRESHOLD_: '131072',
  }
}
