// Policies of grants: which there are, what they say, and what a new one would change.
import type { Command } from 'commander'
import { onCluster, outputOption } from '../options.ts'
import type { Runners } from '../runners.ts'

/** Adds the commands. */
export function addPolicyCommands(program: Command, { onCluster: act }: Runners): void {
  const policy = program.command('policy').description('which RepositoryGrants may be approved: the rules that people write')
  onCluster(policy.command('list'))
    .description('list the policies of the namespace, and those of the platform for who may read them')
    .option('-A, --all-namespaces', 'of all tenants')
    .addOption(outputOption('yaml'))
    .action(act(async () => (await import('../../commands/policies/policies.ts')).policyList))
  onCluster(policy.command('show'))
    .description('show a policy rule by rule')
    .argument('<policy>', 'the name of the GrantPolicy')
    .option('--platform', 'the ClusterGrantPolicy of that name')
    .addOption(outputOption('yaml'))
    .action(act(async () => (await import('../../commands/policies/policies.ts')).policyShow))
  onCluster(policy.command('test'))
    .description('say which grants a policy would end or allow, before it is written')
    .requiredOption('-f, --filename <file>', 'YAML with GrantPolicies and ClusterGrantPolicies; - is standard input')
    .option('-A, --all-namespaces', 'the grants of all tenants')
    .option('--deleted', 'what the file names, as if it were deleted')
    .option('--since <time>', 'also grants that are gone and that the audit log has since then')
    .addOption(outputOption('yaml'))
    .action(act(async () => (await import('../../commands/policies/policy-test.ts')).policyTest))
}
