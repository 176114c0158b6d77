// The program of a package manager that the image does not have: from the registry, or a file of the repository.
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BuildFailure } from '../shared/build-failure.ts'
import type { BuildContext } from '../shared/config.ts'
import { runProgram } from '../shared/run-program.ts'
import type { PackageManager } from './managers/package-manager.ts'

type Context = Pick<BuildContext, 'appFolder' | 'layersFolder' | 'environment' | 'say'>

/** Returns the PATH that contains it. @throws BuildFailure */
export function withTool(context: Context, { name, tool }: PackageManager): { readonly PATH?: string } {
  if (tool === undefined) return {}
  const { layersFolder, environment, appFolder } = context
  const folder = join(layersFolder, 'package-manager')
  if ('file' in tool) writeStarter(folder, name, join(appFolder, tool.file))
  else install(context, { name, folder, wanted: `${tool.package}@${tool.version}` })
  writeFileSync(`${folder}.toml`, '[types]\ncache = true\n')
  return { PATH: `${join(folder, 'bin')}:${environment['PATH'] ?? ''}` }
}

/** Under its usual name, by which scripts of package.json call it. */
function writeStarter(folder: string, name: string, file: string): void {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(join(folder, 'bin'), { recursive: true })
  // The next build may want one of the registry.
  writeFileSync(join(folder, 'installed'), file)
  const starter = join(folder, 'bin', name)
  writeFileSync(starter, `#!/bin/sh\nexec node '${file.replaceAll("'", `'\\''`)}' "$@"\n`)
  chmodSync(starter, 0o755)
}

type Wanted = { readonly name: string; readonly folder: string; readonly wanted: string }

function install({ environment, say }: Context, { name, folder, wanted }: Wanted): void {
  const marker = join(folder, 'installed')
  if (existsSync(marker) && readFileSync(marker, 'utf8') === wanted) return
  say(`installing ${wanted}`)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const options = ['--global', '--prefix', folder, '--no-audit', '--no-fund', '--ignore-scripts'] as const
  try {
    runProgram({ command: ['npm', 'install', ...options, wanted], folder, environment })
  } catch (error) {
    if (!(error instanceof BuildFailure)) throw error
    throw new BuildFailure(
      `${name} cannot be installed as ${wanted}: correct packageManager in package.json, or use npm (${error.message})`,
    )
  }
  writeFileSync(marker, wanted)
}
