// The packages that run in production, installed once per lockfile into the cache, without install scripts.
// It must never touch the checkout's node_modules.
import { createHash, randomUUID } from 'node:crypto'
import { copyFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isAccessible } from '../cluster/file-access.ts'
import { maxFetchMilliseconds } from '../cluster/run-command.ts'
import { certificateBundle } from './image/image-plan.ts'
import { productionManifest } from './production-manifest.ts'
import type { RecipeDeps } from './recipes/recipe.ts'

export type ProductionPackages = {
  /** Changes exactly when other packages would be installed; a script or a linter does not change it. */
  readonly key: string
  /** The folder of the packages. */
  readonly install: () => Promise<string>
}

export async function productionPackages({
  repositoryFolder,
  cacheFolder,
  node,
  run,
  step,
}: RecipeDeps): Promise<ProductionPackages> {
  const { description, lock } = productionManifest({
    description: await readJson(join(repositoryFolder, 'package.json')),
    lock: await readJson(join(repositoryFolder, 'package-lock.json')),
  })
  const texts = { 'package.json': JSON.stringify(description), 'package-lock.json': JSON.stringify(lock) }
  const key = createHash('sha256')
    .update(JSON.stringify([node.nodeVersion, description['dependencies'], description['overrides'], lock]))
    .digest('hex')
    .slice(0, 24)
  const folder = join(cacheFolder, 'images', 'node-modules', key)
  const install = async (): Promise<string> => {
    const packages = join(folder, 'node_modules')
    if (await isAccessible(packages)) return packages
    step('npm ci --omit=dev')
    const unfinished = `${folder}.${randomUUID()}`
    await mkdir(unfinished, { recursive: true })
    try {
      for (const [name, text] of Object.entries(texts)) await writeFile(join(unfinished, name), text)
      await copyFile(join(repositoryFolder, '.npmrc'), join(unfinished, '.npmrc'))
      await run('npm', ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
        folder: unfinished,
        environment: { NODE_EXTRA_CA_CERTS: certificateBundle },
        timeoutMilliseconds: maxFetchMilliseconds,
      })
      await rename(unfinished, folder)
    } finally {
      await rm(unfinished, { recursive: true, force: true })
    }
    return packages
  }
  return { key, install }
}

/** Both files belong to this project and npm has read them before. */
async function readJson(file: string): Promise<Readonly<Record<string, unknown>>> {
  return JSON.parse(await readFile(file, 'utf8')) as Readonly<Record<string, unknown>>
}
