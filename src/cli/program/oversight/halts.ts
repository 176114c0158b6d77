// A stop that holds: halting access, lifting that, and what is halted.
import { Argument, type Command } from 'commander'
import { reasonText } from '../../argument-parsers.ts'
import { dryRunOption, onCluster, outputOption } from '../options.ts'
import type { Runners } from '../runners.ts'

const targets = ['token', 'grant', 'repository', 'person', 'tenant', 'installation', 'everything']

function onPlatformToo(command: Command): Command {
  return onCluster(command).option('--platform', 'for all tenants, in the namespace sekisho-system: for platform admins')
}

/** Adds the commands. */
export function addHaltCommands(program: Command, { onCluster: act }: Runners): void {
  onPlatformToo(program.command('halt'))
    .description('end access and keep it ended: live tokens are revoked, and new ones are refused until somebody lifts it')
    .addArgument(new Argument('<what>', 'what is halted').choices(targets))
    .argument(
      '[which]',
      'its name or its number on GitHub: acme/shop, 4001, a login, github.com/42, a grant, a tenant, an id or hash of a token',
    )
    .option('--reason <text>', 'why, for the audit log; without it only with --dry-run', reasonText)
    .option('--token-stdin', 'for a token: read the token itself from standard input; only its SHA-256 is sent')
    .option('--scale-to-zero', 'for tenant and everything: also stop the pods of Applications')
    .option('--dry-run', 'say what would end, and end nothing')
    .addOption(outputOption('yaml'))
    .action(act(async () => (await import('../../commands/halts/halts.ts')).haltCommand))
  onPlatformToo(program.command('resume'))
    .description('lift a halt: what it stood in the way of is decided as before')
    .argument('<halt>', 'the name of the Halt, as sekisho halts shows it')
    .requiredOption('--reason <text>', 'why, for the audit log', reasonText)
    .addOption(dryRunOption())
    .addOption(outputOption('yaml'))
    .action(act(async () => (await import('../../commands/halts/halts.ts')).resume))
  onPlatformToo(program.command('halts'))
    .description('list what is halted, by whom, why, and what is left of it')
    .option('-A, --all-namespaces', 'of all tenants')
    .addOption(outputOption('yaml'))
    .action(act(async () => (await import('../../commands/halts/halts.ts')).haltsList))
}
