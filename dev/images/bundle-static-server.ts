// The server of static sites as one file, with the libraries that it uses in the versions of package-lock.json: the image of a
// site has no packages of its own.
import { join } from 'node:path'
import { rolldown } from 'rolldown'

const source = join(import.meta.dirname, 'buildpacks', 'shared', 'static-site', 'server', 'main.ts')

/** Resolves to the program, the same text for the same sources. Rejects with the error of the bundler. */
export async function bundleStaticServer(): Promise<string> {
  const build = await rolldown({
    input: source,
    platform: 'node',
    external: [/^node:/],
    // Warnings are about libraries.
    logLevel: 'silent',
  })
  try {
    const { output } = await build.generate({ format: 'esm', minify: 'dce-only', codeSplitting: false })
    return output[0].code
  } finally {
    await build.close()
  }
}
