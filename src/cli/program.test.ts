import { CommanderError } from 'commander'
import { describe, expect, test } from 'vitest'
import { createProgram } from './program.ts'

async function run(...args: readonly string[]): Promise<{ readonly error: unknown; readonly said: string }> {
  let said = ''
  const keep = (text: string): void => {
    said += `${text}\n`
  }
  const program = createProgram({ result: keep, say: keep })
  const error = await program.parseAsync(['node', 'sekisho', ...args]).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  return { error, said }
}

describe('invalid arguments are refused before any request, with the name of the option and a hint', () => {
  test.each([
    [['audit', 'list', '--limit', '1001'], '--limit', 'from 1 to 1000'],
    [['audit', 'list', '--limit', '1e2'], '--limit', 'from 1 to 1000'],
    [['audit', 'list', '--action', 'token.stolen'], '--action', 'token.delivered'],
    [['audit', 'list', '--namespace', 'Acme'], '--namespace', 'lower-case'],
    [['audit', 'list', '-o', 'yaml'], '--output', 'table, wide, json'],
    [['audit', 'verify', '-o', 'wide'], '--output', 'table, json'],
    [['kubeconfig', '--server', 'http://10.0.0.1'], '--server', 'https URL'],
    [['whoami', 'olivia'], 'whoami', 'too many arguments'],
    [['token', '--frce'], '--frce', 'unknown option'],
    [['lgin'], 'lgin', 'Did you mean'],
  ])('%j', async (args, name, cure) => {
    const { error, said } = await run(...args)
    expect(error).toBeInstanceOf(CommanderError)
    expect(error).not.toMatchObject({ exitCode: 0 })
    expect(said).toContain(name)
    expect(said).toContain(cure)
  })
})

test('help explains the exit codes, and every command has help', async () => {
  const { error, said } = await run('--help')
  expect(error).toMatchObject({ exitCode: 0 })
  expect(said).toContain('4 the audit log does not verify')
  for (const command of [['login'], ['token'], ['logout'], ['whoami'], ['kubeconfig'], ['audit', 'list'], ['audit', 'verify']])
    expect((await run(...command, '--help')).said).toContain('--issuer')
})
