// What is played of the costly cases: nothing changed, something of theirs changed, or not known.
import { execFileSync } from 'node:child_process'
import { globSync, readdirSync, readFileSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'
import { expect, test } from 'vitest'
import { createImports } from '../vitest/imports.ts'
import { testProjects } from '../vitest/projects.ts'
import { type Bases, decideCases, isKnown, type Since } from './decide-cases.ts'
import type { Changes } from './git-changes.ts'
import { crashPoints, proofs, provenElsewhere } from './proofs.ts'
import { createUsedFiles } from './used-files.ts'

const root = join(import.meta.dirname, '../../..')
const base = 'abcdefabcdef0123'
const tests = { ...testProjects(root), e2e: globSync('test/e2e/**/*.test.ts', { cwd: root }) }
const used = createUsedFiles(root, tests, createImports(root))
const always = (since: () => Since): Bases => ({ long: since, played: since })
const after = (changes: Changes) =>
  decideCases(
    always(() => ({ base, changes })),
    used,
  )
const all = (leaveOut: 'files' | 'stages') =>
  proofs.flatMap(({ file, stages }) => (leaveOut === 'files' ? (file ?? []) : (stages ?? [])))

test('when nothing changed that they prove, cases are left out by name with the command that plays them, and no long form is played', () => {
  const tests = ['src/kube/manager.test.ts', 'dev/cluster/node/kubelet.test.ts', 'src/that-was-deleted.test.ts']
  const cases = after(['docs/adr/0001.md', 'README.md', 'dev/check/main.ts', ...tests])
  expect(cases.long).toEqual([])
  expect(cases.leftOutFiles).toEqual(all('files'))
  expect(cases.leftOutStages).toEqual(all('stages'))
  expect(cases.lines).toContain(
    'left out: given-cluster-up: nothing changed since abcdefabcdef that it proves; make test-long PART=github-faults plays it',
  )
  expect(cases.lines.every(line => line.startsWith('left out: '))).toBe(true)
})

test('a change plays what proves it, and nothing else', () => {
  const cases = after(['src/standalone.ts'])
  expect(cases.long).toEqual(['standalone'])
  expect(cases.lines).toContain('played: standalone: src/standalone.ts changed since abcdefabcdef')
  expect(cases.leftOutStages).toEqual([])
  expect(cases.leftOutFiles).toEqual(all('files'))
})

test('a long form of more than five minutes is named as due instead of played', () => {
  const cases = after(['dev/demo/run.ts'])
  expect(cases.long).not.toContain('reinstall')
  expect(cases.lines).toContain(
    'due: make test-long PART=applications (reinstall: dev/demo/run.ts changed since abcdefabcdef; its short form is played)',
  )
})

test('of the scenarios whose controller changed all points of the short form are played, and the long form is due', () => {
  const cases = after(['src/controllers/service-proxy/decide.ts'])
  expect(cases.long.filter(one => one.startsWith('points of '))).toEqual(['points of service-proxy'])
  expect(cases.lines.filter(line => line.includes('PART=crashes-1'))).toEqual([
    'due: make test-long PART=crashes-1 (crash points of service-proxy: src/controllers/service-proxy/decide.ts changed since abcdefabcdef; all points of the short form are played)',
  ])
})

test('what a whole run played since, is played again only when it changed; long forms that it never plays stay due', () => {
  const changes = ['src/controllers/service-proxy/decide.ts', 'dev/demo/run.ts', 'src/standalone.ts']
  const played = { base: '0123456789abcdef', changes: ['dev/demo/run.ts'] }
  const cases = decideCases({ long: () => ({ base, changes }), played: () => played }, used)
  expect(cases.leftOutStages).toEqual(all('stages'))
  expect(cases.long.filter(one => one.startsWith('points of '))).toEqual([])
  expect(cases.lines).toContain(
    'due: make test-long PART=crashes-1 (crash points of service-proxy: src/controllers/service-proxy/decide.ts changed since abcdefabcdef; of those that passed since, some points of the short form are played)',
  )
  expect(cases.lines).toContain(
    'due: make test-long PART=applications (reinstall: dev/demo/run.ts changed since abcdefabcdef; its short form is played)',
  )
})

test.each<[string, () => Since]>([
  ['no record and no base', () => ({ base: undefined, why: 'it has not passed yet' })],
  ['a commit that git does not know, or no git', () => ({ base, changes: { unknown: 'git does not know the commit' } })],
  ['a path that no list knows', () => ({ base, changes: ['somewhere/new.ts'] })],
])('%s: everything is played or due', (_, since) => {
  const cases = decideCases(always(since), used)
  expect(cases.leftOutFiles).toEqual([])
  expect(cases.leftOutStages).toEqual([])
  expect(cases.long.filter(one => one.startsWith('points of '))).toHaveLength(Object.keys(crashPoints).length)
  const said = [...cases.long, ...cases.lines].join('\n')
  for (const { name } of proofs) expect(said).toContain(name)
})

test('every file of this repository is known to a list', () => {
  const files = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean)
  expect(files.filter(file => !isKnown(file))).toEqual([])
})

/** Each alternative of the braces of a glob as a glob of its own. */
function alternatives(glob: string): readonly string[] {
  const [braces, inner = ''] = /\{([^{}]*)\}/.exec(glob) ?? []
  return braces === undefined ? [glob] : inner.split(',').flatMap(one => alternatives(glob.replace(braces, () => one)))
}

test('every list names files of this repository, and every file that can be left out exists', () => {
  const files = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).split('\n')
  const globs = [...proofs.flatMap(({ proves }) => proves), ...Object.values(crashPoints).flat(), ...provenElsewhere].flatMap(
    alternatives,
  )
  expect(globs.filter(glob => !files.some(file => matchesGlob(file, glob)))).toEqual([])
  expect(all('files').filter(file => !files.includes(file))).toEqual([])
})

test('a file that can be left out is played when a helper of tests changed that it uses, and not when another one did', () => {
  const builds = ['dockerfile', 'buildpacks', 'rebase', 'build-secrets', 'image-users']
  expect(after(['test/e2e/branch.ts']).long).toEqual(expect.arrayContaining(builds))
  const cases = after(['test/fixtures/broker-fixture.ts'])
  expect(cases.long).toContain('tenant-page')
  for (const name of builds) expect(cases.leftOutFiles).toContain(`test/e2e/${name}.test.ts`)
})

test('a changed scenario asks for the points of what it covers, and a helper of several for those of all of them', () => {
  const points = (...changes: readonly string[]): readonly string[] =>
    after(changes).long.flatMap(one => /^points of (.+)/.exec(one)?.[1] ?? [])
  expect(points('test/sweep/scenarios/service-proxy.ts', 'test/sweep/scenarios/index.ts')).toEqual(['service-proxy'])
  expect(points('test/sweep/scenarios/remote-sync-rebase.ts')).toEqual(['remote-sync'])
  expect(points('test/sweep/scenarios/webhook-inbox.ts')).toEqual(['webhook inbox'])
  expect(points('src/data-services/adapters/postgresql/changes.ts')).toEqual(['database', 'service-instance'])
  expect(points('src/data-services/adapters/s3/store.ts')).toEqual(['bucket'])
  const services = ['bucket', 'database', 'service-binding', 'service-class', 'service-instance']
  expect(points('src/data-services/slots/slots.ts')).toEqual(services)
  expect(points('test/sweep/scenarios/waits.ts')).toEqual(expect.arrayContaining(['application', 'tenant', 'halt']))
  expect(points('test/sweep/sweep.ts')).toHaveLength(Object.keys(crashPoints).length)
})

test('every controller that a scenario of the crash sweep covers has a list', () => {
  const folder = join(root, 'test/sweep/scenarios')
  const covered = readdirSync(folder).flatMap(file =>
    [...readFileSync(join(folder, file), 'utf8').matchAll(/controllers: \[([^\]]*)\]/g)].flatMap(([, names = '']) =>
      [...names.matchAll(/'([^']+)'/g)].flatMap(([, name]) => name ?? []),
    ),
  )
  expect(covered.filter(name => crashPoints[name] === undefined)).toEqual([])
  expect(new Set(covered).size).toBeGreaterThan(10)
})
