// The journal is on disk before anything is made, so that the run after a crash still knows what to delete.
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openJournal } from './journal.ts'

test('what was noted survives a crash, the newest first, until it is cleared', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'journal-'))
  const journal = await openJournal(folder)
  await Promise.all(['/a', '/b', '/a', '/c'].map(path => journal.note({ kind: 'object', path })))
  expect(JSON.parse(await readFile(join(folder, 'made.json'), 'utf8'))).toHaveLength(3)
  const next = await openJournal(folder)
  expect(next.all().map(({ path }) => path)).toEqual(['/c', '/b', '/a'])
  await next.clear()
  expect((await openJournal(folder)).all()).toEqual([])
})

test('a journal that cannot be written lets nothing be made', async () => {
  const file = join(await mkdtemp(join(tmpdir(), 'journal-')), 'file')
  await writeFile(file, '')
  await expect(openJournal(join(file, 'folder'))).rejects.toThrow(/ENOTDIR/)
})
