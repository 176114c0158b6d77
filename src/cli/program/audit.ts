// Reading and verifying the audit log.
import { type Command, Option } from 'commander'
import { auditActions } from '../../api/audit/audit-event.ts'
import { auditOutcomes } from '../../api/audit/audit-event-shape.ts'
import { auditGroupNames } from '../../api/audit/audit-groups.ts'
import { countUpTo, namespaceName, reasonText } from '../argument-parsers.ts'
import type { VerifyExportOptions } from '../commands/audit/verify-export.ts'
import type { Terminal } from '../output.ts'
import { asProgram, onPlatform, outputOption } from './options.ts'
import type { Runners } from './runners.ts'

const maxListed = 100_000_000
const since = '--since <time>'
const until = '--until <time>'

/** The filters of `list` and `follow`. */
function withFilters(command: Command): Command {
  return asProgram(command)
    .option('--namespace <name>', 'only entries of this namespace', namespaceName)
    .addOption(new Option('--what <group>', 'only entries of this group').choices(auditGroupNames))
    .addOption(new Option('--action <word>', 'only entries with this action').choices(auditActions))
    .option('--actor <who>', 'only what this person or ServiceAccount did: a login or a subject such as github|github.com|42')
    .option('--person <who>', 'only what this person did, or what was done in their name or to them')
    .addOption(new Option('--outcome <word>', 'only entries with this outcome').choices(auditOutcomes))
    .option('--object <object>', 'only entries about this object, such as RepositoryGrant/acme/read-shop')
    .option('--repository <repository>', 'only entries about tokens that reach this repository: owner/name or its id on GitHub')
    .option(since, 'only entries from then on: 7d, yesterday, last tuesday 14:00, 2026-11-24, RFC 3339')
}

const entriesOutput = (...formats: readonly string[]): Option =>
  new Option('-o, --output <format>', 'the output format').choices(formats).default('table')

/** Adds the commands. */
export function addAuditCommands(program: Command, runners: Runners, terminal: Terminal): void {
  const audit = program.command('audit').description('read and verify the audit log')
  addReading(audit, runners)
  addProving(audit, runners, terminal)
}

function addReading(audit: Command, { run, runOn }: Runners): void {
  withFilters(audit.command('list'))
    .description('list who did what and why, newest first')
    .option(until, 'only entries before then')
    .option('--limit <count>', 'the maximum number of entries', countUpTo(maxListed), '50')
    .addOption(entriesOutput('table', 'wide', 'json', 'jsonl'))
    .action(run(async () => (await import('../commands/audit/list.ts')).auditList))
  asProgram(audit.command('show'))
    .description('show one entry in words')
    .argument('<sequence>', 'the number of the entry', countUpTo(999_999_999))
    .option('--namespace <name>', 'the namespace of the entry, for admins of several tenants', namespaceName)
    .addOption(outputOption())
    .action(runOn(async () => (await import('../commands/audit/list.ts')).auditShow))
  withFilters(audit.command('follow'))
    .description('print what is appended from now on, oldest first; goes on where a connection broke')
    .option('--after <sequence>', 'begin after the entry with this number', countUpTo(999_999_999))
    .addOption(entriesOutput('table', 'jsonl'))
    .action(run(async () => (await import('../commands/audit/list.ts')).auditFollow))
  asProgram(audit.command('export'))
    .description('print the log as JSON lines, with what proves it on another computer')
    .option(since, 'only entries from then on')
    .option(until, 'only entries before then, and those up to the next signed checkpoint')
    .action(run(async () => (await import('../commands/audit/export.ts')).auditExport))
}

function addProving(audit: Command, { run }: Runners, terminal: Terminal): void {
  const verifyOnline = run(async () => (await import('../commands/audit/verify.ts')).auditVerify)
  asProgram(audit.command('verify'))
    .description('verify on this computer that the log was not changed: what was appended since the last time, all once a week')
    .option('--all', 'read all entries again')
    .option(
      '--checkpoint <file>',
      'signed checkpoints that you kept: statements, the exported ConfigMap as JSON, or a folder of what a bucket has',
    )
    .option('--export <file>', 'verify this export, and ask nobody')
    .option('--keys <file>', 'with --export: the keys of the platform, as its /oidc/jwks shows them')
    .addOption(outputOption())
    .action(async (options, command) => {
      if (options.export === undefined) return verifyOnline(options, command)
      const { verifyExport } = await import('../commands/audit/verify-export.ts')
      return verifyExport(terminal, options as VerifyExportOptions)
    })
  onPlatform(audit.command('prune'))
    .description('for platform admins: allow the owner of the database to remove the oldest entries')
    .requiredOption(
      '--before <time>',
      'up to the newest kept checkpoint that is older: 400d, 2025-01-01; never younger than 30 days',
    )
    .requiredOption('--reason <text>', 'why, for the log', reasonText)
    .option('--checkpoint <file>', 'more signed checkpoints to choose from, as a folder or bucket has them')
    .option('--confirm', 'allow it; without it, only say what would be removed')
    .addOption(outputOption())
    .action(run(async () => (await import('../commands/audit/prune.ts')).auditPrune))
  onPlatform(audit.command('acknowledge'))
    .description('for platform admins: record that you examined why entries of the log are missing')
    .requiredOption('--reason <text>', 'what you found, for the log', reasonText)
    .option(
      '--checkpoint <file>',
      'signed checkpoints that you kept: they may prove more missing entries than the platform knows',
    )
    .addOption(outputOption())
    .action(run(async () => (await import('../commands/audit/acknowledge.ts')).auditAcknowledge))
}
