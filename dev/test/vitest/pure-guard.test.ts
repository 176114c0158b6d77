// A pure test that reaches outside fails, also when the code that it calls swallows the refusal. This file is a pure one: it does so by a module that
// dev/test/vitest/projects.ts does not list.
import { expect, test } from 'vitest'
import { runCommand } from '../../cluster/run-command.ts'

test.fails('a process', async () => {
  await runCommand(process.execPath, ['--version'])
})

test.fails('a process whose refusal nobody sees', async () => {
  await runCommand(process.execPath, ['--version']).catch(() => {})
})

test('the next test begins anew', () => {
  expect(process.pid).toBeGreaterThan(0)
})
