// The commands that only platform admins can use.
import type { Command } from 'commander'
import { countUpTo, onboardingIdText, userSubjectText } from '../../argument-parsers.ts'
import { onPlatform, outputOption } from '../options.ts'
import type { Runners } from '../runners.ts'

/** Adds the commands. */
export function addPlatformCommands(program: Command, { run, runOn }: Runners): void {
  const sessions = program.command('sessions').description('for platform admins: who is signed in, and ending sign-ins')
  onPlatform(sessions.command('list'))
    .description('list who is signed in, on the pages and with programs such as kubectl')
    .addOption(outputOption())
    .action(run(async () => (await import('../../commands/sessions.ts')).sessionsList))
  onPlatform(sessions.command('revoke'))
    .description('end all sign-ins of a person; they can sign in again with GitHub')
    .argument('<user>', 'the person, such as github|github.com|42', userSubjectText)
    .addOption(outputOption())
    .action(runOn(async () => (await import('../../commands/sessions.ts')).sessionsRevoke))

  const keys = program.command('keys').description('for platform admins: the keys that seal what the platform stores')
  onPlatform(keys.command('status'))
    .description('show which keys seal how many values, and whether a former key can be removed')
    .addOption(outputOption())
    .action(run(async () => (await import('../../commands/keys.ts')).keysStatus))
  onPlatform(keys.command('reseal'))
    .description('wait until everything is sealed by the first key: the platform begins with it by itself')
    .option('--dry-run', 'only show what would be sealed again')
    .option('--timeout <seconds>', 'how long to wait, up to 3600 seconds', countUpTo(3600), '600')
    .addOption(outputOption())
    .action(run(async () => (await import('../../commands/keys.ts')).keysReseal))

  const onboardings = program.command('onboardings').description('for platform admins: accounts that wait for an approval')
  onPlatform(onboardings.command('list'))
    .description('list the GitHub accounts whose owners asked for a tenant')
    .addOption(outputOption())
    .action(run(async () => (await import('../../commands/onboardings.ts')).onboardingsList))
  onPlatform(onboardings.command('approve'))
    .description('approve one: its owner is proved again, then the tenant is created')
    .argument('<id>', 'the id that the list shows', onboardingIdText)
    .addOption(outputOption())
    .action(runOn(async () => (await import('../../commands/onboardings.ts')).onboardingsApprove))
  onPlatform(onboardings.command('refuse'))
    .description('refuse one')
    .argument('<id>', 'the id that the list shows', onboardingIdText)
    .option('--reason <text>', 'what its owner reads')
    .addOption(outputOption())
    .action(runOn(async () => (await import('../../commands/onboardings.ts')).onboardingsRefuse))
}
