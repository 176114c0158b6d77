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
  const answering = (name: string): Command =>
    onCluster(grants.command(name))
      .argument(grant, named)
      .requiredOption('--reason <text>', 'why, for the audit log', reasonText)
      .addOption(dryRunOption())
      .addOption(outputOption('yaml'))
  answering('approve')
    .description('as an admin of the tenant: approve a grant that another person requested')
    .requiredOption('--uid <uid>', 'of the grant that you looked at, as sekisho grants explain shows it')
    .action(act(async () => (await import('../../commands/grants/answer-grant.ts')).grantsApprove))
  answering('deny')
    .description('as an admin of the tenant: deny a grant, also one that is approved: its tokens end')
    .action(act(async () => (await import('../../commands/grants/answer-grant.ts')).grantsDeny))
  onCluster(grants.command('withdraw'))
    .description('take back your own answer to a grant')
    .argument(grant, named)
    .addOption(dryRunOption())
    .addOption(outputOption('yaml'))
    .action(act(async () => (await import('../../commands/grants/answer-grant.ts')).grantsWithdraw))
}
