import { type Command, CommanderError } from 'commander'
import { describe, expect, test } from 'vitest'
import { commandIn } from './commands/run/run.ts'
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
    [['audit', 'list', '--limit', '100000001'], '--limit', 'from 1 to 100000000'],
    [['audit', 'list', '--limit', '1e2'], '--limit', 'from 1 to 100000000'],
    [['audit', 'list', '--action', 'token.stolen'], '--action', 'token.delivered'],
    [['audit', 'list', '--namespace', 'Acme'], '--namespace', 'lower-case'],
    [['audit', 'list', '-o', 'yaml'], '--output', 'table, wide, json, jsonl'],
    [['audit', 'verify', '-o', 'wide'], '--output', 'table, json'],
    [['kubeconfig', '--server', 'http://10.0.0.1'], '--server', 'https URL'],
    [['whoami', 'olivia'], 'whoami', 'too many arguments'],
    [['token', '--frce'], '--frce', 'unknown option'],
    [['lgin'], 'lgin', 'did you mean login?'],
    [['exec', 'shop', 'sh'], 'exec', 'sekisho shell'],
    [['config:set', 'A=b'], 'config:set', 'sekisho env set'],
    [['domains'], 'domains', 'coming-from.md'],
    [['scale', 'shop'], 'process=count', 'missing'],
    [['builds', 'logs', 'shop', '--commit', 'main'], '--commit', 'git rev-parse HEAD'],
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

test('what programs may ask has the option for the token of a ServiceAccount, with the same words everywhere, and nothing else has it', () => {
  const options = (command: Command): readonly (readonly [string, string])[] => [
    ...command.options.flatMap(one => (one.long === '--token-file' ? [[pathOf(command), one.description] as const] : [])),
    ...command.commands.flatMap(options),
  ]
  const found = options(createProgram({ result: () => {}, say: () => {} }))
  expect(new Set(found.map(([, description]) => description)).size).toBe(1)
  const audit = ['list', 'show', 'follow', 'export', 'verify'].map(name => `audit ${name}`)
  const access = ['repository', 'person', 'workload'].map(name => `access ${name}`)
  expect(found.map(([path]) => path).sort()).toEqual([...audit, ...access, 'tokens list', 'tokens show'].sort())
})

/** Without the name of the program. */
function pathOf(command: Command): string {
  return command.parent === null ? '' : `${pathOf(command.parent)} ${command.name()}`.trim()
}

test('the version is printed as an option and as a command', async () => {
  for (const word of ['--version', 'version']) expect((await run(word)).said).toMatch(/^sekisho \d+\.\d+\.\d+/)
})

describe('everything after the application of run belongs to the command', () => {
  test.each([
    [
      ['run', 'shop', 'node', '--version'],
      ['node', '--version'],
    ],
    [
      ['run', 'shop', 'npm', '-n', 'x', 'run', '--help'],
      ['npm', '-n', 'x', 'run', '--help'],
    ],
    [
      ['run', 'shop', 'node', '-e', '1'],
      ['node', '-e', '1'],
    ],
    [
      ['run', 'shop', '--', 'node', '-e', '1', '--', '2'],
      ['node', '-e', '1', '--', '2'],
    ],
    [
      ['run', '-it', '--process', 'worker', 'shop', 'bash', '-l'],
      ['bash', '-l'],
    ],
    [
      ['-n', 'globex', 'run', 'shop', 'a', '-n', 'b'],
      ['a', '-n', 'b'],
    ],
  ])('%j', async (args, command) => {
    const program = createProgram({ result: () => {}, say: () => {} })
    let words: readonly string[] = []
    const run = program.commands.find(one => one.name() === 'run')
    run?.action((_name: string, given: readonly string[]) => {
      words = commandIn(given)
    })
    await program.parseAsync(['node', 'sekisho', ...args])
    expect(words).toEqual(command)
  })

  test('an option of run after the application is refused, with the place where it belongs', () => {
    expect(() => commandIn(['--detach', '--', 'node'])).toThrow('write options of sekisho run before the application')
    expect(() => commandIn(['--'])).toThrow('name the command')
  })
})
