// Packs the process under test and everything it imports into a few files: two thousand modules take a second of a processor to find and load,
// one file a quarter of that, and every crash point loads them anew. Nothing is left out or changed but where a module finds its own files.
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'

const program = join(import.meta.dirname, '../main.ts')

/** A module goes on finding its workers, migrations and the like where its source is. */
function withOwnPlace(code: string, file: string): string {
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
    // The driver asks for it and does without.
    external: [/^node:/, 'pg-native'],
    treeshake: false,
    logLevel: 'silent',
    plugins: [
      {
        name: 'own-place',
        transform: (code, file) => (code.includes('import.meta.') ? { code: withOwnPlace(code, file) } : null),
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
