// Ports of tests: nobody else gets them, also not another process.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { reservePort } from './reserved-port.ts'

const module = join(import.meta.dirname, 'reserved-port.ts')
/** Prints ten ports in one line, and holds them until its input ends. */
const script = `Object.defineProperty(process, 'pid', { value: 1 }); const { reservePort } = await import(${JSON.stringify(module)});
const ports = []; for (let n = 0; n < 10; n++) ports.push(await reservePort()); console.log(ports.join(' ')); process.stdin.resume()`

function holder() {
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', 'inherit'] })
  const printed = Promise.race([
    new Promise<string>(resolve => child.stdout.once('data', chunk => resolve(String(chunk)))),
    new Promise<string>((_, reject) => child.once('exit', code => reject(new Error(`ended with ${code}`)))),
  ])
  return { printed, end: () => child.stdin.end() }
}

test('are given once, among several processes that ask for the same ones at once', async () => {
  const holders = [holder(), holder(), holder()]
  try {
    const all = (await Promise.all(holders.map(({ printed }) => printed))).flatMap(line => line.trim().split(' '))
    expect(all).toHaveLength(30)
    expect(new Set(all).size).toBe(30)
  } finally {
    for (const { end } of holders) end()
  }
})

test('are below those of connections', async () => {
  expect(await reservePort()).toBeLessThan(32_768)
})
