// The previews of pull requests: what there is, approvals of commits of forks, and pauses.
import { type Command, Option } from 'commander'
import { pullRequestNumber, pullRequestNumbers } from '../argument-parsers.ts'
import { dryRunOption, onCluster, outputOption } from './options.ts'
import type { Runners } from './runners.ts'

/** Adds the commands. */
export function addPreviewCommands(program: Command, { onCluster: act }: Runners): void {
  const previews = program.command('previews').description('the previews of pull requests')
  onCluster(previews.command('list', { isDefault: true }))
    .description('list the open pull requests, and what became of the preview of each')
    .argument('[pipeline]', 'only those of this AppPipeline')
    .addOption(outputOption('wide'))
    .action(act(async () => (await import('../commands/previews/previews-list.ts')).previewsList))
  onCluster(previews.command('approve'))
    .description(
      'approve one commit of a pull request from a fork: it is fetched, built and run; needs write access to the repository',
    )
    .argument('<pipeline>', 'the AppPipeline')
    .argument('<number>', 'the number of the pull request', pullRequestNumber)
    .requiredOption('--commit <id>', 'the full id of the commit that you looked at')
    .addOption(new Option('-o, --output <format>', 'the output format').choices(['text', 'json']).default('text'))
    .action(act(async () => (await import('../commands/previews/previews-approve.ts')).previewsApprove))
  onCluster(previews.command('pause'))
    .description('stop previews: they are not built, and nothing of them runs; volumes stay')
    .argument('<pipeline>', 'the AppPipeline')
    .argument('<numbers...>', 'the numbers of the pull requests', pullRequestNumbers)
    .addOption(outputOption('yaml'))
    .addOption(dryRunOption())
    .action(act(async () => (await import('../commands/previews/previews-pause.ts')).previewsPause))
  onCluster(previews.command('resume'))
    .description('start paused previews again')
    .argument('<pipeline>', 'the AppPipeline')
    .argument('<numbers...>', 'the numbers of the pull requests', pullRequestNumbers)
    .addOption(outputOption('yaml'))
    .addOption(dryRunOption())
    .action(act(async () => (await import('../commands/previews/previews-pause.ts')).previewsResume))
}
