// Examples of every command, as data in `examples/`: the end of its `--help`, and docs/reference/cli.md. A test parses each of
// them.
import type { Command } from 'commander'
import { accessExamples } from './examples/access.ts'
import { accountExamples } from './examples/account.ts'
import { applicationExamples } from './examples/application.ts'
import { auditExamples } from './examples/audit.ts'
import { buildExamples } from './examples/builds.ts'
import { createExamples } from './examples/create.ts'
import type { Example } from './examples/example.ts'
import { grantExamples } from './examples/oversight/grants.ts'
import { haltExamples } from './examples/oversight/halts.ts'
import { policyExamples } from './examples/oversight/policies.ts'
import { platformExamples } from './examples/platform.ts'
import { previewExamples } from './examples/previews.ts'
import { secretExamples } from './examples/secrets.ts'
import { serviceExamples } from './examples/services.ts'
import { taskExamples } from './examples/tasks.ts'

/** Command without `sekisho` → its examples, in the order of the commands. */
export const examples: Readonly<Record<string, readonly Example[]>> = {
  ...accountExamples,
  ...createExamples,
  ...applicationExamples,
  ...taskExamples,
  ...secretExamples,
  ...serviceExamples,
  ...buildExamples,
  ...previewExamples,
  ...accessExamples,
  ...haltExamples,
  ...grantExamples,
  ...policyExamples,
  ...auditExamples,
  ...platformExamples,
}

/** `audit list` for the command of that name below `sekisho`. */
export function commandPath(command: Command): string {
  const { parent } = command
  return parent === null || parent.parent === null ? command.name() : `${commandPath(parent)} ${command.name()}`
}

/** The commands that do something, in the order in which help lists them. */
export function leafCommands(command: Command): readonly Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leafCommands)
}

function inHelp({ line, does, kubectl }: Example): string {
  return [`  # ${does}`, `  ${line}`, ...(kubectl === undefined ? [] : [`  # with kubectl: ${kubectl}`])].join('\n')
}

/** Appends the examples of each command to its help. */
export function addExamples(program: Command): void {
  for (const command of leafCommands(program)) {
    command.addHelpText('after', `\nExamples:\n${(examples[commandPath(command)] ?? []).map(inHelp).join('\n')}`)
  }
}
