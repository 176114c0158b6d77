// A plan of a checkout: what differs from its base is played, and each line says what is left out and why.
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { bothForms, controlPlane as wholeControlPlane, first as wholeFirst } from '../stages.ts'
import { changesSince, gitOf, upstreamBase } from './git-changes.ts'
import { planRun } from './plan.ts'

async function checkout() {
  const folder = await mkdtemp(join(tmpdir(), 'plan-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const git = (...args: readonly string[]): string => execFileSync('git', args, { cwd: folder, encoding: 'utf8' }).trim()
  const write = async (file: string, text: string): Promise<void> => {
    await mkdir(dirname(join(folder, file)), { recursive: true })
    await writeFile(join(folder, file), text)
  }
  const commit = (message: string): string => {
    git('add', '.')
    git('-c', 'user.name=a', '-c', 'user.email=a@localhost', 'commit', '-qm', message)
    return git('rev-parse', 'HEAD')
  }
  git('init', '-q')
  await write('.gitignore', 'ignored\n')
  await write('src/a.ts', '')
  await write('src/a.test.ts', "import './a.ts'\n")
  await write('src/b.test.ts', '')
  await write('test/integration/a.test.ts', "import '../../dev/cluster/control-plane/client.ts'\nimport '../../src/a.ts'\n")
  await write('dev/cluster/control-plane/client.ts', '')
  return { folder, write, git, commit, first: commit('first') }
}

const plan = (folder: string, environment: Readonly<Record<string, string>> = {}, onlyChanged = true) =>
  planRun({ repository: folder, environment, records: {}, platform: bothForms, onlyChanged })
const filesOf = (args: readonly string[] = []): readonly string[] => args.filter(one => one.endsWith('.test.ts'))

test('changes are those of commits and of the work tree, with both names of what was renamed, and without what git ignores', async () => {
  const { folder, write, git, commit, first } = await checkout()
  git('mv', 'src/b.test.ts', 'src/c.test.ts')
  commit('second')
  await write('src/a.ts', 'changed')
  await write('src/new.ts', '')
  await write('ignored', '')
  expect(await changesSince(first, gitOf(folder))).toEqual(['src/a.ts', 'src/b.test.ts', 'src/c.test.ts', 'src/new.ts'])
  expect(await changesSince('f'.repeat(40), gitOf(folder))).toEqual({ unknown: `git does not know the commit ${'f'.repeat(40)}` })
})

test('the base is where the branch left its upstream', async () => {
  const { folder, write, git, commit, first } = await checkout()
  expect(await upstreamBase(gitOf(folder))).toBeUndefined()
  git('checkout', '-qb', 'topic')
  git(
    'branch',
    '-q',
    `--set-upstream-to=${git('branch', '--format=%(refname:short)')
      .split('\n')
      .find(name => name.startsWith('ma'))}`,
  )
  await write('src/a.ts', 'changed')
  commit('second')
  expect(await upstreamBase(gitOf(folder))).toBe(first)
  expect((await plan(folder)).lines[0]).toBe(`CHANGED=1: changes since ${first}`)
})

test('only what uses a changed file is played, and the rest is named', async () => {
  const { folder, write } = await checkout()
  await write('src/a.test.ts', "import './a.ts'\n// changed\n")
  const { first, programs, controlPlane, platform, lines, withoutRights } = await plan(folder)
  expect(first.map(({ args }) => filesOf(args))).toEqual([[], ['src/a.test.ts']])
  expect([programs, controlPlane, platform.beside, platform.alone, platform.otherForm].flat()).toEqual([])
  expect(withoutRights).toBeDefined()
  expect(lines.filter(line => line.startsWith('only: '))).toEqual(['only: unit tests: 1 file uses what changed'])
  expect(lines).toContain('left out: demo: nothing that runs on pods changed')
})

test('a module of the product plays everything on pods, and what reaches it on the API server', async () => {
  const { folder, write } = await checkout()
  await write('src/a.ts', 'changed')
  const { controlPlane, platform } = await plan(folder)
  expect(controlPlane.map(({ args }) => filesOf(args))).toEqual([['test/integration/a.test.ts']])
  expect(platform.beside).toEqual(bothForms.beside)
  expect(platform.alone).toEqual(bothForms.alone)
})

test.each([
  ['an unknown base', { SEKISHO_TEST_BASE: 'f'.repeat(40) }, `git does not know the commit ${'f'.repeat(40)}`],
  ['an unknown file', {}, 'no test is known to use unknown'],
])('%s plays everything', async (_, environment, why) => {
  const { folder, write } = await checkout()
  await write('unknown', '')
  const { lines, platform, withoutRights } = await plan(folder, environment)
  expect(lines[0]).toContain(`everything is played: ${why}`)
  expect(platform).toEqual(bothForms)
  expect(withoutRights).toBeUndefined()
})

test('without git everything is played', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'plan-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const { lines, leavesOut } = await plan(folder)
  expect(lines[0]).toContain('everything is played: git does not know the commit HEAD')
  expect(leavesOut).toBe(false)
})

test('make test itself leaves out what nothing changed for since the base, and the variables of every stage say so', async () => {
  const { folder, first } = await checkout()
  const { platform, environment, leavesOut, lines } = await plan(folder, { SEKISHO_TEST_BASE: first }, false)
  expect(leavesOut).toBe(true)
  expect(platform.otherForm).toEqual([])
  expect(environment).toMatchObject({ SEKISHO_LONG: '' })
  expect(environment['SEKISHO_LEFT_OUT']).toContain('test/integration/given-cluster-up.test.ts')
  expect(lines.some(line => line.startsWith('left out: standalone: nothing changed since '))).toBe(true)
})

test('a file that is left out is not asked for beside others that changes affect', async () => {
  const { folder, write, git, commit } = await checkout()
  await write(
    'test/integration/given-cluster-up.test.ts',
    "import '../../dev/cluster/control-plane/client.ts'\nimport '../../src/lib/a.ts'\n",
  )
  await write('test/integration/b.test.ts', "import '../../dev/cluster/control-plane/client.ts'\nimport '../../src/lib/a.ts'\n")
  await write('src/lib/a.ts', '')
  commit('second')
  await write('src/lib/a.ts', 'changed')
  const { controlPlane } = await plan(folder, { SEKISHO_TEST_BASE: git('rev-parse', 'HEAD') })
  expect(controlPlane.map(({ args }) => filesOf(args))).toEqual([['test/integration/b.test.ts']])
})

test('a file that starts something and passed with all that it uses is left out of make test, whose other stages stay', async () => {
  const { folder, write, git, commit } = await checkout()
  const uses = (file: string): string => `import '../../dev/cluster/control-plane/client.ts'\nimport '../../src/lib/${file}.ts'\n`
  for (const file of ['a', 'b']) await write(`src/lib/${file}.ts`, '')
  await write('test/integration/a.test.ts', uses('a'))
  await write('test/integration/b.test.ts', uses('b'))
  await write('src/lib/b.test.ts', "import { createServer } from 'node:http'\nimport './b.ts'\n")
  // Of a costly file a list says what it proves, imported or not.
  await write('test/integration/given-cluster-up.test.ts', uses('b'))
  await write('dev/up/a.ts', '')
  await write('test/integration/c.test.ts', "import '../../dev/cluster/control-plane/client.ts'\nimport '../../dev/up/a.ts'\n")
  commit('second')
  const records = { 'make test': { commit: git('rev-parse', 'HEAD'), at: '2026-01-01T00:00:00Z', seconds: 1 } }
  const planned = (all = false) =>
    planRun({ repository: folder, environment: {}, records, platform: bothForms, onlyChanged: false, all })
  await write('src/lib/a.ts', 'changed')
  const { controlPlane, platform, first, leavesOut, isNarrowed, lines } = await planned()
  expect(controlPlane.map(({ args }) => filesOf(args))).toEqual([['test/integration/a.test.ts'], []])
  expect(controlPlane.at(-1)).toEqual(wholeControlPlane.at(-1))
  expect(platform.beside).toEqual(bothForms.beside)
  expect(first[0]).toEqual(wholeFirst[0])
  expect(filesOf(first[1]?.args), 'pure functions, and not what opens a server beside another module').toEqual([
    'src/a.test.ts',
    'src/b.test.ts',
  ])
  expect([leavesOut, isNarrowed]).toEqual([true, false])
  expect(lines).toContain('only: integration tests (API server, databases): 1 file uses what changed')
  const all = await planned(true)
  expect([all.first, all.controlPlane]).toEqual([wholeFirst, wholeControlPlane])
  await write('dev/up/a.ts', 'changed')
  expect((await planned()).controlPlane.map(({ args }) => filesOf(args))[0]).toEqual([
    'test/integration/a.test.ts',
    'test/integration/c.test.ts',
    'test/integration/given-cluster-up.test.ts',
  ])
  await write('unknown', '')
  const everything = await planned()
  expect([everything.first, everything.controlPlane]).toEqual([wholeFirst, wholeControlPlane])
  expect(everything.lines[0]).toBe('every file of tests is played: no test is known to use unknown')
})
