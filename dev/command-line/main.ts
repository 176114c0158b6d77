// Writes the bundle of the command line into dist/cli, which bin/sekisho starts while it is newer than the sources. The file
// `node` is written last: it names the Node.js that starts the bundle, so that bin/sekisho does not have to look for one.
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { bundleCommandLine } from './bundle.ts'

const root = join(import.meta.dirname, '../..')
const folder = join(root, 'dist/cli')
const fresh = `${folder}.${process.pid}`

await mkdir(fresh, { recursive: true })
await bundleCommandLine(join(root, 'src/cli/main.ts'), fresh)
await writeFile(join(fresh, 'node'), `${process.execPath}\n`)
await rm(folder, { recursive: true, force: true })
await rename(fresh, folder)
