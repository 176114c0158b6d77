// Who could reach what, and who did; which tokens are live, and whose one is.
import type { Command } from 'commander'
import { namespaceName, tokenHash } from '../../argument-parsers.ts'
import { asProgram, outputOption } from '../options.ts'
import type { Runners } from '../runners.ts'

function withTimes(command: Command): Command {
  return asProgram(command)
    .option('--namespace <name>', 'only what is of this namespace', namespaceName)
    .option('--at <time>', 'at that time: yesterday 14:00, last tuesday 09:30, 3 hours ago, RFC 3339; without any time, now')
    .option('--since <time>', 'within a range, from then on')
    .option('--until <time>', 'within a range, until then; without it, now')
    .addOption(outputOption())
}

/** Adds the commands. */
export function addAccessCommands(program: Command, runners: Runners): void {
  const { runOn } = runners
  const access = program.command('access').description('answer from the audit log who could reach what, and who did')
  withTimes(access.command('repository'))
    .description('who could reach a repository, by which grant and rule, and who did')
    .argument('<repository>', 'owner/name, also a former one, or its id on GitHub')
    .action(runOn(async () => (await import('../../commands/access/access.ts')).accessRepository))
  withTimes(access.command('person'))
    .description('what could be reached in the name of a person, and what was')
    .argument('<person>', 'a login, also a former one, or a subject such as github|github.com|42')
    .action(runOn(async () => (await import('../../commands/access/access.ts')).accessPerson))
  withTimes(access.command('workload'))
    .description('what a ServiceAccount could reach, and what it did')
    .argument('<workload>', 'NAMESPACE/SERVICEACCOUNT')
    .action(runOn(async () => (await import('../../commands/access/access.ts')).accessWorkload))
  addTokens(program, runners)
}

function addTokens(program: Command, { run, runOn }: Runners): void {
  const tokens = program.command('tokens').description('installation tokens: which are live, and whose one is')
  asProgram(tokens.command('list'))
    .description('list the tokens that GitHub may accept now')
    .option('--namespace <name>', 'only those of this namespace', namespaceName)
    .option('--repository <repository>', 'only those that reach this repository: owner/name or its id on GitHub')
    .option('--person <who>', 'only those in the name of this person')
    .addOption(outputOption())
    .action(run(async () => (await import('../../commands/access/tokens.ts')).tokensList))
  asProgram(tokens.command('show'))
    .description('say whose a token is: its grant, person, rule, the pods that received it, and its end')
    .argument('[token]', 'its id, as sekisho tokens list shows it')
    .option('--token-stdin', 'read the token itself from standard input; only its SHA-256 is sent')
    .option('--hash <sha256>', 'its SHA-256 in base64, as hashed_token in the audit log of GitHub', tokenHash)
    .option('--namespace <name>', 'the namespace of its grant, for admins of several tenants', namespaceName)
    .addOption(outputOption())
    .action(runOn(async () => (await import('../../commands/access/tokens.ts')).tokensShow))
}
