// Commands in pods of their own: once, or with a terminal.
import { type Command, Option } from 'commander'
import { durationSeconds } from '../argument-parsers.ts'
import { dryRunOption, onCluster, outputOption } from './options.ts'
import type { Runners } from './runners.ts'

function asTask(command: Command): Command {
  return command
    .option('--process <name>', 'with the settings of this process; without it, of web')
    .option('--volumes', 'also mount the volumes of the process')
    .addOption(
      new Option('--timeout <duration>', 'end it after this time, such as 10m or 2h')
        .argParser(durationSeconds)
        .default(3600, '1h'),
    )
    .addOption(dryRunOption())
    .addOption(outputOption('yaml'))
}

/** Adds the commands. */
export function addTaskCommands(program: Command, { onCluster: act }: Runners): void {
  asTask(onCluster(program.command('run').passThroughOptions()))
    .description(
      'run a command once, with the image and the environment of an application; its exit code becomes the one of sekisho',
    )
    .argument('<application>', 'the name of the Application')
    .argument('<command...>', 'the command and its arguments: everything after the application belongs to it')
    .option('-i, --interactive', 'pass standard input on, also a terminal; a file or a pipe is passed on without it')
    .option('-t, --tty', 'with a terminal of its own, as for an editor or a console')
    .option('--detach', 'do not wait for its end')
    .action(act(async () => (await import('../commands/run/run.ts')).run))
  asTask(onCluster(program.command('shell')))
    .description('open a shell in a pod of its own, with the image and the environment of an application')
    .argument('[application]', 'the name of the Application; without it, the only one')
    .action(act(async () => (await import('../commands/run/shell.ts')).shell))
}
