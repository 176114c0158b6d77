// The build phase in order: check the version, install the packages into an environment of their own, collect Django's static
// files, say how the processes start.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BuildFailure } from '../shared/build-failure.ts'
import type { BuildContext } from '../shared/config.ts'
import { launchDescription, writeLaunchLayer } from '../shared/launch.ts'
import { parseProcfile } from '../shared/procfile.ts'
import { runProgram } from '../shared/run-program.ts'
import { checkVersion, installedVersion } from './python-version.ts'
import { findProcesses } from './start-command.ts'

/** @throws BuildFailure whose message is for the app's owner */
export function buildApp(context: BuildContext): void {
  const { appFolder, layersFolder, say } = context
  const read = (path: string): string | undefined => {
    const file = join(appFolder, path)
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined
  }
  const version = installedVersion(context)
  checkVersion(appFolder, version)
  say(`Python ${version}`)
  const procfile = parseProcfile(read('Procfile') ?? '')
  const environment = installPackages(context, version, read)
  const hasProgram = (name: string): boolean => existsSync(join(environment, 'bin', name))
  collectStaticFiles(context, environment, read)
  const folders = readdirSync(appFolder, { withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .map(({ name }) => name)
  const processes = findProcesses({ read, folders, hasProgram }, procfile)
  if (processes === undefined)
    throw new BuildFailure(
      'no start command found: add a Procfile with a line such as "web: gunicorn --bind 0.0.0.0:$PORT app:app", with gunicorn in requirements.txt',
    )
  for (const { type, command } of processes) say(`process ${type}: ${command.join(' ')}`)
  writeLaunchLayer(layersFolder, {
    name: 'launch',
    // Output appears at once, and nothing is written beside the sources, whose file system is read-only.
    defaults: { VIRTUAL_ENV: environment, PYTHONUNBUFFERED: '1', PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH: appFolder },
    path: [join(environment, 'bin')],
  })
  writeFileSync(join(layersFolder, 'launch.toml'), launchDescription(processes))
}

type Read = (path: string) => string | undefined

/** What pip installs; the other files of package managers are named, because somebody expects them to be used. */
function requirements(read: Read, say: (line: string) => void): readonly string[] | undefined {
  if (read('requirements.txt') !== undefined) return ['-r', 'requirements.txt']
  const pyproject = read('pyproject.toml')
  if (pyproject !== undefined || read('setup.py') !== undefined) {
    for (const lock of ['poetry.lock', 'uv.lock', 'pdm.lock'])
      if (read(lock) !== undefined) say(`${lock} is not read: pip chooses the versions; export a requirements.txt to keep them`)
    if (read('setup.py') === undefined && !/^\[(project|tool\.poetry)\]/m.test(pyproject ?? '')) return undefined
    return ['.']
  }
  for (const file of ['Pipfile', 'environment.yml'])
    if (read(file) !== undefined)
      throw new BuildFailure(`${file} is not supported: write a requirements.txt (pip freeze > requirements.txt)`)
  return undefined
}

/** Returns the folder of the environment. It is used again by the next build when nothing that defines it has changed. */
function installPackages({ appFolder, layersFolder, environment, say }: BuildContext, version: string, read: Read): string {
  const wanted = requirements(read, say)
  const folder = join(layersFolder, 'environment')
  const description = `${folder}.toml`
  const key = createHash('sha256')
    .update(JSON.stringify([version, wanted, read('requirements.txt')]))
    .digest('hex')
  // Requirements can name other files and local packages: then only pip knows what has changed.
  const selfContained = wanted?.[0] === '-r' && !/^\s*(-|\.|.*(file:|@\s*\.))/m.test(read('requirements.txt') ?? '')
  const before = existsSync(description) ? readFileSync(description, 'utf8') : ''
  writeFileSync(description, `[types]\nlaunch = true\ncache = true\n[metadata]\nkey = "${key}"\n`)
  if (selfContained && existsSync(join(folder, 'bin', 'python')) && before.includes(`"${key}"`)) {
    say('packages: the same requirements.txt, used again')
    return folder
  }
  const cache = join(layersFolder, 'pip')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(cache, { recursive: true })
  writeFileSync(`${cache}.toml`, '[types]\ncache = true\n')
  const pip = {
    PIP_CACHE_DIR: cache,
    PIP_DISABLE_PIP_VERSION_CHECK: '1',
    PIP_NO_INPUT: '1',
    PIP_CERT: environment['NODE_EXTRA_CA_CERTS'],
  }
  const run = (...command: [string, ...string[]]): void => {
    say(command.join(' '))
    runProgram({ command, folder: appFolder, environment: { ...environment, ...pip } })
  }
  // The builder's own pip installs into it; the image of the app has none.
  run('python3', '-m', 'venv', '--without-pip', folder)
  if (wanted !== undefined)
    run('python3', '-m', 'pip', '--python', join(folder, 'bin', 'python'), 'install', '--progress-bar=off', ...wanted)
  return folder
}

/** As Heroku does; DISABLE_COLLECTSTATIC=1 in `spec.build.env` leaves it out. */
function collectStaticFiles({ appFolder, environment, say }: BuildContext, folder: string, read: Read): void {
  if (read('manage.py') === undefined || environment['DISABLE_COLLECTSTATIC'] === '1') return
  const settings = readdirSync(appFolder, { withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .map(({ name }) => read(`${name}/settings.py`) ?? '')
  if (!settings.some(text => /^STATIC_ROOT\s*=/m.test(text))) return
  const command = [join(folder, 'bin', 'python'), 'manage.py', 'collectstatic', '--noinput'] as const
  say(command.join(' '))
  runProgram({
    command,
    folder: appFolder,
    environment: { ...environment, PATH: `${join(folder, 'bin')}:${environment['PATH'] ?? ''}` },
  })
}
