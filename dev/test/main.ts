// `make test`: everything that continuous integration runs, in the order in which failures are cheapest to find: checks, unit tests,
// tests against a real API server, then the platform with real pods and the main job. What it brought up it takes down again.
import { spawn } from 'node:child_process'
import { messageOf } from '../../src/lib/errors.ts'
import { down } from '../cluster/down.ts'
import { standardErrorProgress } from '../cluster/progress.ts'
import { readClusterSettings } from '../cluster/settings.ts'
import { clusterStatus } from '../cluster/status.ts'
import { forgetLocalState } from '../up/platform.ts'

const settings = readClusterSettings()
const progress = standardErrorProgress()

function run(title: string, program: string, args: readonly string[]): Promise<void> {
  return progress.step(
    title,
    () =>
      new Promise((resolve, reject) => {
        const child = spawn(program, args, { cwd: settings.repository, stdio: ['ignore', 'inherit', 'inherit'] })
        child.on('error', reject)
        child.on('close', code => (code === 0 ? resolve() : reject(new Error(`${title} failed (exit code ${code})`))))
      }),
  )
}

function vitest(project: string): readonly string[] {
  return ['node_modules/vitest/vitest.mjs', 'run', '--project', project]
}

/** Stages in order; the platform is brought up after the cheap ones have passed. */
const stages: readonly (readonly [string, readonly string[]])[] = [
  ['checks', ['dev/check/main.ts']],
  ['unit tests', vitest('unit')],
  ['integration tests (real API server, real databases)', vitest('integration')],
  ['faults: what goes wrong around us', vitest('faults')],
  ['crash sweep: killed around every write', vitest('sweep')],
  ['platform up', ['dev/up/main.ts', 'up', '--no-demo']],
  ['demo: the main job', ['dev/demo/main.ts']],
  ['end-to-end tests (real pods)', vitest('e2e')],
]

const wasUp = settings.givenKubeconfig !== undefined || (await clusterStatus(settings)).apiServer
let passed = 0
try {
  for (const [title, args] of stages) {
    await run(title, process.execPath, args)
    passed += 1
  }
} catch (error) {
  console.error(`test: ${messageOf(error)}`)
  process.exitCode = 1
}
if (!wasUp) {
  await progress.step('take down what was brought up', () => down({ settings, progress, keepState: false }))
  await forgetLocalState(settings)
}
console.log(`stages: ${passed} passed, ${stages.length - passed} failed`)
