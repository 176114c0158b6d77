// `make test`: everything that continuous integration runs, the cheapest stages first: checks, unit tests, tests against a real API server,
// then the platform with real pods. A cluster that it started it stops again; a cluster that ran before stays.
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

/** Title and arguments of each stage, in order; the platform starts only after the cheap ones have passed. */
const stages: readonly (readonly [string, readonly string[]])[] = [
  ['checks', ['dev/check/main.ts']],
  ['unit tests', vitest('unit')],
  ['integration tests (API server, databases)', vitest('integration')],
  ['fault tests (failing GitHub, API server, database and network)', vitest('faults')],
  ['crash tests (controllers killed before and after every write)', vitest('sweep')],
  ['start the platform', ['dev/up/main.ts', 'up', '--no-demo']],
  ['demo', ['dev/demo/main.ts']],
  ['attacks (the short form)', ['dev/attack/main.ts', '--short']],
  ['end-to-end tests (pods)', vitest('e2e')],
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
  await progress.step('stop the platform', () => down({ settings, progress, keepState: false }))
  await forgetLocalState(settings)
}
console.log(`stages: ${passed} passed, ${stages.length - passed} failed`)
