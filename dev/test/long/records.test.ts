// The records of the long tests: of which commit they are, and what `make test` says of their age.
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { parts } from './parts.ts'
import { ageLines, cleanCommit, readRecords, recordPart } from './records.ts'

const record = { commit: 'c'.repeat(40), at: '2026-01-01T12:00:00Z', seconds: 1800 }

async function repository(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'long-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: folder })
  await mkdir(join(folder, 'docs/reference'), { recursive: true })
  await writeFile(join(folder, 'docs/reference/long-tests.json'), '{}\n')
  git('init', '-q')
  git('add', '.')
  git('-c', 'user.name=a', '-c', 'user.email=a@localhost', 'commit', '-qm', 'first')
  return folder
}

test('a part is recorded beside the others, and the record does not make the checkout another one', async () => {
  const folder = await repository()
  const commit = await cleanCommit(folder)
  expect(commit).toMatch(/^[0-9a-f]{40}$/)
  await recordPart(folder, 'faults', record)
  await recordPart(folder, 'attacks', record)
  expect(await readRecords(folder)).toEqual({ attacks: record, faults: record })
  expect(await readFile(join(folder, 'docs/reference/long-tests.json'), 'utf8')).toMatch(/attacks[\s\S]*faults/)
  expect(await cleanCommit(folder)).toBe(commit)
  await writeFile(join(folder, 'new.ts'), '')
  expect(await cleanCommit(folder)).toBeUndefined()
})

test('outside of a repository there is no commit', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'long-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  expect(await cleanCommit(folder)).toBeUndefined()
})

test('the age is in days, and a part that never passed has the command', () => {
  const now = (at: string): readonly string[] => ageLines(['faults', 'attacks'], { faults: record }, new Date(at))
  expect(now('2026-01-01T13:00:00Z')).toEqual([
    'long: faults passed today on cccccccccccc, in 30 min',
    'long: attacks has not passed yet: make test-long PART=attacks',
  ])
  expect(now('2026-01-02T13:00:00Z')[0]).toContain('yesterday')
  expect(now('2026-02-01T13:00:00Z')[0]).toContain('31 days ago')
})

test('parts have names of their own', () => {
  expect(new Set(parts.map(({ name }) => name)).size).toBe(parts.length)
})
