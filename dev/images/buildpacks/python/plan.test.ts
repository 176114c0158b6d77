// By which tool packages are installed, and what is said about tools that fail.
import { expect, test } from 'vitest'
import { registryFailure } from '../shared/registry-failure.ts'
import { planOf } from './plan.ts'
import { type Project, projectOf } from './project.ts'
import { notAPackage, versionVariables } from './project-itself.ts'

const plain = projectOf({ project: { name: 'shop', dependencies: ['flask'] } })
const poetry = projectOf({ tool: { poetry: { 'package-mode': false } } })
const toolsOnly = projectOf({ tool: { ruff: {} } })

test.each<[string, readonly string[], Project | undefined, object]>([
  ['requirements.txt', ['requirements.txt'], undefined, { tool: 'pip', requirements: 'requirements.txt' }],
  ['requirements.txt beside a lock', ['requirements.txt', 'uv.lock'], plain, { tool: 'pip', requirements: 'requirements.txt' }],
  ['pip-tools', ['requirements.txt', 'requirements.in'], undefined, { tool: 'pip', requirements: 'requirements.txt' }],
  ['requirements.in alone', ['requirements.in'], undefined, { tool: 'pip', requirements: 'requirements.in' }],
  ['uv', ['uv.lock'], plain, { tool: 'uv' }],
  ['Poetry', ['poetry.lock'], poetry, { tool: 'poetry', isLocked: true }],
  ['Poetry with a lock file and PEP 621', ['poetry.lock'], plain, { tool: 'poetry', isLocked: true }],
  ['Poetry without a lock file', [], poetry, { tool: 'poetry', isLocked: false }],
  ['a project', [], plain, { tool: 'pip', requirements: undefined }],
  ['setup.py', ['setup.py'], undefined, { tool: 'pip', requirements: undefined }],
  ['settings of tools only', [], toolsOnly, { tool: 'none' }],
  ['manage.py alone', ['manage.py'], undefined, { tool: 'none' }],
])('%s', (_what, files, project, plan) => {
  expect(planOf(path => files.includes(path), project).plan).toEqual(plan)
})

test('what is there and not used is said', () => {
  expect(planOf(path => ['requirements.txt', 'poetry.lock'].includes(path), poetry).notes).toEqual([
    'poetry.lock is not read: requirements.txt decides',
  ])
  expect(planOf(path => path === 'pdm.lock', plain).notes[0]).toContain('pdm.lock is not read')
  expect(planOf(path => path === 'requirements', undefined).notes[0]).toContain('the folder requirements is not read')
})

test('versions from git are told to the tools that would ask git, unless the build tells them', () => {
  const project = projectOf({
    project: { name: 'my-shop.api', dynamic: ['version'], dependencies: [] },
    'build-system': { requires: ['setuptools>=64', 'setuptools_scm[toml]>=8'] },
  })
  expect(versionVariables(project, {})).toMatchObject({
    SETUPTOOLS_SCM_PRETEND_VERSION_FOR_MY_SHOP_API: '0.0.0',
    PBR_VERSION: '0.0.0',
  })
  expect(versionVariables(project, { SETUPTOOLS_SCM_PRETEND_VERSION: '1.2.3' })).toMatchObject({
    SETUPTOOLS_SCM_PRETEND_VERSION_FOR_MY_SHOP_API: '1.2.3',
  })
  expect(versionVariables(plain, {})).toEqual({})
})

test('dynamic dependencies are not taken for none', () => {
  expect(projectOf({ project: { name: 'x', dynamic: ['dependencies'] } }).dependencies).toBeUndefined()
  expect(projectOf({ project: { name: 'x' } }).dependencies).toEqual([])
})

test.each([
  [
    "error: Multiple top-level packages discovered in a flat-layout: ['app', 'static'].\n",
    'setuptools finds several top-level packages (app, static)',
  ],
  [
    'ValueError: Unable to determine which files to ship inside the wheel using the following heuristics',
    'hatchling finds no folder',
  ],
  ['Error: The current project could not be installed: No file/folder found for package shop', 'Poetry finds no folder'],
  ['error: something else', undefined],
])('%j', (output, problem) => {
  if (problem === undefined) expect(notAPackage(output)).toBeUndefined()
  else expect(notAPackage(output)).toContain(problem)
})

test.each([
  [
    'WARNING: 401 Error, Credentials not correct for https://me:secret@pypi.acme.example/simple/flask/\nERROR: No matching distribution found for flask',
    'the package registry pypi.acme.example refuses the credentials (401): give them to the build as a secret',
  ],
  [
    'ERROR: HTTP error 403 while getting https://pypi.acme.example/x.whl',
    'the package registry pypi.acme.example refuses the credentials (403)',
  ],
  [
    'HTTP status client error (401 Unauthorized) for url (https://pypi.acme.example/simple/x/)',
    'the package registry pypi.acme.example refuses the credentials (401)',
  ],
  [
    "WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError(\"HTTPSConnection(host='pypi.org', port=443): Failed to establish a new connection: [Errno -3] Temporary failure in name resolution\")'",
    'the package registry pypi.org cannot be reached',
  ],
  [
    'error: Request failed\n  Caused by: error sending request for url (https://pypi.org/simple/flask/)\n  Caused by: dns error',
    'the package registry pypi.org cannot be reached',
  ],
  ['All attempts to connect to pypi.org failed.', 'the package registry pypi.org cannot be reached'],
  [
    "pip._vendor.urllib3.exceptions.ReadTimeoutError: HTTPSConnectionPool(host='pypi.org', port=443): Read timed out.",
    'the package registry pypi.org answers too slowly',
  ],
  [
    'ERROR: HTTP error 503 while getting https://pypi.acme.example/x',
    'the package registry pypi.acme.example fails with status 503',
  ],
  [
    'Could not fetch URL http://pypi.acme.example/simple/x/: 401 Client Error: Unauthorized for url: http://me:secret@pypi.acme.example/simple/x/ - skipping',
    'the package registry pypi.acme.example refuses the credentials (401)',
  ],
  [
    'Could not fetch URL http://pypi.acme.example/simple/x/: 503 Server Error: Service Unavailable for url: http://pypi.acme.example/simple/x/ - skipping',
    'the package registry pypi.acme.example fails with status 503',
  ],
  [
    'hint: An index URL (http://pypi.acme.example/simple/) could not be queried due to a lack of valid authentication credentials (401 Unauthorized)',
    'the package registry pypi.acme.example refuses the credentials (401)',
  ],
  [
    "Could not fetch URL http://pypi.acme.example/simple/x/: connection error: HTTPConnectionPool(host='pypi.acme.example', port=80): Max retries exceeded with url: /simple/x/ (Caused by ResponseError('too many 503 error responses'))",
    'the package registry pypi.acme.example fails with status 503',
  ],
  [
    'cause: error sending request for url (https://pypi.acme.example/x.whl)\ncause: invalid peer certificate: UnknownIssuer',
    'has a certificate of an authority that this build does not trust',
  ],
  ['Could not fetch URL http://pypi.acme.example/simple/x/: 404 Client Error: Not Found for url: http://x - skipping', undefined],
  ['error: command gcc failed', undefined],
])('a registry: %j', (output, sentence) => {
  const found = registryFailure(output)
  if (sentence === undefined) expect(found).toBeUndefined()
  else expect(found).toContain(sentence)
  expect(found ?? '').not.toContain('secret@')
})
