// Signals and failures, on a real process: the first signal stops it in order, a second one at once, whichever signal it is.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

const module = join(import.meta.dirname, 'run.ts')

/** A process with `start` as the body of its start function; resolves when it has printed `until`. */
async function startProcess(start: string, until: string) {
  const program = `
    import { runUntilStopped } from ${JSON.stringify(module)}
    const ended = new Promise(resolve => process.stdin.on('end', resolve).resume())
    await runUntilStopped(async onStop => { ${start} })`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: 'pipe' })
  onTestFinished(() => void child.kill('SIGKILL'))
  const exited = once(child, 'exit')
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk
    })
  const prints = async (word: string): Promise<void> => {
    const ended = exited.then(() => 'ended' as const)
    while (!output.includes(word)) {
      const next = await Promise.race([once(child.stdout, 'data'), once(child.stderr, 'data'), ended])
      if (next === 'ended' && !output.includes(word)) throw new Error(`it ended before it printed ${word}: ${output}`)
    }
  }
  await prints(until)
  return { child, exited, prints, output: () => output }
}

/** Its only part stops when standard input ends. */
const running = `
  onStop(async () => { console.log('stopping'); await ended; console.log('stopped') })
  console.log('started')`

test('the first signal stops the parts and waits for them', async () => {
  const { child, exited, prints } = await startProcess(running, 'started')
  child.kill('SIGTERM')
  await prints('stopping')
  child.stdin.end()
  await prints('stopped')
  expect((await exited)[0]).toBe(0)
})

test.each(['SIGTERM', 'SIGINT'] as const)('after a SIGTERM, %s ends the process at once', async second => {
  const { child, exited, prints } = await startProcess(running, 'started')
  child.kill('SIGTERM')
  await prints('stopping')
  child.kill(second)
  expect((await exited)[0]).toBe(1)
})

test('a signal during the start stops what was started, last first, without waiting for the start', async () => {
  const start = `
    onStop(() => console.log('first stopped'))
    onStop(() => console.log('second stopped'))
    console.log('starting')
    await new Promise(() => setInterval(() => {}, 1000))`
  const { child, exited, output } = await startProcess(start, 'starting')
  child.kill('SIGTERM')
  expect((await exited)[0]).toBe(0)
  expect(output()).toBe('starting\nsecond stopped\nfirst stopped\n')
})

test('a failed start stops what was started, also when one part cannot stop, and exits with 1', async () => {
  const start = `
    onStop(() => console.log('first stopped'))
    onStop(() => { throw new Error('cannot stop') })
    throw new Error('cannot start')`
  const { exited, output } = await startProcess(start, 'first stopped')
  expect((await exited)[0]).toBe(1)
  expect(output()).toMatch(/cannot start/)
  expect(output()).toMatch(/cannot stop/)
})
