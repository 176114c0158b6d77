import { readFile } from 'node:fs/promises'
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

test('the guide has a row for every command, with what it is in kubectl or why there is nothing', async () => {
  const guide = await readFile(new URL('../../docs/guide/cli.md', import.meta.url), 'utf8')
  const rows = guide.split('\n').flatMap(line => {
    // A pipe of a command in a cell is written as \\|.
    const [, ours, theirs = ''] = line.split(/(?<!\\)\|/).map(cell => cell.trim())
    if (ours === undefined || !ours.startsWith('`')) return []
    return [...ours.matchAll(/`([^`]+)`/g)].map(([, command = '']) => ({ command, theirs }))
  })
  const isOf = (path: string, command: string): boolean => command === path || command.startsWith(`${path} `)
  for (const path of leafCommands(createProgram(quiet)).map(commandPath)) {
    const found = rows.filter(({ command }) => isOf(path, command))
    expect(found.length, `docs/guide/cli.md: no row for ${path}`).toBeGreaterThan(0)
    for (const { theirs } of found) expect(theirs, path).toMatch(/^`kubectl [^`]+`|^none: ./)
  }
})
