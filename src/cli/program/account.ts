// Signing in and out, and what the platform says about the person.
import { Argument, type Command } from 'commander'
import manifest from '../../../package.json' with { type: 'json' }
import { httpsUrl, namespaceName } from '../argument-parsers.ts'
import type { Shell } from '../completion/completion-script.ts'
import type { Terminal } from '../output.ts'
import { onPlatform, outputOption } from './options.ts'
import type { Runners } from './runners.ts'

/** The version of the command line, which is the one of the package. */
export const version: string = manifest.version

const shells: readonly Shell[] = ['bash', 'zsh', 'fish']

/** Adds the commands. */
export function addAccountCommands(program: Command, { run }: Runners, terminal: Terminal): void {
  onPlatform(program.command('login'))
    .description('sign in with your browser')
    .option('--device', 'sign in on another device with a code')
    .option('--no-browser', 'do not open a browser: the first line on standard error is the URL to open')
    .option('--print-url-file <file>', 'also write the URL to this file')
    .addOption(outputOption())
    .action(run(async () => (await import('../commands/login.ts')).login))
  onPlatform(program.command('token'))
    .description('print a credential for kubectl, which runs this command as an exec plugin')
    .action(run(async () => (await import('../commands/token.ts')).token))
  onPlatform(program.command('logout'))
    .description('sign out on this computer and at the platform')
    .option('--everywhere', 'end all your sign-ins: in every browser and on every computer')
    .addOption(outputOption())
    .action(run(async () => (await import('../commands/login.ts')).logout))
  onPlatform(program.command('whoami'))
    .description('show who you are on the platform, and your roles')
    .addOption(outputOption('wide'))
    .action(run(async () => (await import('../commands/whoami.ts')).whoami))
  onPlatform(program.command('kubeconfig'))
    .description('write a kubectl context that uses sekisho token, with the namespace of your tenant')
    .option('--server <url>', 'the URL of the API server; without it, as the platform reports it', httpsUrl)
    .option('--certificate-authority <file>', 'PEM file with the certificate authority of the API server, with --server')
    .option('--namespace <name>', 'the namespace of the context; without it, the one of your only tenant', namespaceName)
    .option('--context <name>', 'the name of the context', 'sekisho')
    .option('--kubeconfig <file>', 'the file to write (KUBECONFIG, ~/.kube/config)')
    .addOption(outputOption())
    .action(run(async () => (await import('../commands/kubeconfig.ts')).kubeconfig))
  program
    .command('completion')
    .description('print the completion of commands, options and names for a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .action(async (shell: Shell) => {
      const { completionScript } = await import('../completion/completion-script.ts')
      terminal.result(completionScript(program, shell))
    })
  program
    .command('version')
    .description('print the version')
    .action(() => terminal.result(`sekisho ${version}`))
}
