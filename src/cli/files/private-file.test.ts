import { mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readTextFile, writePrivateFile } from './private-file.ts'

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'private-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}

test('a symbolic link is kept, and its target becomes private', async () => {
  const here = await folder()
  const [target, link] = [join(here, 'kept-elsewhere'), join(here, 'config')]
  await writeFile(target, 'old', { mode: 0o644 })
  await symlink(target, link)
  await writePrivateFile(link, 'new')
  expect(await readlink(link)).toBe(target)
  expect(await readFile(target, 'utf8')).toBe('new')
  expect((await stat(target)).mode & 0o777).toBe(0o600)
})

test('errors name the file, and no partial file stays', async () => {
  const here = await folder()
  const path = join(here, 'config')
  await mkdir(path)
  await writeFile(join(path, 'in-the-way'), '')
  await expect(readTextFile(path)).rejects.toThrow(`${path} cannot be read`)
  await expect(writePrivateFile(path, 'text')).rejects.toThrow(`${path} cannot be written`)
  expect(await readdir(here)).toEqual(['config'])
  expect(await readTextFile(join(here, 'none'))).toBeUndefined()
})
