// `sekisho secrets`: the commands on the secret values of applications.
import type { Command } from 'commander'
import { onCluster, outputOption } from './options.ts'
import type { Runners } from './runners.ts'

/** Adds the commands. */
export function addSecretCommands(program: Command, { onCluster: act }: Runners): void {
  const secrets = program
    .command('secrets')
    .description('the secret values of an application: they go in and are shown to nobody')
  onCluster(secrets.command('list'))
    .description('list names, versions and the applications that use them')
    .argument('[application]', 'the name of the Application or AppSecret; without it, all')
    .addOption(outputOption('yaml'))
    .action(act(async () => (await import('../commands/secrets/list.ts')).secretsList))
  onCluster(secrets.command('set'))
    .description('set values and give them to the application as environment variables')
    .argument('<application>', 'the name of the Application; with --no-attach, of any AppSecret')
    .argument('<name[=value]...>', 'KEY asks for the value, KEY=- reads it from standard input, KEY=@file from a file')
    .option('--no-attach', 'only store the values, such as those for builds: do not add them to spec.envFrom of an Application')
    .addOption(outputOption('yaml'))
    .action(act(async () => (await import('../commands/secrets/set.ts')).secretsSet))
  onCluster(secrets.command('unset'))
    .description('remove values')
    .argument('<application>', 'the name of the Application or AppSecret')
    .argument('<name...>', 'such as DATABASE_URL')
    .addOption(outputOption('yaml'))
    .action(act(async () => (await import('../commands/secrets/unset.ts')).secretsUnset))
}
