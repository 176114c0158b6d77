// Django's static files: collected when Django itself says that the project collects them; otherwise a line says why not.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { openAppFiles } from '../shared/app-files.ts'
import { BuildFailure } from '../shared/build-failure.ts'
import type { BuildContext, Environment } from '../shared/config.ts'
import { runLogged } from '../shared/run-logged.ts'

const question = `
import json, os, sys
sys.path.insert(0, os.getcwd())
try:
    from django.conf import settings
    root = settings.STATIC_ROOT
    apps = list(settings.INSTALLED_APPS)
    known = any(app.startswith('django.contrib.staticfiles') for app in apps)
    print('\\n' + json.dumps({'root': str(root) if root else None, 'known': known}))
except BaseException as error:
    print('\\n' + json.dumps({'error': (type(error).__name__ + ': ' + str(error))[:300]}))
`
const timeout = 120_000
const assignment = /^\s*STATIC_ROOT\s*(?::[^=\n]+)?=/m
/** Enough of a file with settings. */
const longest = 1 << 20

/** The folder with manage.py, relative to the app: the root, or one folder below. Undefined when there is none. */
export function manageFolder(appFolder: string): string | undefined {
  if (existsSync(join(appFolder, 'manage.py'))) return ''
  const found = foldersIn(appFolder).filter(name => existsSync(join(appFolder, name, 'manage.py')))
  return found.length === 1 ? found[0] : undefined
}

/** Without hidden ones and those of packages. */
export function foldersIn(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter(entry => entry.isDirectory() && !/^\.|^node_modules$|^__pycache__$/.test(entry.name))
    .map(({ name }) => name)
    .sort()
}

/**
 * As Heroku does; DISABLE_COLLECTSTATIC=1 in `spec.build.env` leaves it out. `packages`: the environment.
 * @throws BuildFailure when collecting fails, or when settings that set STATIC_ROOT cannot be loaded
 */
export function collectStaticFiles({ appFolder, environment, say }: BuildContext, packages: string): void {
  const manage = manageFolder(appFolder)
  if (manage === undefined) return
  const folder = join(appFolder, manage)
  const settings = environment['DJANGO_SETTINGS_MODULE'] ?? settingsOf(openAppFiles(folder).read('manage.py') ?? '')
  const python = join(packages, 'bin', 'python')
  const variables: Environment = {
    ...environment,
    PATH: `${join(packages, 'bin')}:${environment['PATH'] ?? ''}`,
    DJANGO_SETTINGS_MODULE: settings,
    PYTHONPATH: [folder, appFolder].join(':'),
  }
  const isOff = environment['DISABLE_COLLECTSTATIC'] === '1'
  const answer = isOff || settings === undefined ? {} : askDjango({ python, folder, variables })
  const why = isOff ? 'DISABLE_COLLECTSTATIC is 1' : whyNotCollected(settings, answer)
  if (why === undefined) {
    const command = [python, 'manage.py', 'collectstatic', '--noinput'] as const
    say(`${command.join(' ')} (${settings})`)
    const { code } = runLogged({ command, folder, environment: variables })
    if (code !== 0) throw new BuildFailure(`manage.py collectstatic failed with exit code ${code}`)
  } else if (answer.error !== undefined && setsStaticRoot(folder, settings ?? '')) throw new BuildFailure(why)
  else say(`collectstatic is not run: ${why}`)
}

/** Undefined when the files are to be collected. Pure. */
function whyNotCollected(settings: string | undefined, { root, known, error }: Answer): string | undefined {
  if (settings === undefined) return 'manage.py names no DJANGO_SETTINGS_MODULE: set it in spec.build.env'
  if (error?.startsWith("ModuleNotFoundError: No module named 'django'")) return 'Django is not among the packages'
  if (error !== undefined)
    return `the settings ${settings} cannot be loaded (${error}): set what they need in spec.build.env, or DISABLE_COLLECTSTATIC=1`
  if (known !== true) return `django.contrib.staticfiles is not in INSTALLED_APPS of ${settings}`
  return typeof root === 'string' ? undefined : `${settings} sets no STATIC_ROOT`
}

/** Pure. */
export function settingsOf(manage: string): string | undefined {
  return /DJANGO_SETTINGS_MODULE['"]\s*(?:,|\]\s*=)\s*['"]([\w.]+)['"]/.exec(manage)?.[1]
}

type Answer = { readonly root?: string | null; readonly known?: boolean; readonly error?: string }

function askDjango({
  python,
  folder,
  variables,
}: {
  readonly python: string
  readonly folder: string
  readonly variables: Environment
}): Answer {
  const { stdout, error, status } = spawnSync(python, ['-c', question], {
    cwd: folder,
    env: { ...variables },
    encoding: 'utf8',
    timeout,
  })
  const last = stdout?.trim().split('\n').at(-1) ?? ''
  if (!last.startsWith('{')) return { error: error?.message ?? `Python ended with exit code ${status}` }
  return JSON.parse(last) as Answer
}

/** Whether a file with these settings, or one beside it, sets STATIC_ROOT: then the app expects its static files. */
function setsStaticRoot(folder: string, settings: string): boolean {
  const path = join(folder, ...settings.split('.'))
  const files = existsSync(path) ? [path] : []
  const beside = [...files, dirname(path)].filter(existsSync)
  return beside
    .flatMap(one => readdirSync(one).map(name => join(one, name)))
    .filter(name => name.endsWith('.py'))
    .some(name => assignment.test(readFileSync(name, 'utf8').slice(0, longest)))
}
