// Reading and verifying the audit log.
import { type Command, Option } from 'commander'
import { auditActions } from '../../api/audit/audit-event.ts'
import { auditOutcomes } from '../../api/audit/audit-event-shape.ts'
import { countUpTo, durationSeconds, namespaceName, reasonText, repositoryId } from '../argument-parsers.ts'
import { onPlatform, outputOption } from './options.ts'
import type { Runners } from './runners.ts'

/** Adds the commands. */
export function addAuditCommands(program: Command, { run }: Runners): void {
  const audit = program.command('audit').description('read and verify the audit log')
  onPlatform(audit.command('list'))
    .description('list who did what and why, newest first')
    .option('--namespace <name>', 'only entries of this namespace', namespaceName)
    .addOption(new Option('--action <word>', 'only entries with this action').choices(auditActions))
    .option('--actor <subject>', 'only entries of this actor, such as github|github.com|42')
    .addOption(new Option('--outcome <word>', 'only entries with this outcome').choices(auditOutcomes))
    .option('--object <object>', 'only entries about this object, such as RepositoryGrant/acme/read-shop')
    .option('--repository <id>', 'only entries about tokens that reach the repository with this id on GitHub', repositoryId)
    .option('--since <duration>', 'only entries that are not older, such as 90m or 7d', durationSeconds)
    .option('--limit <count>', 'the maximum number of entries, up to 1000', countUpTo(1000), '50')
    .addOption(outputOption('wide'))
    .action(run(async () => (await import('../commands/audit.ts')).auditList))
  onPlatform(audit.command('verify'))
    .description('download the log and verify on this computer that it was not changed')
    .option('--checkpoint <file>', 'signed checkpoints that you kept: statements, or the exported ConfigMap as JSON')
    .addOption(outputOption())
    .action(run(async () => (await import('../commands/audit-verify.ts')).auditVerify))
  onPlatform(audit.command('acknowledge'))
    .description('for platform admins: record that you examined why entries of the log are missing')
    .requiredOption('--reason <text>', 'what you found, for the log', reasonText)
    .option(
      '--checkpoint <file>',
      'signed checkpoints that you kept: they may prove more missing entries than the platform knows',
    )
    .addOption(outputOption())
    .action(run(async () => (await import('../commands/audit-acknowledge.ts')).auditAcknowledge))
}
