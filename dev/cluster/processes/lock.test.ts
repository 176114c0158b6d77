// The lock between processes: one holder at a time, and released when its holder is killed.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { withLock } from './lock.ts'

test('has one holder at a time and reports the holder to those who wait', async () => {
  const name = randomUUID()
  const seen: string[] = []
  let release: () => void = () => {}
  const gate = new Promise<void>(resolve => {
    release = resolve
  })
  const holders: number[] = []
  const first = withLock(name, async () => {
    seen.push('first in')
    await gate
    seen.push('first out')
  })
  const second = withLock(
    name,
    async () => void seen.push('second in'),
    pid => {
      holders.push(pid)
      release()
    },
  )
  await Promise.all([first, second])
  expect(seen).toEqual(['first in', 'first out', 'second in'])
  expect(holders).toEqual([process.pid])
})

test('is free again after its work failed', async () => {
  const name = randomUUID()
  await expect(withLock(name, () => Promise.reject(new Error('work failed')))).rejects.toThrow('work failed')
  await expect(withLock(name, async () => 'second')).resolves.toBe('second')
})

test('is free at once when its holder was killed', async () => {
  const name = randomUUID()
  const module = fileURLToPath(new URL('./lock.ts', import.meta.url))
  const script = `import { withLock } from ${JSON.stringify(module)}; await withLock(${JSON.stringify(name)}, async () => { console.log('held'); await new Promise(r => setTimeout(r, 60000)) })`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  let waited = 0
  const taken = withLock(
    name,
    async () => 'taken over',
    pid => {
      waited = pid
      child.kill('SIGKILL')
    },
  )
  await expect(taken).resolves.toBe('taken over')
  expect(waited).toBe(child.pid)
})
