import { expect, test } from 'vitest'
import { commandPath, examples, leafCommands } from './examples.ts'
import { createProgram } from './program.ts'

const quiet = { result: () => {}, say: () => {} }

test('every command has examples, and no others exist', () => {
  expect(Object.keys(examples)).toEqual(leafCommands(createProgram(quiet)).map(commandPath))
})

test.each(Object.entries(examples).flatMap(([path, all]) => all.map(({ line }) => [line, path] as const)))(
  '%s is accepted',
  async (line, path) => {
    const program = createProgram(quiet)
    const ran: string[] = []
    for (const command of leafCommands(program)) command.action(() => void ran.push(commandPath(command)))
    const [name, ...words] = line.split(' ').map(word => word.replaceAll("'", ''))
    await program.parseAsync(words, { from: 'user' })
    expect([name, ...ran]).toEqual(['sekisho', path])
  },
)
