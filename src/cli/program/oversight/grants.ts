// Access to repositories that people answer for: which grants there are, which wait, and the answer to one.
import type { Command } from 'commander'
import { reasonText } from '../../argument-parsers.ts'
import { dryRunOption, onCluster, outputOption } from '../options.ts'
import type { Runners } from '../runners.ts'

/** Adds the commands. */
export function addGrantCommands(program: Command, { onCluster: act }: Runners): void {
  const grants = program.command('grants').description('access to repositories: what is granted, what waits for approval')
  const grant = '<grant>'
  const named = 'the name of the RepositoryGrant'
  onCluster(grants.command('list'))
    .description('list the RepositoryGrants of the namespace, those that wait for approval first')
    .option('--waiting', 'only those that wait for approval')
    .option('-A, --all-namespaces', 'of all tenants')
    .addOption(outputOption('yaml'))
    .action(act(async () => (await import('../../commands/grants/show-grants.ts')).grantsList))
  onCluster(grants.command('explain'))
    .description('say what a grant gives to whom, who decided so, by which rules, and what it waits for')
    .argument(grant, named)
    .addOption(outputOption('yaml'))
    .action(act(async () => (await import('../../commands/grants/show-grants.ts')).grantsExplain))
  for (const [name, description] of [
    ['approve', 'as an admin of the tenant: approve a grant that another person requested'],
    ['deny', 'as an admin of the tenant: deny a grant, also one that is approved: its tokens end'],
  ] as const)
    onCluster(grants.command(name))
      .description(description)
      .argument(grant, named)
      .requiredOption('--reason <text>', 'why, for the audit log', reasonText)
      .addOption(dryRunOption())
      .addOption(outputOption('yaml'))
      .action(
        act(async () => {
          const { grantsAnswer } = await import('../../commands/grants/answer-grant.ts')
          return grantsAnswer(name)
        }),
      )
  onCluster(grants.command('withdraw'))
    .description('take back your own answer to a grant')
    .argument(grant, named)
    .addOption(dryRunOption())
    .addOption(outputOption('yaml'))
    .action(act(async () => (await import('../../commands/grants/answer-grant.ts')).grantsWithdraw))
}
