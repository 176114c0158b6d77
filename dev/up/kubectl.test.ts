// Over a program that answers as kubectl does.
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createKubectl } from './kubectl.ts'

/** Says this the first times, and then nothing; counts its calls. */
function kubectlThatSays(...texts: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'sekisho-kubectl-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const [program, calls] = [join(folder, 'kubectl'), join(folder, 'calls')]
  const cases = texts.map((text, at) => `${at + 1}) echo "${text}" >&2; exit 1;;`)
  writeFileSync(program, `#!/bin/sh\necho call >> ${calls}\ncase $(wc -l < ${calls} | tr -d ' ') in\n${cases.join('\n')}\nesac\n`)
  chmodSync(program, 0o755)
  return { ...createKubectl(program, 'none'), calls: () => readFileSync(calls, 'utf8').trim().split('\n').length }
}

const learning =
  'The applicationcharts web is invalid: denied request: failed to configure binding: paramKind kind Halt not yet synced to use for admission'

test('a folder is applied again while the API server learns the parameters of a policy in it', async () => {
  const { applyFolder, calls } = kubectlThatSays(learning, learning)
  await applyFolder('deploy')
  expect(calls()).toBe(3)
})

test('what else is refused is not tried again', async () => {
  const { applyFolder, calls } = kubectlThatSays('Error from server (Forbidden): no')
  await expect(applyFolder('deploy')).rejects.toThrow('Error from server (Forbidden): no')
  expect(calls()).toBe(1)
})
