// A run of Vitest that is killed leaves nothing: a small run with one program that would go on.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { identify, isAlive } from '../../cluster/processes/identity.ts'

const script = `
import { spawn } from 'node:child_process'
import { setup } from '${join(import.meta.dirname, 'run-folder.ts')}'
let folder
await setup({ provide: (_, value) => void (folder = value) })
const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, env: { TMPDIR: folder + '/ab12cd' } })
child.once('spawn', () => console.log(JSON.stringify({ folder, pid: child.pid })))
`

test.each(['SIGKILL', 'SIGTERM', 'SIGINT'] as const)('after %s nothing of it is left', async signal => {
  const stateFolder = await mkdtemp(join(tmpdir(), 'killed-'))
  onTestFinished(() => rm(stateFolder, { recursive: true, force: true }))
  const run = spawn(process.execPath, ['--input-type=module', '-e', script], {
    env: { ...process.env, SEKISHO_STATE: stateFolder },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void run.kill('SIGKILL'))
  const { folder, pid } = JSON.parse(String(await new Promise(resolve => run.stdout.once('data', resolve))))
  const left = identify(pid)
  expect(left).toBeDefined()
  run.kill(signal)
  await waitUntil('the end of what the run left', async () => (await readdir(join(stateFolder, 'test-runs'))).length === 0)
  expect(existsSync(folder)).toBe(false)
  expect(left !== undefined && isAlive(left)).toBe(false)
})
