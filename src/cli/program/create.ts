// Making applications: of a repository, and from the files of another platform.
import type { Command } from 'commander'
import { namespaceName } from '../argument-parsers.ts'
import type { Terminal } from '../output.ts'
import { dryRunOption, onCluster, outputOption } from './options.ts'
import type { Runners } from './runners.ts'

/** Adds the commands. */
export function addCreateCommands(program: Command, { onCluster: act }: Runners, terminal: Terminal): void {
  onCluster(program.command('create'))
    .description('make the application of a repository: an Application, and the RemoteSync that builds its image')
    .argument('[application]', 'its name; without it, that of the repository')
    .requiredOption('--repository <owner/name>', 'the repository on GitHub, such as acme/shop')
    .option('--branch <name>', 'the branch to build; without it, the default branch of the repository')
    .option('--path <folder>', 'the folder of the repository that is built, such as apps/shop')
    .option('--dockerfile <file>', 'build this Dockerfile; without it, buildpacks find out what is needed')
    .option('--installation <name>', 'the Installation; without it, that of the owner of the repository')
    .addOption(dryRunOption())
    .addOption(outputOption('yaml'))
    .action(act(async () => (await import('../commands/create/create.ts')).create))
  program
    .command('init')
    .description('write the manifests of an application from app.json, Procfile, compose file or Dockerfile of a folder')
    .argument('[folder]', 'the folder; without it, this one')
    .option('--repository <owner/name>', 'the repository on GitHub; without it, that of the remote origin of the folder')
    .option('--name <name>', 'the name of the application; without it, as in app.json or that of the repository')
    .option('--installation <name>', 'the Installation: kubectl get installations shows it', 'github')
    .option('-n, --namespace <name>', 'the namespace to write down; without it, none', namespaceName)
    .option('--file <name>', 'the file to write in the folder', 'sekisho.yaml')
    .addOption(outputOption())
    .action(async (folder, options) => (await import('../commands/create/init.ts')).init(terminal, options, folder))
}
