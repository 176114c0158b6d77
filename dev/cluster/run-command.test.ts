// A program that is missing is one sentence with the cure.
import { expect, test } from 'vitest'
import { tryCommand } from './run-command.ts'

test('a program that is not installed', async () => {
  await expect(tryCommand('no-such-program', [])).rejects.toThrow(
    'no-such-program is not installed; make doctor shows what this machine lacks, and how to install it',
  )
})

test('a folder that does not exist is not taken for a missing program', async () => {
  await expect(tryCommand('true', [], { folder: '/no/such/folder' })).rejects.toThrow(
    'true failed to start: the folder /no/such/folder does not exist',
  )
})
