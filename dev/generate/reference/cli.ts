// docs/reference/cli.md: every command of `sekisho`, from the program object that parses the arguments.
import type { Argument, Command, Option } from 'commander'
import type { Example } from '../../../src/cli/examples/example.ts'
import { commandPath, examples, leafCommands } from '../../../src/cli/examples.ts'
import { createProgram } from '../../../src/cli/program.ts'
import { code, page, table } from '../markdown.ts'

function defaultOf({ defaultValue, defaultValueDescription }: Option): string {
  const shown: unknown = defaultValueDescription ?? defaultValue
  return typeof shown === 'string' ? code(shown) : ''
}

function optionRow(option: Option): readonly string[] {
  const { flags, description, argChoices = [] } = option
  const choices = argChoices.length === 0 ? '' : `: ${argChoices.map(code).join(', ')}`
  return [code(flags), `${description}${choices}`, defaultOf(option)]
}

function argumentRow(argument: Argument): readonly string[] {
  return [code(argument.name()), argument.required ? 'yes' : '', argument.description]
}

function exampleLines({ does, line, kubectl }: Example): readonly string[] {
  return [`# ${does}`, line, ...(kubectl === undefined ? [] : [`# with kubectl: ${kubectl}`])]
}

function exampleBlock(command: Command): string {
  const found = examples[commandPath(command)]
  if (found === undefined) throw new Error(`sekisho ${commandPath(command)} has no example: add one to src/cli/examples.ts`)
  return ['```sh', ...found.flatMap(exampleLines), '```'].join('\n')
}

function commandSection(command: Command): string {
  const usage = `sekisho ${commandPath(command)} ${command.usage()}`.trim()
  return [
    `## sekisho ${commandPath(command)}`,
    `${command.description().replace(/^./, first => first.toUpperCase())}.`,
    `\`\`\`text\n${usage}\n\`\`\``,
    table(['Argument', 'Required', 'Description'], command.registeredArguments.map(argumentRow)),
    table(['Option', 'Description', 'Default'], command.options.map(optionRow)),
    exampleBlock(command),
  ]
    .filter(part => part !== '')
    .join('\n\n')
}

/** The page as Markdown. Throws when a command has no example. */
export function cliPage(): string {
  const program = createProgram({ result: () => {}, say: () => {} })
  const commands = leafCommands(program)
  return page({
    title: 'Command line',
    subject: 'This page lists the commands of `sekisho` with their arguments, options and examples.',
    source: '`src/cli`',
    sections: [
      program.description(),
      'Results go to standard output, everything else to standard error. Options take precedence over environment variables, which take precedence over what `sekisho login` remembered. Exit codes are in [errors.md](errors.md#exit-codes-of-sekisho), environment variables in [environment.md](environment.md#command-line). `--help` shows the help of each command.',
      table(
        ['Command', 'What it does'],
        commands.map(command => {
          const path = commandPath(command)
          return [`[${path}](#sekisho-${path.replaceAll(' ', '-')})`, command.description()]
        }),
      ),
      ...commands.map(commandSection),
    ],
  })
}
