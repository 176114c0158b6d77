// A process of an Application that runs by a schedule: a CronJob.
// Source: https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/
import { choice, integer, object, optional, text } from '../../schema/schema.ts'
import { nameField, programFields, resourceFields, resourceRules } from './process.ts'

const maxKept = 10

/** One entry of `spec.cron`. */
export const cronField = object(
  {
    name: nameField('The name of the scheduled process.'),
    schedule: text({
      description:
        'When it runs, as five fields (minute, hour, day of month, month, day of week) such as `0 3 * * *`, or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`.',
      max: 100,
      pattern: '^(@(hourly|daily|midnight|weekly|monthly|yearly|annually)|[-0-9A-Za-z*/,?]+( [-0-9A-Za-z*/,?]+){4})$',
    }),
    timeZone: optional(
      text({
        description: 'The time zone of the schedule by its IANA name, such as `Europe/Berlin`. When omitted: `Etc/UTC`.',
        max: 64,
        pattern: '^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+){0,2}$',
      }),
    ),
    ...programFields,
    concurrency: choice(['Allow', 'Forbid', 'Replace'], {
      description:
        'What happens when it is time for a run and the one before has not ended: `Allow` starts another, `Forbid` leaves it out, `Replace` ends the one before.',
      default: 'Forbid',
    }),
    keepSucceeded: integer({
      description: 'How many runs that succeeded are kept, with their logs.',
      min: 0,
      max: maxKept,
      default: 3,
    }),
    keepFailed: integer({
      description: 'How many runs that failed are kept, with their logs.',
      min: 0,
      max: maxKept,
      default: 3,
    }),
    timeoutSeconds: integer({
      description: 'The time after which a run is ended and counts as failed, in seconds.',
      min: 1,
      max: 86_400,
      default: 3600,
    }),
    ...resourceFields,
  },
  {
    description:
      'One process that runs by a schedule and ends. It is started once for each time: it is not repeated when it fails.',
    rules: resourceRules,
  },
)
