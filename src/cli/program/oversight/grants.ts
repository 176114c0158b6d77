// Access to repositories that people answer for: which grants there are, which wait, and the answer to one.
import { type Command, Option } from 'commander'
import { durationSeconds, grantSubjects, permissionLevels, reasonText, repositoryNames } from '../../argument-parsers.ts'
import { dryRunOption, onCluster, outputOption } from '../options.ts'
import type { Runners } from '../runners.ts'

/** Of `spec.delivery`; a test compares them with the kind. */
export const deliveryNames = ['TokenEndpoint', 'GitProxy'] as const

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
  onCluster(grants.command('request'))
    .description('request access to repositories for an Application or a ServiceAccount: creates a RepositoryGrant')
    .argument('[name]', 'its name; without it, one from who uses it and the repository')
    .requiredOption('--repository <owner/name>', 'a repository that it reaches; can be repeated', repositoryNames)
    .requiredOption('--permission <name=level>', 'what it allows, such as contents=read; can be repeated', permissionLevels)
    .requiredOption('--for <kind/name>', 'who uses it: Application/web or ServiceAccount/ci; can be repeated', grantSubjects)
    .requiredOption('--reason <text>', 'why, for whoever approves it and the audit log', reasonText)
    .addOption(new Option('--delivery <how>', 'how it is used; without it, TokenEndpoint').choices(deliveryNames))
    .option('--lifetime <duration>', 'how long it is valid after its approval, such as 7d; without it, 30 days', durationSeconds)
    .option('--installation <name>', 'the Installation; without it, the only one of the namespace')
    .option('--wait', 'until it is decided or waits for people, for a minute at most')
    .addOption(dryRunOption())
    .addOption(outputOption('yaml'))
    .action(act(async () => (await import('../../commands/grants/request-grant.ts')).grantsRequest))
  const answering = (name: string): Command =>
    onCluster(grants.command(name))
      .argument(grant, named)
      .requiredOption('--reason <text>', 'why, for the audit log', reasonText)
      .addOption(dryRunOption())
      .addOption(outputOption('yaml'))
  answering('approve')
    .description('as an admin of the tenant: approve a grant that another person requested')
    .requiredOption('--uid <uid>', 'of the grant that you looked at, as sekisho grants explain shows it')
    .option('--for <duration>', 'how long it counts, such as 7d; without it, 30 days', durationSeconds)
    .option('--break-glass', 'as a platform admin, in an emergency: for all who would have to approve, 30m or --for up to 1h')
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
