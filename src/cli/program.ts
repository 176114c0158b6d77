// The commands and their flags. The implementation of a command is in `commands/` and is loaded only when that command runs, because kubectl
// starts `sekisho token` for every command.
import { Command, Option } from 'commander'
import { auditActions } from '../api/audit-event.ts'
import { countUpTo, httpsUrl, namespaceName, onboardingIdText, userSubjectText } from './argument-parsers.ts'
import { type CommandContext, withContext } from './commands/context.ts'
import type { CliFlags } from './config.ts'
import { addExamples } from './examples.ts'
import { exitCodes, type Terminal } from './output.ts'

function shared(command: Command): Command {
  return command
    .option('--issuer <url>', 'the URL of the platform, such as https://sekisho.example.com (SEKISHO_ISSUER)')
    .option('--ca-file <file>', 'PEM file with the certificate authority of the platform (SEKISHO_CA_FILE)')
}

function outputOption(...more: readonly 'wide'[]): Option {
  return new Option('-o, --output <format>', 'the output format').choices(['table', ...more, 'json']).default('table')
}

const exitCodeHelp = `
Exit codes: 0 success, ${exitCodes.failed} failure, ${exitCodes.usage} invalid usage, ${exitCodes.signIn} not signed in, ${exitCodes.notVerified} the audit log does not verify.`

/** Turns the function of a command, loaded when the command runs, into an action of commander. */
function runners(terminal: Terminal) {
  const run =
    <O>(load: () => Promise<(context: CommandContext, options: O) => Promise<void>>) =>
    (options: O & CliFlags): Promise<void> =>
      withContext(options, terminal, async context => (await load())(context, options))
  /** For a command with one argument, which it gets as `argument`. */
  const runOn =
    <O>(load: () => Promise<(context: CommandContext, options: O & { readonly argument: string }) => Promise<void>>) =>
    (argument: string, options: O & CliFlags): Promise<void> =>
      withContext(options, terminal, async context => (await load())(context, { ...options, argument }))
  return { run, runOn }
}

/** All commands. Parsing throws commander's own error instead of ending the process. */
export function createProgram(terminal: Terminal): Command {
  const program = new Command('sekisho').description('Sign in to a Sekisho platform, use kubectl there, read its audit log.')
  program.exitOverride().addHelpText('after', exitCodeHelp)
  program.configureOutput({ writeErr: text => terminal.say(text.trimEnd()), writeOut: text => terminal.result(text.trimEnd()) })
  const { run, runOn } = runners(terminal)

  shared(program.command('login'))
    .description('sign in with your browser')
    .option('--device', 'sign in on another device with a code')
    .option('--no-browser', 'do not open a browser: the first line on standard error is the URL to open')
    .option('--print-url-file <file>', 'also write the URL to this file')
    .addOption(outputOption())
    .action(run(async () => (await import('./commands/login.ts')).login))
  shared(program.command('token'))
    .description('print a credential for kubectl, which runs this command as an exec plugin')
    .action(run(async () => (await import('./commands/token.ts')).token))
  shared(program.command('logout'))
    .description('sign out on this computer and at the platform')
    .option('--everywhere', 'end all your sign-ins: in every browser and on every computer')
    .addOption(outputOption())
    .action(run(async () => (await import('./commands/login.ts')).logout))
  shared(program.command('whoami'))
    .description('show who you are on the platform, and your roles')
    .addOption(outputOption('wide'))
    .action(run(async () => (await import('./commands/whoami.ts')).whoami))
  shared(program.command('kubeconfig'))
    .description('write a kubectl context that uses sekisho token')
    .option('--server <url>', 'the URL of the API server; without it, as the platform reports it', httpsUrl)
    .option('--certificate-authority <file>', 'PEM file with the certificate authority of the API server, with --server')
    .option('--namespace <name>', 'the namespace of the context', namespaceName)
    .option('--context <name>', 'the name of the context', 'sekisho')
    .option('--kubeconfig <file>', 'the file to write (KUBECONFIG, ~/.kube/config)')
    .addOption(outputOption())
    .action(run(async () => (await import('./commands/kubeconfig.ts')).kubeconfig))

  const audit = program.command('audit').description('read and verify the audit log')
  shared(audit.command('list'))
    .description('list who did what and why, newest first')
    .option('--namespace <name>', 'only entries of this namespace', namespaceName)
    .addOption(new Option('--action <word>', 'only entries with this action').choices(auditActions))
    .option('--actor <subject>', 'only entries of this actor, such as github|github.com|42')
    .option('--limit <count>', 'the maximum number of entries, up to 1000', countUpTo(1000), '50')
    .addOption(outputOption('wide'))
    .action(run(async () => (await import('./commands/audit.ts')).auditList))
  shared(audit.command('verify'))
    .description('download the log and verify on this computer that it was not changed')
    .option('--checkpoint <file>', 'signed checkpoints that you kept: statements, or the exported ConfigMap as JSON')
    .addOption(outputOption())
    .action(run(async () => (await import('./commands/audit.ts')).auditVerify))
  addPlatformCommands(program, { run, runOn })
  addExamples(program)
  return program
}

/** The commands that only platform admins can use. */
function addPlatformCommands(program: Command, { run, runOn }: ReturnType<typeof runners>): void {
  const sessions = program.command('sessions').description('for platform admins: who is signed in, and ending sign-ins')
  shared(sessions.command('list'))
    .description('list who is signed in, on the pages and with programs such as kubectl')
    .addOption(outputOption())
    .action(run(async () => (await import('./commands/sessions.ts')).sessionsList))
  shared(sessions.command('revoke'))
    .description('end all sign-ins of a person; they can sign in again with GitHub')
    .argument('<user>', 'the person, such as github|github.com|42', userSubjectText)
    .addOption(outputOption())
    .action(runOn(async () => (await import('./commands/sessions.ts')).sessionsRevoke))

  const onboardings = program.command('onboardings').description('for platform admins: accounts that wait for an approval')
  shared(onboardings.command('list'))
    .description('list the GitHub accounts whose owners asked for a tenant')
    .addOption(outputOption())
    .action(run(async () => (await import('./commands/onboardings.ts')).onboardingsList))
  shared(onboardings.command('approve'))
    .description('approve one: its owner is proved again, then the tenant is created')
    .argument('<id>', 'the id that the list shows', onboardingIdText)
    .addOption(outputOption())
    .action(runOn(async () => (await import('./commands/onboardings.ts')).onboardingsApprove))
  shared(onboardings.command('refuse'))
    .description('refuse one')
    .argument('<id>', 'the id that the list shows', onboardingIdText)
    .option('--reason <text>', 'what its owner reads')
    .addOption(outputOption())
    .action(runOn(async () => (await import('./commands/onboardings.ts')).onboardingsRefuse))
}
