// uv and Poetry as tools of a build: from the package registry, in a pinned version, in a folder that only the next build sees.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BuildFailure } from '../shared/build-failure.ts'
import type { BuildContext } from '../shared/config.ts'
import { cacheLayer, type PackageFolder } from './environment.ts'

/** They read the lock files of all earlier versions. */
export const toolVersions = { uv: '0.13.9', poetry: '2.5.1' } as const

/** Returns the path of the program. `version`: another one than ours, which the app asks for. */
export function installTool(
  { layersFolder, say }: BuildContext,
  { run }: PackageFolder,
  name: keyof typeof toolVersions,
  version: string = toolVersions[name],
): string {
  const folder = cacheLayer(layersFolder, name)
  const wanted = `${name}==${version}`
  const marker = join(folder, 'installed')
  if (existsSync(marker) && readFileSync(marker, 'utf8') === wanted) return join(folder, 'bin', name)
  say(`installing ${wanted}`)
  rmSync(folder, { recursive: true, force: true })
  run(['python3', '-m', 'venv', '--without-pip', folder])
  const python = join(folder, 'bin', 'python')
  run(['python3', '-m', 'pip', '--python', python, 'install', '--progress-bar=off', '--quiet', wanted], {}, output =>
    /No matching distribution found for/.test(output) && !/versions: none/.test(output)
      ? `${wanted} is not in the package registry: correct tool.uv.required-version in pyproject.toml`
      : undefined,
  )
  if (!existsSync(join(folder, 'bin', name))) throw new BuildFailure(`${wanted} has no program ${name}`)
  writeFileSync(marker, wanted)
  return join(folder, 'bin', name)
}
