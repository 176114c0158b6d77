// A run that is ended by a signal ends its stage, also when the stage does not get the signal itself.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { identify, isAlive } from '../cluster/processes/identity.ts'

const stage = `
require('node:fs').writeFileSync(process.env.PID_FILE, String(process.pid))
setInterval(() => {}, 1000)
`

const script = `
import { silentProgress } from '${join(import.meta.dirname, '../cluster/progress.ts')}'
import { runStage } from '${join(import.meta.dirname, 'run-stage.ts')}'
const [logFolder] = process.argv.slice(1)
await runStage(
  { title: 'waits', budget: 60, args: ['-e', ${JSON.stringify(stage)}] },
  { repository: logFolder, environment: process.env, logFolder, progress: silentProgress, print: () => {} },
)
console.log('the next stage would start')
`

test.each(['SIGTERM', 'SIGINT'] as const)('after %s the stage has ended, and no other one starts', async signal => {
  const folder = await mkdtemp(join(tmpdir(), 'stages-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const pidFile = join(folder, 'pid')
  const run = spawn(process.execPath, ['--input-type=module', '-e', script, folder], {
    env: { ...process.env, PID_FILE: pidFile },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void run.kill('SIGKILL'))
  const pid = await waitUntil('the stage runs', () => readPid(pidFile))
  const running = identify(pid)
  expect(running).toBeDefined()
  const ended = once(run, 'close')
  run.kill(signal)
  expect(await ended).toEqual([null, signal])
  expect(running !== undefined && isAlive(running)).toBe(false)
})

async function readPid(path: string): Promise<number | undefined> {
  const text = await readFile(path, 'utf8').catch(() => '')
  return text === '' ? undefined : Number(text)
}
