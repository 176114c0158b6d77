// The commands and their flags. Says what exists; each command's work is in `commands/`, loaded only when it is the one that runs:
// kubectl starts `sekisho token` for every command of its own.
import { Command, Option } from 'commander'
import { auditActions } from '../api/audit-event.ts'
import { countUpTo, httpsUrl, namespaceName } from './argument-parsers.ts'
import type { AuditListOptions, AuditVerifyOptions } from './commands/audit.ts'
import { type CommandContext, withContext } from './commands/context.ts'
import type { KubeconfigOptions } from './commands/kubeconfig.ts'
import type { LoginOptions } from './commands/login.ts'
import type { CliFlags } from './config.ts'
import { addExamples } from './examples.ts'
import { exitCodes, type OutputFormat, type PlainFormat, type Terminal } from './output.ts'

type Shown<F> = { readonly output: F }

function shared(command: Command): Command {
  return command
    .option('--issuer <url>', 'the platform, such as https://sekisho.example.com (SEKISHO_ISSUER)')
    .option('--ca-file <file>', 'PEM file with the authority of its certificate (SEKISHO_CA_FILE)')
}

function outputOption(...more: readonly 'wide'[]): Option {
  return new Option('-o, --output <format>', 'how to show the result').choices(['table', ...more, 'json']).default('table')
}

const exitCodeHelp = `
Exit codes: 0 done, ${exitCodes.failed} failed, ${exitCodes.usage} wrong usage, ${exitCodes.signIn} sign in first, ${exitCodes.notVerified} the audit log does not verify.`

/** Throws commander's own error instead of ending the process. */
export function createProgram(terminal: Terminal): Command {
  const program = new Command('sekisho').description('Sign in to a Sekisho platform, use kubectl there, read its audit log.')
  program.exitOverride().addHelpText('after', exitCodeHelp)
  program.configureOutput({ writeErr: text => terminal.say(text.trimEnd()), writeOut: text => terminal.result(text.trimEnd()) })
  const run =
    <O>(work: (context: CommandContext, options: O) => Promise<void>) =>
    (options: O & CliFlags): Promise<void> =>
      withContext(options, terminal, context => work(context, options))

  shared(program.command('login'))
    .description('sign in; the browser opens once')
    .option('--device', 'sign in on another device with a code')
    .option('--no-browser', 'do not open a browser: the first line on standard error is the address')
    .option('--print-url-file <file>', 'also write the address to this file')
    .addOption(outputOption())
    .action(run<LoginOptions>(async (context, options) => (await import('./commands/login.ts')).login(context, options)))
  shared(program.command('token'))
    .description('print a credential for kubectl (an exec plugin)')
    .action(run(async context => (await import('./commands/token.ts')).token(context)))
  shared(program.command('logout'))
    .description('end the login here and at the platform')
    .addOption(outputOption())
    .action(run<Shown<PlainFormat>>(async (context, options) => (await import('./commands/login.ts')).logout(context, options)))
  shared(program.command('whoami'))
    .description('who the platform takes you for')
    .addOption(outputOption('wide'))
    .action(run<Shown<OutputFormat>>(async (context, options) => (await import('./commands/whoami.ts')).whoami(context, options)))
  shared(program.command('kubeconfig'))
    .description('write a kubectl context that uses sekisho token')
    .option('--server <url>', 'the API server; asked of the platform when absent', httpsUrl)
    .option('--certificate-authority <file>', 'PEM file with the authority of the API server, with --server')
    .option('--namespace <name>', 'the namespace of the context', namespaceName)
    .option('--context <name>', 'the name of the context', 'sekisho')
    .option('--kubeconfig <file>', 'the file to write (KUBECONFIG, ~/.kube/config)')
    .addOption(outputOption())
    .action(
      run<KubeconfigOptions>(async (context, options) => (await import('./commands/kubeconfig.ts')).kubeconfig(context, options)),
    )

  const audit = program.command('audit').description('read and verify the audit log')
  shared(audit.command('list'))
    .description('who did what and why, newest first')
    .option('--namespace <name>', 'only this namespace', namespaceName)
    .addOption(new Option('--action <word>', 'only this action').choices(auditActions))
    .option('--actor <subject>', 'only this actor, such as github|github.com|42')
    .option('--limit <count>', 'at most so many, up to 1000', countUpTo(1000), '50')
    .addOption(outputOption('wide'))
    .action(run<AuditListOptions>(async (context, options) => (await import('./commands/audit.ts')).auditList(context, options)))
  shared(audit.command('verify'))
    .description('download the log and prove on this computer that it was not altered')
    .option('--checkpoint <file>', 'signed checkpoints that were kept outside: statements, or the exported ConfigMap as JSON')
    .addOption(outputOption())
    .action(
      run<AuditVerifyOptions>(async (context, options) => (await import('./commands/audit.ts')).auditVerify(context, options)),
    )
  addExamples(program)
  return program
}
