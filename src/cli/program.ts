// The program `sekisho`: its commands, their help and exit codes. The flags of the commands are in `program/`, their
// implementations in `commands/`, which are loaded only when a command runs.
import { Command } from 'commander'
import { addExamples } from './examples.ts'
import { exitCodes, type Terminal } from './output.ts'
import { addAccountCommands, version } from './program/account.ts'
import { addApplicationCommands } from './program/application.ts'
import { addAuditCommands } from './program/audit.ts'
import { addBuildCommands } from './program/builds.ts'
import { addCreateCommands } from './program/create.ts'
import { onCluster } from './program/options.ts'
import { addAccessCommands } from './program/oversight/access.ts'
import { addGrantCommands } from './program/oversight/grants.ts'
import { addHaltCommands } from './program/oversight/halts.ts'
import { addPlatformCommands } from './program/oversight/platform.ts'
import { addPolicyCommands } from './program/oversight/policies.ts'
import { addPreviewCommands } from './program/previews.ts'
import { createRunners } from './program/runners.ts'
import { addSecretCommands } from './program/secrets.ts'
import { addServiceCommands } from './program/services.ts'
import { addTaskCommands } from './program/tasks.ts'
import { explainUnknownCommands } from './program/unknown-command.ts'

const exitCodeHelp = `
Exit codes: 0 success, ${exitCodes.failed} failure, ${exitCodes.usage} invalid usage, ${exitCodes.signIn} not signed in, ${exitCodes.notVerified} the audit log does not verify, ${exitCodes.truncated} it verifies, but entries at its end are missing, ${exitCodes.buildFailed} the build whose log was followed did not succeed.`

/** All commands. Parsing throws commander's own error instead of ending the process. */
export function createProgram(terminal: Terminal): Command {
  const program = new Command('sekisho')
    .description('Sign in to a Sekisho platform, run applications there, read its audit log.')
    .version(`sekisho ${version}`, '--version', 'print the version')
  // Options before a command are those of the program; what follows the application of `run` is not ours.
  program.enablePositionalOptions().exitOverride().addHelpText('after', exitCodeHelp)
  program.configureOutput({ writeErr: text => terminal.say(text.trimEnd()), writeOut: text => terminal.result(text.trimEnd()) })
  onCluster(program)
  const runners = createRunners(terminal)
  addAccountCommands(program, runners, terminal)
  addCreateCommands(program, runners, terminal)
  addApplicationCommands(program, runners)
  addTaskCommands(program, runners)
  addSecretCommands(program, runners)
  addServiceCommands(program, runners)
  addBuildCommands(program, runners)
  addPreviewCommands(program, runners)
  addAccessCommands(program, runners)
  addHaltCommands(program, runners)
  addGrantCommands(program, runners)
  addPolicyCommands(program, runners)
  addAuditCommands(program, runners, terminal)
  addPlatformCommands(program, runners)
  addExamples(program)
  explainUnknownCommands(program)
  return program
}
