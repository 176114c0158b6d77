// Ports of tests: nobody else gets them, also not another process.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { reservePort } from './reserved-port.ts'

const run = promisify(execFile)
const module = join(import.meta.dirname, 'reserved-port.ts')
/** Prints ten ports, which it holds until all of its like have theirs. */
const script = `Object.defineProperty(process, 'pid', { value: 1 }); const { reservePort } = await import(${JSON.stringify(module)}); 
for (let n = 0; n < 10; n++) console.log(await reservePort()); await new Promise(end => setTimeout(end, 1000))`

test('are given once, among several processes that ask for the same ones at once', async () => {
  const others = await Promise.all([1, 2, 3].map(() => run(process.execPath, ['--input-type=module', '-e', script])))
  const all = others.flatMap(({ stdout }) => stdout.trim().split('\n'))
  expect(all).toHaveLength(30)
  expect(new Set(all).size).toBe(30)
})

test('are below those of connections', async () => {
  expect(await reservePort()).toBeLessThan(32_768)
})
