// uv and Poetry as tools of a build: from the package registry, in pinned versions, in a folder that only the next build sees.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BuildContext } from '../shared/config.ts'
import { cacheLayer, type PackageFolder } from './environment.ts'

/** They read the lock files of all earlier versions. */
const tools = {
  uv: (version = '0.13.9') => [`uv==${version}`],
  poetry: () => ['poetry==2.5.1', 'poetry-plugin-export==1.10.1'],
  'poetry-core': () => ['poetry-core==2.5.0'],
} as const satisfies Readonly<Record<string, (version?: string) => readonly string[]>>

/** Returns the folder with its programs. `version`: another one than ours, which the app asks for. */
export function installTool(
  { layersFolder, say }: BuildContext,
  { run }: PackageFolder,
  name: keyof typeof tools,
  version?: string,
): string {
  const folder = cacheLayer(layersFolder, name)
  const requirements = tools[name](version)
  const wanted = requirements.join(' ')
  const marker = join(folder, 'installed')
  if (existsSync(marker) && readFileSync(marker, 'utf8') === wanted) return join(folder, 'bin')
  say(`installing ${wanted}`)
  rmSync(folder, { recursive: true, force: true })
  run(['python3', '-m', 'venv', '--without-pip', folder])
  const python = join(folder, 'bin', 'python')
  run(
    ['python3', '-m', 'pip', '--python', python, 'install', '--progress-bar=off', '--quiet', '--no-compile', ...requirements],
    {},
    output =>
      /No matching distribution found for/.test(output) && !/versions: none/.test(output)
        ? `${wanted} is not in the package registry: correct tool.uv.required-version in pyproject.toml`
        : undefined,
  )
  writeFileSync(marker, wanted)
  return join(folder, 'bin')
}
