// Installs the app's packages into a layer and links it into the app. With a lockfile it installs exactly that (`npm ci`); without one
// npm chooses the versions, and the log says so. npm's cache is kept for the next build.
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BuildConfig } from './config.ts'
import { definingFiles, dependencyKey, isSameDependencies, layerDescription } from './dependency-key.ts'

export function installModules({ layersFolder, appFolder, environment }: BuildConfig, say: (line: string) => void): void {
  const layer = join(layersFolder, 'modules')
  const description = `${layer}.toml`
  const cache = join(layersFolder, 'npm')
  const modules = join(layer, 'node_modules')
  const present = definingFiles.filter(name => existsSync(join(appFolder, name)))
  const key = dependencyKey(process.version, new Map(present.map(name => [name, readFileSync(join(appFolder, name))])))
  const locked = present.some(name => name === 'package-lock.json' || name === 'npm-shrinkwrap.json')

  if (locked && existsSync(modules) && isSameDependencies(readIfPresent(description), key))
    say('node_modules: same dependencies, used again')
  else {
    if (!locked)
      say('node_modules: no package-lock.json, npm chooses the versions; commit a lockfile to get the same build every time')
    rmSync(layer, { recursive: true, force: true })
    mkdirSync(layer, { recursive: true })
    mkdirSync(cache, { recursive: true })
    for (const name of present) copyFileSync(join(appFolder, name), join(layer, name))
    execFileSync(
      'npm',
      [locked ? 'ci' : 'install', '--omit=dev', '--no-audit', '--no-fund', '--no-update-notifier', '--cache', cache],
      {
        cwd: layer,
        stdio: 'inherit',
        env: { ...environment },
      },
    )
    for (const name of present) rmSync(join(layer, name), { force: true })
    mkdirSync(modules, { recursive: true })
  }
  writeFileSync(description, layerDescription(key))
  writeFileSync(`${cache}.toml`, '[types]\ncache = true\n')
  rmSync(join(appFolder, 'node_modules'), { recursive: true, force: true })
  symlinkSync(modules, join(appFolder, 'node_modules'))
}

function readIfPresent(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}
