// The decisions of the Python buildpack from an app's files. Whole builds need packages of the registry; they were run by hand.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { parseProcfile } from '../shared/procfile.ts'
import { type Files, type HostBuild, openWorkshop } from '../testing/run-on-host.ts'
import { checkVersion } from './python-version.ts'
import { findProcesses } from './start-command.ts'

function built(files: Files, environment: Files = {}): HostBuild {
  const workshop = openWorkshop(files)
  onTestFinished(workshop.remove)
  return workshop.build('python', environment)
}

function webOf(files: Files, programs: readonly string[] = [], procfile = ''): string | undefined {
  const manage = Object.keys(files).find(path => path.endsWith('manage.py'))
  const folder = manage === undefined ? undefined : manage.slice(0, -'/manage.py'.length)
  const within = folder === undefined || folder === '' ? '' : `${folder}/`
  const packages = Object.keys(files).flatMap(path => {
    const [first, ...rest] = path.startsWith(within) ? path.slice(within.length).split('/') : []
    return first === undefined || rest.length === 0 ? [] : [first]
  })
  const app = {
    read: (path: string) => files[path],
    django: folder === undefined ? undefined : { folder, packages },
    hasProgram: (name: string) => programs.includes(name),
  }
  return findProcesses(app, parseProcfile(procfile))
    ?.find(({ type }) => type === 'web')
    ?.command.join(' ')
}

const flask = { 'app.py': 'from flask import Flask\napp = Flask(__name__)\n' }

test.each<[string, string | undefined, string | undefined]>([
  ['the Procfile decides', webOf(flask, ['gunicorn'], 'web: gunicorn app:app'), 'gunicorn app:app'],
  [
    'a WSGI application with gunicorn',
    webOf(flask, ['gunicorn']),
    'sh -c exec gunicorn --bind 0.0.0.0:$' + '{PORT:-8080} app:app',
  ],
  [
    'an ASGI application with uvicorn',
    webOf({ 'main.py': 'app: FastAPI = FastAPI(title="x")\n' }, ['uvicorn', 'gunicorn']),
    'sh -c exec uvicorn --host 0.0.0.0 --port "$' + '{PORT:-8080}" main:app',
  ],
  [
    'Django with gunicorn',
    webOf({ 'manage.py': '', 'site1/wsgi.py': '' }, ['gunicorn']),
    'sh -c exec gunicorn --bind 0.0.0.0:$' + '{PORT:-8080} site1.wsgi:application',
  ],
  [
    'Django below a folder',
    webOf({ 'src/manage.py': '', 'src/config/wsgi.py': '' }, ['gunicorn']),
    'sh -c exec gunicorn --chdir src --bind 0.0.0.0:$' + '{PORT:-8080} config.wsgi:application',
  ],
  ['a file that runs by itself', webOf({ 'main.py': 'if __name__ == "__main__":\n  serve()\n' }), 'python main.py'],
  ['an application without a server', webOf(flask), undefined],
  ['nothing', webOf({ 'lib.py': 'x = 1' }), undefined],
])('start command: %s', (_what, found, expected) => {
  expect(found).toBe(expected)
})

test.each<[Files, boolean]>([
  [{ 'requirements.txt': '' }, true],
  [{ 'requirements.in': '' }, true],
  [{ 'pyproject.toml': '' }, true],
  [{ 'manage.py': '' }, true],
  [{ 'index.html': '' }, false],
])('%j is a Python app: %s', (files, expected) => {
  const workshop = openWorkshop(files)
  onTestFinished(workshop.remove)
  expect(workshop.detects('python')).toBe(expected)
})

/** What checking the version says or throws. */
function versionOf(files: Files): string {
  const folder = mkdtempSync(join(tmpdir(), 'sekisho-python-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  const said: string[] = []
  try {
    checkVersion(folder, '3.11.2', line => said.push(line))
    return said.join('\n')
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

test.each([
  '3.11',
  '3',
  '3.11.9',
  '3.11-dev',
  '3.11.x',
  '3.11.0rc1',
  'cpython-3.11.9',
  'cpython@3.11',
  'cpython-3.11.9-linux-x86_64-gnu',
  'python-3.11.9',
  'Python 3.11',
  'v3.11',
  '# keep in step with CI\n3.11\n',
  '\n\n3.11  # the newest\r\n',
  '\uFEFF3.11\r\n',
  '3.12\n3.11\n',
])('.python-version %j is Python 3.11', text => {
  expect(versionOf({ '.python-version': text, 'runtime.txt': text })).toBe('')
})

test.each([
  ['3.12', 'Python 3.12'],
  ['cpython-3.12.1', 'Python 3.12.1'],
  ['# newer\r\n3.13-dev\r\n', 'Python 3.13-dev'],
  ['pypy3.10', 'pypy3.10'],
])('.python-version %j is refused', (text, wanted) => {
  expect(versionOf({ '.python-version': text })).toBe(
    `.python-version asks for ${wanted}, and this builder has Python 3.11.2: write 3.11, or build with another builder (spec.build.builder)`,
  )
})

test('runtime.txt is refused in its own form, and a name of a virtual environment is not a version', () => {
  expect(versionOf({ 'runtime.txt': 'python-3.9.1' })).toContain('runtime.txt asks for Python 3.9.1')
  expect(versionOf({ 'runtime.txt': 'python-3.9.1' })).toContain('write python-3.11')
  expect(versionOf({ '.python-version': 'shop-env\n' })).toBe(
    '.python-version says shop-env, which is not a version of Python: not read',
  )
})

test.each<[string, Files, string]>([
  ['a Pipfile', { Pipfile: '' }, 'Pipfile is not supported: write a requirements.txt'],
  ['no start command', { 'requirements.txt': '' }, 'no start command found: add a Procfile'],
  [
    'two lock files',
    { 'pyproject.toml': '', 'uv.lock': 'x', 'poetry.lock': 'x' },
    'uv.lock and poetry.lock contradict each other',
  ],
  ['a lock file alone', { 'requirements.in': '', 'uv.lock': 'x' }, 'uv.lock is there without pyproject.toml'],
  ['a conflict', { 'pyproject.toml': '<<<<<<< HEAD\n' }, 'pyproject.toml has an unresolved merge conflict'],
  ['broken TOML', { 'pyproject.toml': '[project\n' }, 'pyproject.toml is not valid TOML: '],
  [
    'Latin-1',
    { 'requirements.txt': Buffer.from('# Stra\u00dfe\nflask\n', 'latin1') as unknown as string },
    'requirements.txt is not encoded in UTF-8 (line 1',
  ],
  [
    'UTF-16',
    { Procfile: Buffer.from('\uFEFFweb: x', 'utf16le') as unknown as string, 'requirements.txt': '' },
    'Procfile is encoded in UTF-16',
  ],
])('%s fails the build; its last line is for the owner', (_what, files, message) => {
  const { code, log } = built(files)
  expect(code).toBe(1)
  expect(log.trim().split('\n').at(-1)).toContain(`sekisho/python: error: ${message}`)
})

test('an app without packages gets its processes, also from a Procfile of Windows', () => {
  const { code, launch } = built({ 'requirements.txt': '', Procfile: '\uFEFFweb: python serve.py\r\nworker: python work.py\r\n' })
  expect(code).toBe(0)
  expect(launch).toContain('command = ["python","serve.py"]\ndefault = true')
  expect(launch).toContain('type = "worker"')
})

/** A package that is in the environment without a registry: the settings module that Django's would be. */
const fakeDjango = (settings: string): Files => ({
  'requirements.txt': '',
  Procfile: 'web: python x.py',
  'django/__init__.py': '',
  'django/conf.py': `import importlib, os\nsettings = importlib.import_module(os.environ['DJANGO_SETTINGS_MODULE'])\n`,
  'manage.py': `import os, sys\nos.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.local")\nprint("collected by", os.environ["DJANGO_SETTINGS_MODULE"], sys.argv[1:])\n`,
  'config/__init__.py': '',
  'config/settings/__init__.py': '',
  'config/settings/production.py': settings,
})
const apps = "INSTALLED_APPS = ['django.contrib.staticfiles']\n"
const production = { DJANGO_SETTINGS_MODULE: 'config.settings.production' }

test.each<[string, Files, Files, string]>([
  [
    'settings of a package',
    fakeDjango(`${apps}from pathlib import Path\nSTATIC_ROOT: Path = Path("static")\n`),
    production,
    "collected by config.settings.production ['collectstatic', '--noinput']",
  ],
  [
    'no STATIC_ROOT',
    fakeDjango(`${apps}STATIC_ROOT = None\n`),
    production,
    'collectstatic is not run: config.settings.production sets no STATIC_ROOT',
  ],
  [
    'no app for static files',
    fakeDjango('INSTALLED_APPS = []\nSTATIC_ROOT = "x"\n'),
    production,
    'collectstatic is not run: django.contrib.staticfiles is not in INSTALLED_APPS',
  ],
  [
    'its own wish',
    fakeDjango(''),
    { ...production, DISABLE_COLLECTSTATIC: '1' },
    'collectstatic is not run: DISABLE_COLLECTSTATIC is 1',
  ],
  [
    'settings that cannot be loaded',
    fakeDjango('import os\nSECRET_KEY = os.environ["SECRET_KEY"]\n'),
    production,
    "cannot be loaded (KeyError: 'SECRET_KEY'): set what they need in spec.build.env",
  ],
  ['settings named by manage.py', fakeDjango(''), {}, 'the settings config.settings.local cannot be loaded (ModuleNotFoundError'],
])('collectstatic: %s', (_what, files, environment, line) => {
  const { code, log } = built(files, environment)
  expect(log).toContain(line)
  expect(code).toBe(0)
})

test('settings that set STATIC_ROOT and cannot be loaded fail the build: the app would answer with errors', () => {
  const { code, log } = built(fakeDjango('STATIC_ROOT = "static"\nraise RuntimeError("no database")\n'), production)
  expect(code).toBe(1)
  expect(log.trim().split('\n').at(-1)).toContain(
    'sekisho/python: error: the settings config.settings.production cannot be loaded (RuntimeError: no database)',
  )
})
