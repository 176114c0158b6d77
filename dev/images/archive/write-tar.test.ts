// Tar programs can read our archives, and equal content gives an equal archive.
import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { folder, link, normalizeTree, type TreeEntry, textFile } from './tree-entry.ts'
import { writeTar } from './write-tar.ts'

let scratch = ''
beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'sekisho-tar-'))
})
afterEach(() => rm(scratch, { recursive: true, force: true }))

async function pack(entries: readonly TreeEntry[]): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of writeTar(entries)) chunks.push(chunk)
  return Buffer.concat(chunks)
}

async function list(archive: Buffer): Promise<readonly string[]> {
  const file = join(scratch, 'a.tar')
  await writeFile(file, archive)
  return execFileSync('tar', ['--numeric-owner', '--utc', '-tvf', file], { encoding: 'utf8' }).trim().split('\n')
}

test('the system tar reads names, modes, owners, links and the fixed time', async () => {
  const lines = await list(await pack([folder('tmp', 0o1777), textFile('etc/hello', 'hi\n'), link('bin/sh', '/bin/busybox')]))
  expect(lines.map(line => line.replace(/\s+/g, ' '))).toEqual([
    'drwxr-xr-x 0/0 0 1980-01-01 00:00 bin/',
    'lrwxrwxrwx 0/0 0 1980-01-01 00:00 bin/sh -> /bin/busybox',
    'drwxr-xr-x 0/0 0 1980-01-01 00:00 etc/',
    '-rw-r--r-- 0/0 3 1980-01-01 00:00 etc/hello',
    'drwxrwxrwt 0/0 0 1980-01-01 00:00 tmp/',
  ])
})

test.each([99, 100, 101, 155, 990])('a path of %i bytes is kept, and so is a link target of that length', async length => {
  const name = 'n'.repeat(length)
  const lines = await list(await pack([textFile(name, 'x'), link('l', name)]))
  expect(lines.some(line => line.endsWith(` ${name}`))).toBe(true)
  expect(lines.some(line => line.endsWith(` l -> ${name}`))).toBe(true)
})

test('the order of the entries and the age of the files do not change the archive', async () => {
  const file = join(scratch, 'data')
  await writeFile(file, 'content')
  const entry: TreeEntry = {
    kind: 'file',
    path: 'data',
    mode: 0o644,
    uid: 0,
    gid: 0,
    source: { kind: 'path', path: file, size: 7 },
  }
  const first = await pack([entry, textFile('a', '1')])
  await writeFile(file, 'content')
  expect(await pack([textFile('a', '1'), entry])).toEqual(first)
})

test('a file that changed its size while it was packed is an error; the archive would be broken', async () => {
  const file = join(scratch, 'data')
  await writeFile(file, 'longer than expected')
  const entry: TreeEntry = {
    kind: 'file',
    path: 'data',
    mode: 0o644,
    uid: 0,
    gid: 0,
    source: { kind: 'path', path: file, size: 3 },
  }
  await expect(pack([entry])).rejects.toMatchObject({ code: 'conflict' })
})

test('missing parent folders are added and a later entry replaces an earlier one', () => {
  const tree = normalizeTree([textFile('a/b/c', '1'), textFile('a/b/c', '2'), folder('a', 0o700)])
  expect(tree.map(entry => [entry.path, entry.mode])).toEqual([
    ['a', 0o700],
    ['a/b', 0o755],
    ['a/b/c', 0o644],
  ])
  expect(tree[2]).toEqual(textFile('a/b/c', '2'))
})
