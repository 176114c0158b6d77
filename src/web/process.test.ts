// Signals, on a real process: the first ends it in order, a second one at once, whichever it is.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

const module = join(import.meta.dirname, 'process.ts')

/** A process whose one part says when it is told to stop, and stops when its standard input ends. */
async function startProcess() {
  const program = `
    import { runUntilStopped } from ${JSON.stringify(module)}
    await runUntilStopped(async stopping => {
      const ended = new Promise(resolve => process.stdin.on('end', resolve).resume())
      stopping(async () => { console.log('stopping'); await ended; console.log('stopped') })
      console.log('runs')
    })`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const exited = once(child, 'exit')
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    said += chunk
  })
  const says = async (word: string): Promise<void> => {
    while (!said.includes(word)) await once(child.stdout, 'data')
  }
  await says('runs')
  return { child, exited, says }
}

test('the first signal stops the parts and waits for them', async () => {
  const { child, exited, says } = await startProcess()
  child.kill('SIGTERM')
  await says('stopping')
  child.stdin.end()
  await says('stopped')
  expect((await exited)[0]).toBe(0)
})

test.each(['SIGTERM', 'SIGINT'] as const)('after a SIGTERM, %s ends the process at once', async second => {
  const { child, exited, says } = await startProcess()
  child.kill('SIGTERM')
  await says('stopping')
  child.kill(second)
  expect((await exited)[0]).toBe(1)
})
