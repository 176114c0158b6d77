// What of a template the code of a stranger may see. Data only: `src/controllers/app-pipeline/preview/fork.ts` leaves out the
// rest.
import { objectName } from '../../schema/fields.ts'
import { list, object, optional, text } from '../../schema/schema.ts'

/** `spec.template.public`. */
export const publicField = object(
  {
    env: optional(
      list(text({ description: 'The name of a variable.', max: 256, pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }), {
        description:
          'The variables of `application.env` and of `build.env`, and the arguments of `build.dockerfile.args`, that previews of forks get, wherever their values come from. All others are left out.',
        max: 200,
        unique: 'set',
      }),
    ),
    secrets: optional(
      list(objectName('The name of an AppSecret.'), {
        description:
          'The AppSecrets of `application.envFrom` that previews of forks get where they run; builds of forks get none. Everybody whose pull request is approved can read their values.',
        max: 20,
        unique: 'set',
      }),
    ),
    services: optional(
      list(objectName('The name of an entry of `application.services`.'), {
        description:
          'The entries of `application.services` that previews of forks get, where the ServiceClass is offered to isolated Applications. Everybody whose pull request is approved can do with the service what its credential can: with one that all previews share, unless the entry has one of its own in `template.services`.',
        max: 16,
        unique: 'set',
      }),
    ),
    configMaps: optional(
      list(objectName('The name of a ConfigMap.'), {
        description: 'The ConfigMaps of `application.envFrom` that previews of forks get.',
        max: 20,
        unique: 'set',
      }),
    ),
  },
  {
    description:
      'What is not secret, so that previews of forks may have it. When omitted, they get no environment of the template and no AppSecret, neither where they are built nor where they run.',
  },
)
