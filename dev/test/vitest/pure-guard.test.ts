// A pure test that reaches outside fails, also when the code that it calls swallows the refusal. This file is a pure one: it
// does so by a module that dev/test/vitest/projects.ts does not list.
import { expect, test } from 'vitest'
import { runProgram } from '../../images/buildpacks/shared/run-program.ts'

const start = (): void => runProgram({ command: [process.execPath, '--version'], folder: '.', environment: {} })

test.fails('a process', () => {
  start()
})

test.fails('a process whose refusal nobody sees', () => {
  try {
    start()
  } catch {
    // As code that swallows it.
  }
})

test('the next test begins anew', () => {
  expect(process.pid).toBeGreaterThan(0)
})
