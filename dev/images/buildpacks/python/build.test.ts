// The decisions of the Python buildpack from an app's files. Whole builds need packages of the registry:
// test/integration/buildpacks.test.ts.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { parseProcfile } from '../shared/procfile.ts'
import { type Files, type HostBuild, openWorkshop } from '../testing/run-on-host.ts'
import { checkVersion } from './python-version.ts'
import { findProcesses } from './start-command.ts'

function built(files: Files): HostBuild {
  const workshop = openWorkshop(files)
  onTestFinished(workshop.remove)
  return workshop.build('python')
}

function webOf(files: Files, programs: readonly string[] = [], procfile = ''): string | undefined {
  const folders = [...new Set(Object.keys(files).flatMap(path => (path.includes('/') ? [path.split('/')[0] ?? ''] : [])))]
  const app = { read: (path: string) => files[path], folders, hasProgram: (name: string) => programs.includes(name) }
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
  ['a file that runs by itself', webOf({ 'main.py': 'if __name__ == "__main__":\n  serve()\n' }), 'python main.py'],
  ['an application without a server', webOf(flask), undefined],
  ['nothing', webOf({ 'lib.py': 'x = 1' }), undefined],
])('start command: %s', (_what, found, expected) => {
  expect(found).toBe(expected)
})

test.each<[Files, boolean]>([
  [{ 'requirements.txt': '' }, true],
  [{ 'pyproject.toml': '' }, true],
  [{ 'manage.py': '' }, true],
  [{ 'index.html': '' }, false],
])('%j is a Python app: %s', (files, expected) => {
  const workshop = openWorkshop(files)
  onTestFinished(workshop.remove)
  expect(workshop.detects('python')).toBe(expected)
})

test('another minor version of Python is refused; the message names both', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sekisho-python-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  checkVersion(folder, '3.11.2')
  writeFileSync(join(folder, 'runtime.txt'), 'python-3.11.9\n')
  checkVersion(folder, '3.11.2')
  writeFileSync(join(folder, '.python-version'), '3.12\n')
  expect(() => checkVersion(folder, '3.11.2')).toThrow('.python-version asks for Python 3.12, and this builder has Python 3.11.2')
})

test.each<[string, Files, string]>([
  ['a Pipfile', { Pipfile: '' }, 'Pipfile is not supported: write a requirements.txt'],
  ['no start command', { 'requirements.txt': '' }, 'no start command found: add a Procfile'],
])('%s fails the build; its last line is for the owner', (_what, files, message) => {
  const { code, log } = built(files)
  expect(code).toBe(1)
  expect(log.trim().split('\n').at(-1)).toContain(`sekisho/python: error: ${message}`)
})

test('an app without packages gets its processes', () => {
  const { code, launch } = built({ 'requirements.txt': '', Procfile: 'web: python serve.py\nworker: python work.py' })
  expect(code).toBe(0)
  expect(launch).toContain('command = ["python","serve.py"]\ndefault = true')
  expect(launch).toContain('type = "worker"')
})
