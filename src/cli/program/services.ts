// `sekisho services`: databases and buckets that applications use, from the classes that the platform offers.
import { type Command, Option } from 'commander'
import { extensionNames, variableKeys } from '../argument-parsers.ts'
import { dryRunOption, onCluster, outputOption } from './options.ts'
import type { Runners } from './runners.ts'

/** Of an entry of `spec.services` and of a ServiceBinding; a test compares them with the kind. */
export const accessNames = ['ReadWrite', 'ReadOnly', 'WriteOnly'] as const
/** Of `spec.whenDeleted`; the same. */
export const whenDeletedNames = ['Keep', 'Delete'] as const

const named = 'the name of the service'
const application = 'the name of the Application'

/** Adds the commands. */
export function addServiceCommands(program: Command, runners: Runners): void {
  const services = program
    .command('services')
    .description('databases and buckets that applications use: the platform makes them and their credentials, which nobody sees')
  addOwnCommands(services, runners)
  addUseCommands(services, runners)
}

function addOwnCommands(services: Command, { onCluster: act }: Runners): void {
  onCluster(services.command('classes'))
    .description('list what the platform offers, in which plans, and whether your tenant may have it')
    .argument('[class]', 'the name of a ServiceClass, for its plans and extensions; without it, all')
    .addOption(outputOption('yaml'))
    .action(act(async () => (await import('../commands/services/classes.ts')).servicesClasses))
  onCluster(services.command('create'))
    .description('make a service: a database or a bucket, by the type of the class')
    .argument('<name>', 'its name')
    .option('--class <class>', 'the ServiceClass; without it, the only one, or the only one of databases')
    .option('--plan <plan>', 'its size; without it, the default plan of the class')
    .option('--extension <name>', 'an extension of PostgreSQL, of those that the class allows; can be repeated', extensionNames)
    .addOption(
      new Option('--when-deleted <what>', 'whether the data stay when it is deleted; without it, Keep').choices(whenDeletedNames),
    )
    .option('--wait', 'until it can be used, for a minute at most')
    .addOption(dryRunOption())
    .addOption(outputOption('yaml'))
    .action(act(async () => (await import('../commands/services/create.ts')).servicesCreate))
  onCluster(services.command('list'))
    .description('list the services of the namespace, how much of their plans they use, and who uses them')
    .addOption(outputOption('yaml'))
    .action(act(async () => (await import('../commands/services/show.ts')).servicesList))
  onCluster(services.command('info'))
    .description('show one: its use against its plan, who uses it, and its credentials with their ages')
    .argument('<service>', named)
    .addOption(outputOption('yaml'))
    .action(act(async () => (await import('../commands/services/show.ts')).servicesInfo))
  onCluster(services.command('delete'))
    .description('delete one that nothing uses; whether its data stay is said')
    .argument('<service>', named)
    .option('--delete-data', 'where whenDeleted is Delete: yes, the data are to be gone for good')
    .option('--wait', 'until it is gone, for a minute at most')
    .addOption(dryRunOption())
    .addOption(outputOption('yaml'))
    .action(act(async () => (await import('../commands/services/delete.ts')).servicesDelete))
}

function addUseCommands(services: Command, { onCluster: act }: Runners): void {
  onCluster(services.command('attach'))
    .description('give a service to an application: its processes get the credential as variables, or as files')
    .argument('<service>', named)
    .argument('<application>', application)
    .option('--name <entry>', 'the name of the entry in spec.services; without it, that of the service')
    .addOption(
      new Option('--access <access>', 'what the credential can do; without it, ReadWrite; WriteOnly is for buckets').choices(
        accessNames,
      ),
    )
    .option('--prefix <prefix>', 'of a bucket: only objects whose names begin with it, such as inbox/')
    .option(
      '--env <variable=key>',
      'a variable instead of DATABASE_URL, or those of a bucket, such as PGHOST=host; can be repeated',
      variableKeys,
    )
    .option('--files', 'also as files in $SERVICE_BINDING_ROOT/<entry>')
    .option('--no-files', 'not as files any more')
    .option('--wait', 'until the credential is delivered, for a minute at most')
    .addOption(dryRunOption())
    .addOption(outputOption('yaml'))
    .action(act(async () => (await import('../commands/services/attach.ts')).servicesAttach))
  onCluster(services.command('detach'))
    .description('take a service from an application; its credential ends with the last pod that has it')
    .argument('<service>', named)
    .argument('<application>', application)
    .option('--name <entry>', 'only this entry of spec.services')
    .addOption(dryRunOption())
    .addOption(outputOption('yaml'))
    .action(act(async () => (await import('../commands/services/attach.ts')).servicesDetach))
  onCluster(services.command('rotate'))
    .description('replace the credentials of a service now, and wait until the new ones are delivered')
    .argument('<service>', named)
    .option('--application <name>', 'only those of this Application')
    .option('--no-wait', 'only ask for it')
    .addOption(dryRunOption())
    .addOption(outputOption('yaml'))
    .action(act(async () => (await import('../commands/services/rotate.ts')).servicesRotate))
}
