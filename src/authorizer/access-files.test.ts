// The files as a mount changes them: swapped as a whole, missing, wrong.
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createRecordingLog } from '../kube/testing/recording-log.ts'
import { silentLog } from '../lib/testing/silent-log.ts'
import { waitUntil } from '../lib/waiting/wait-until.ts'
import { accessFromFiles } from './access-files.ts'

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'access-'))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

function write(place: string, name: string, text: string): void {
  writeFileSync(join(place, `${name}.new`), text)
  renameSync(join(place, `${name}.new`), join(place, name))
}

test('files that do not exist name nobody; later ones count, and so does their end', async () => {
  const place = folder()
  const files = accessFromFiles(place, { log: silentLog })
  onTestFinished(files.stop)
  expect(files.current().subjects.users.has('ada')).toBe(false)
  write(place, 'readers', 'User ada')
  write(place, 'namespaces', 'tools')
  await waitUntil('ada', async () => files.current().subjects.users.has('ada') || undefined)
  await waitUntil('tools', async () => files.current().openNamespaces.has('tools') || undefined)
  rmSync(join(place, 'readers'))
  await waitUntil('nobody', async () => !files.current().subjects.users.has('ada') || undefined)
})

test('a mistake keeps the former ones and is said once', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const place = folder()
  const log = createRecordingLog()
  write(place, 'readers', 'User ada')
  const files = accessFromFiles(place, { log })
  onTestFinished(files.stop)
  write(place, 'readers', 'Group system:authenticated')
  // Four times read.
  vi.advanceTimersByTime(1000)
  expect(log.lines).toEqual([expect.objectContaining({ error: expect.stringContaining('is everybody') })])
  expect(files.current().subjects.users.has('ada')).toBe(true)
  expect(files.current().subjects.groups.has('system:authenticated')).toBe(false)
})

test('at the start a mistake is an error, as is a file that is too long', () => {
  const place = folder()
  write(place, 'namespaces', 'No!')
  expect(() => accessFromFiles(place, { log: silentLog })).toThrow('namespaces, line 1')
  write(place, 'namespaces', `#${'x'.repeat(256 * 1024)}`)
  expect(() => accessFromFiles(place, { log: silentLog })).toThrow('has more than')
})
