// Which build scripts run for one package of a workspace, by the links that an install leaves.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { openAppFiles } from '../shared/app-files.ts'
import { buildSteps } from './build-steps.ts'

let scratch = ''
afterEach(() => rmSync(scratch, { recursive: true, force: true }))

type Package = { readonly dependencies?: object; readonly scripts?: object }

/** `links`: from a path of the app to what it names. Returns the steps as `folder script`, and what was said. */
function stepsFor(packages: Readonly<Record<string, Package>>, links: Readonly<Record<string, string>>): readonly string[] {
  scratch = mkdtempSync(join(tmpdir(), 'sekisho-steps-'))
  const app = join(scratch, 'app')
  for (const [folder, description] of Object.entries(packages)) {
    mkdirSync(join(app, folder), { recursive: true })
    writeFileSync(join(app, folder, 'package.json'), JSON.stringify(description))
  }
  for (const [path, target] of Object.entries(links)) {
    mkdirSync(dirname(join(app, path)), { recursive: true })
    symlinkSync(target, join(app, path))
  }
  const said: string[] = []
  const steps = buildSteps(openAppFiles(app), 'apps/api', line => said.push(line))
  return [...steps.map(({ folder, script }) => `${folder} ${script}`), ...said]
}

const build = { build: 'x' }

test('links of npm at the root and of pnpm in the package lead to what is built first, each once', () => {
  const packages = {
    'apps/api': { dependencies: { ui: '*', base: '*', ms: '*', absent: '*' }, scripts: build },
    'packages/ui': { dependencies: { base: '*' }, scripts: build },
    'packages/base': { scripts: build },
    'packages/none': {},
    'node_modules/ms': { scripts: build },
  }
  const links = { 'node_modules/base': '../packages/base', 'apps/api/node_modules/ui': '../../../packages/ui' }
  expect(stepsFor(packages, links)).toEqual(['packages/base build', 'packages/ui build', 'apps/api build'])
})

test('a circle is built once and said', () => {
  const packages = {
    'apps/api': { dependencies: { a: '*' }, scripts: build },
    'packages/a': { dependencies: { b: '*', a: '*' }, scripts: build },
    'packages/b': { dependencies: { a: '*' }, scripts: build },
  }
  const links = { 'node_modules/a': '../packages/a', 'node_modules/b': '../packages/b' }
  expect(stepsFor(packages, links)).toEqual([
    'packages/b build',
    'packages/a build',
    'apps/api build',
    'packages/a and packages/b use each other: packages/b is built first',
  ])
})

test('heroku-postbuild of the application takes the place of all', () => {
  const packages = {
    'apps/api': { dependencies: { a: '*' }, scripts: { ...build, 'heroku-postbuild': 'turbo' } },
    'packages/a': { scripts: build },
  }
  expect(stepsFor(packages, { 'node_modules/a': '../packages/a' })).toEqual(['apps/api heroku-postbuild'])
})

test('nothing outside of the app is built, and nothing of a registry', () => {
  const packages = {
    'apps/api': { dependencies: { out: '*', up: '*', stored: '*' }, scripts: build },
    '../outside': { scripts: build },
    'node_modules/.pnpm/stored@1/node_modules/stored': { scripts: build },
  }
  const links = {
    'node_modules/out': '../../outside',
    'node_modules/up': '..',
    'apps/api/node_modules/stored': '../../../node_modules/.pnpm/stored@1/node_modules/stored',
  }
  expect(stepsFor(packages, links)).toEqual(['apps/api build'])
})
