// Bundles the process under test and its imports into a few files: finding and loading two thousand modules takes a second of
// processor time, a bundle a quarter of that, and every crash point loads them again. Only the paths by which modules find
// their own files are changed.
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'

const program = join(import.meta.dirname, '../main.ts')

/** Modules still find their workers and migrations next to their source files. */
function withSourcePaths(code: string, file: string): string {
  return code
    .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(file).href))
    .replaceAll('import.meta.dirname', JSON.stringify(dirname(file)))
    .replaceAll('import.meta.filename', JSON.stringify(file))
}

/** Writes into `folder`; resolves with the path of the program. */
export async function packSubject(folder: string): Promise<string> {
  const build = await rolldown({
    input: { main: program },
    platform: 'node',
    // An optional dependency of the driver.
    external: [/^node:/, 'pg-native'],
    treeshake: false,
    logLevel: 'silent',
    plugins: [
      {
        name: 'source-paths',
        transform: (code, file) => (code.includes('import.meta.') ? { code: withSourcePaths(code, file) } : null),
      },
    ],
  })
  try {
    await build.write({ dir: folder, format: 'esm', entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' })
  } finally {
    await build.close()
  }
  return join(folder, 'main.mjs')
}
