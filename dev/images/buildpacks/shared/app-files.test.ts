// Nothing outside of the app is read, and nothing without a bound.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openAppFiles } from './app-files.ts'

let scratch = ''
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'sekisho-files-'))
  mkdirSync(join(scratch, 'app', 'folder'), { recursive: true })
  writeFileSync(join(scratch, 'secret'), 'of the builder')
  writeFileSync(join(scratch, 'app', 'plain'), '\uFEFFtext')
  writeFileSync(join(scratch, 'app', 'wide'), Buffer.from('\uFEFFtext', 'utf16le'))
  writeFileSync(join(scratch, 'app', 'large'), 'x'.repeat(2 * 1_048_576))
  symlinkSync('../secret', join(scratch, 'app', 'out'))
  symlinkSync('..', join(scratch, 'app', 'up'))
  symlinkSync('../plain', join(scratch, 'app', 'folder', 'in'))
  symlinkSync('nowhere', join(scratch, 'app', 'broken'))
})
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

test('files of the app are read, also by links within it', () => {
  const files = openAppFiles(join(scratch, 'app'))
  expect([files.read('plain'), files.read('folder/in'), files.read('absent'), files.read('broken')]).toEqual([
    'text',
    'text',
    undefined,
    undefined,
  ])
  expect(files.placeOf('folder/in')).toBe('plain')
  expect(openAppFiles(join(scratch, 'app'), 'folder').read('../plain')).toBe('text')
})

test.each(['out', 'up/secret', '../secret', 'folder/../../secret'])('%s leads out of the app', path => {
  const files = openAppFiles(join(scratch, 'app'))
  expect(files.exists(path)).toBe(false)
  expect(files.placeOf(path)).toBeUndefined()
  expect(() => files.read(path)).toThrow(`${path} leads out of the repository`)
})

test.each([
  ['large', 'large has more than 1 MiB: shorten it'],
  ['folder', 'folder is not a file'],
  ['wide', 'wide is encoded in UTF-16 (little endian): save it as UTF-8'],
])('%s is refused in one sentence', (path, sentence) => {
  expect(() => openAppFiles(join(scratch, 'app')).read(path)).toThrow(sentence)
})

test('a limit of its own', () => {
  expect(() => openAppFiles(join(scratch, 'app')).read('plain', 2)).toThrow('plain has more than')
})
