// The builds of a namespace and their logs, which the platform keeps: RBAC decides who may read them.
import { type Command, Option } from 'commander'
import { commitStart, countUpTo } from '../argument-parsers.ts'
import { dryRunOption, onCluster, outputOption } from './options.ts'
import type { Runners } from './runners.ts'

/** Adds the commands. */
export function addBuildCommands(program: Command, { onCluster: act }: Runners): void {
  const builds = program.command('builds').description('the builds of a namespace, and their logs')
  onCluster(builds.command('list', { isDefault: true }))
    .description('list the builds, newest first, and those that wait for their turn')
    .option('--remote-sync <name>', 'only builds of this RemoteSync')
    .option('--limit <count>', 'the maximum number of builds, up to 500', countUpTo(500), '20')
    .addOption(outputOption('wide'))
    .action(act(async () => (await import('../commands/builds/builds-list.ts')).buildsList))
  onCluster(builds.command('logs'))
    .description('print the log of a build')
    .argument('<name>', 'a build, or a RemoteSync for its newest build')
    .option('-f, --follow', 'go on until the build ends; the exit code says whether it succeeded')
    .option(
      '--commit <id>',
      'the build of this commit, by its id or the first seven letters of it; with -f also one that is to come',
      commitStart,
    )
    .option('--tail <lines>', 'begin so many lines before the end, up to 10000', countUpTo(10_000))
    .addOption(new Option('-o, --output <format>', 'the output format').choices(['text', 'json']).default('text'))
    .action(act(async () => (await import('../commands/builds/builds-logs.ts')).buildsLogs))
  onCluster(builds.command('retry'))
    .description('build the newest commit again, when its build failed')
    .argument('<remotesync>', 'the name of the RemoteSync')
    .addOption(dryRunOption())
    .addOption(outputOption('yaml'))
    .action(act(async () => (await import('../commands/builds/builds-retry.ts')).buildsRetry))
}
