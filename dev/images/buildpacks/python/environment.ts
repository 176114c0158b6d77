// The folder with an app's packages, and what every program that installs into it needs to know.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { BuildContext, Environment } from '../shared/config.ts'
import { registryFailure } from '../shared/registry-failure.ts'
import { demandLogged } from '../shared/run-logged.ts'

export type PackageFolder = {
  readonly folder: string
  /** Of programs that install packages. */
  readonly variables: Environment
  /** Runs a program in the app; the line of the log is its command. */
  readonly run: (
    command: readonly [string, ...string[]],
    more?: Environment,
    sentence?: (output: string) => string | undefined,
  ) => void
}

/** Creates an empty environment without pip: the builder's own installs into it, and the image of the app has none. */
export function openPackageFolder({ appFolder, layersFolder, environment, say }: BuildContext): PackageFolder {
  const folder = join(layersFolder, 'environment')
  const cache = cacheLayer(layersFolder, 'pip')
  const variables: Environment = {
    ...environment,
    PIP_CACHE_DIR: cache,
    PIP_DISABLE_PIP_VERSION_CHECK: '1',
    PIP_NO_INPUT: '1',
    PIP_CERT: environment['NODE_EXTRA_CA_CERTS'],
    SSL_CERT_FILE: environment['SSL_CERT_FILE'] ?? environment['NODE_EXTRA_CA_CERTS'],
    REQUESTS_CA_BUNDLE: environment['REQUESTS_CA_BUNDLE'] ?? environment['NODE_EXTRA_CA_CERTS'],
  }
  const run: PackageFolder['run'] = (command, more = {}, sentence) => {
    say(command.join(' '))
    const log = join(mkdtempSync(join(tmpdir(), 'sekisho-pip-')), 'log')
    try {
      const program = { command, folder: appFolder, environment: { ...variables, PIP_LOG: log, ...more } }
      demandLogged(program, output => sentence?.(output) ?? unreadIndex(output, log))
    } finally {
      rmSync(dirname(log), { recursive: true, force: true })
    }
  }
  return { folder, variables, run }
}

/** Of an index that refused, pip itself says only that it has no such package; the reason is in its log. */
function unreadIndex(output: string, log: string): string | undefined {
  if (!output.includes('(from versions: none)') || !existsSync(log)) return undefined
  const lines = readFileSync(log, 'utf8').split('\n')
  return registryFailure(lines.filter(line => line.includes('Could not fetch URL')).join('\n'))
}

export function emptyPackageFolder({ folder, run }: PackageFolder): void {
  rmSync(folder, { recursive: true, force: true })
  run(['python3', '-m', 'venv', '--without-pip', folder])
}

/** A folder that only the next build sees. */
export function cacheLayer(layersFolder: string, name: string): string {
  const folder = join(layersFolder, name)
  mkdirSync(folder, { recursive: true })
  writeFileSync(`${folder}.toml`, '[types]\ncache = true\n')
  return folder
}

/** Whether the environment of the build before was made from the same. Writes down what this one is made from. */
export function isUnchanged(layersFolder: string, key: string): boolean {
  const folder = join(layersFolder, 'environment')
  const description = `${folder}.toml`
  const before = existsSync(description) ? readFileSync(description, 'utf8') : ''
  writeFileSync(description, `[types]\nlaunch = true\ncache = true\n[metadata]\nkey = "${key}"\n`)
  return existsSync(join(folder, 'bin', 'python')) && before.includes(`"${key}"`)
}

/** pip of the builder, into the environment of the app. */
export function pipCommand({ folder }: PackageFolder, words: readonly string[]): readonly [string, ...string[]] {
  return ['python3', '-m', 'pip', '--python', join(folder, 'bin', 'python'), 'install', '--progress-bar=off', ...words]
}
