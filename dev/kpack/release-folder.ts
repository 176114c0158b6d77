// Finds kpack's release manifests: the `config` folder of the Go module from which the binaries are built, so that manifests and
// programs have the same version and one go.sum verifies both. The path is cached, because asking Go takes a second.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isAccessible } from '../cluster/file-access.ts'
import { maxFetchMilliseconds, type RunCommand } from '../cluster/run-command.ts'

export type ReleaseFolderDeps = {
  readonly run: RunCommand
  readonly moduleFolder: string
  readonly cacheFolder: string
  readonly version: string
}

const modulePath = 'github.com/pivotal/kpack'

export async function findReleaseFolder({ run, moduleFolder, cacheFolder, version }: ReleaseFolderDeps): Promise<string> {
  const record = join(cacheFolder, 'kpack', `release-folder-${version}`)
  const known = await readFile(record, 'utf8').catch(() => undefined)
  if (known !== undefined && (await isAccessible(known))) return known
  await run('go', ['mod', 'download', modulePath], { folder: moduleFolder, timeoutMilliseconds: maxFetchMilliseconds })
  const folder = join((await run('go', ['list', '-m', '-f', '{{.Dir}}', modulePath], { folder: moduleFolder })).trim(), 'config')
  await mkdir(dirname(record), { recursive: true })
  await writeFile(record, folder)
  return folder
}
