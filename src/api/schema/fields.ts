// Fields that several kinds share, each with its description, bounds and pattern. Data only: what the values mean for a
// decision is policy.
import { bytes, cores } from './quantity.ts'
import { choice, integer, list, map, object, optional, text } from './schema.ts'

/** RFC 1123 label: the name of a Kubernetes object that must also be a DNS label. */
export const dnsLabel = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$'
/** The form of the names of most objects. */
export const dnsSubdomain = '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$'

/**
 * A host name of at least two labels in lower case (RFC 1123), none longer than 63 characters (RFC 1035 §2.3.4). The last label
 * begins with a letter, so that no IP address matches; there is no wildcard and no trailing dot.
 */
export const hostName = '^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?[.])+[a-z]([-a-z0-9]{0,61}[a-z0-9])?$'

/**
 * GitHub names: an account login, a slash, a repository name. Logins of Enterprise Managed Users end with `_` and the
 * enterprise's short code.
 */
export const repositoryName = '^[A-Za-z0-9]([A-Za-z0-9_-]{0,38})/[A-Za-z0-9._-]{1,100}$'

/** The name of an object in the same namespace. */
export const objectName = (description: string) => text({ description, max: 63, pattern: dnsLabel })

/** GitHub's ids are positive integers. They never change, whereas logins, slugs and names do. */
export const numericId = (description: string) => integer({ description, min: 1, max: Number.MAX_SAFE_INTEGER })

/** A point in time as RFC 3339 text. */
export const timestamp = (description: string) => text({ description, max: 64, format: 'date-time' })

/** A full commit id, SHA-1 or SHA-256. */
export const commitId = (description: string) => text({ description, max: 64, pattern: '^[0-9a-f]{40}([0-9a-f]{24})?$' })

/** What a controller has acted on; `wakeAnnotation` in names.ts. */
export const observedWakeField = optional(
  text({
    description:
      'The value of the annotation `sekisho.dev/wake` at the last check. A webhook changes the annotation, which causes a new check.',
    max: 512,
  }),
)

/** Name and value of environment variables, as lists of `{name, value}` with unique names. */
export const environmentField = (description: string, max: number) =>
  list(
    object(
      {
        name: text({ description: 'The name, such as `LOG_LEVEL`.', max: 256, pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }),
        value: text({
          description: 'The value. Do not put secrets here: everybody who can read this object can read it.',
          min: 0,
          max: 4096,
        }),
      },
      { description: 'One environment variable.' },
    ),
    { description, max, unique: ['name'] },
  )

/**
 * Where the Dockerfile of a repository is, and what it is built with. A build argument of BuildKit's own could replace the
 * frontend.
 */
export const dockerfileField = object(
  {
    path: text({
      description:
        'The path of the Dockerfile, from the folder of the application (`subPath`, or the root of the repository). Files that it copies are below the same folder.',
      max: 512,
      pattern: '^[^/, ]([^,\\n]*[^, ])?$',
      default: 'Dockerfile',
    }),
    args: optional(
      list(
        object(
          {
            name: text({ description: 'The name, as `ARG` declares it.', max: 256, pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }),
            value: text({
              description: 'The value. It stays in the history of the image: do not put secrets here.',
              min: 0,
              max: 4096,
            }),
          },
          {
            description: 'One build argument.',
            rules: [
              {
                rule: "!self.name.startsWith('BUILDKIT_')",
                message: 'build arguments that begin with BUILDKIT_ change the builder itself and cannot be set',
                fieldPath: '.name',
              },
            ],
          },
        ),
        { description: 'The values of `ARG` in the Dockerfile.', max: 50, unique: ['name'] },
      ),
    ),
    target: optional(
      text({
        description: 'The stage to build, as `FROM … AS` names it. The last one when omitted.',
        max: 128,
        pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]*$',
      }),
    ),
  },
  {
    description: 'For strategy Dockerfile.',
    rules: [
      { rule: "!self.path.split('/').exists(p, p == '..')", message: 'path must stay inside the repository', fieldPath: '.path' },
    ],
  },
)

/** What one build may use. What is omitted is the platform's default; the platform's maximum is checked by its controllers. */
export const buildResourcesField = object(
  {
    cpu: optional(
      cores({
        description:
          'The CPU time that is reserved for the build, in cores: `500m` is half a core. The build may use more when the node is idle.',
      }),
    ),
    memory: optional(
      bytes({
        description:
          'The memory that the build may use, such as `2Gi`. It is reserved, too. A build that uses more is ended and fails (exit code 137).',
      }),
    ),
    ephemeralStorage: optional(
      bytes({
        description: 'The disk space that the build may use, such as `20Gi`. A build that uses more is ended and fails.',
      }),
    ),
  },
  { description: 'What one build may use. The platform has defaults, and a maximum for each.' },
)

/** Ids are unique per host only, so every id is used together with its host. */
export const hostField = text({
  description:
    'The GitHub host: `github.com`, or the host name of a GitHub Enterprise Server such as `github.example.com`. Numeric ids are unique per host only.',
  max: 253,
  pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?(:[0-9]{1,5})?$',
})

/** Host and id identify the account; login and type are for display and for the checks of the proof. */
export const accountField = object(
  {
    host: hostField,
    id: numericId('The numeric id of the account on GitHub. It identifies the account: unlike the login, it never changes.'),
    login: text({
      description:
        'The login of the account, for display only: GitHub accounts can be renamed, and another account can take the old login.',
      max: 100,
    }),
    type: choice(['Organization', 'User'], { description: 'Whether the account is an organization or a person.' }),
  },
  { description: 'The GitHub account, an organization or a person.' },
)

/** `userSubject` in names.ts spells it. Admission fills it in and refuses any other value. */
export const requestedByField = text({
  description:
    'The user who makes the request, as `github|<host>|<numeric user id>`, such as `github|github.com|42`. Omit this field: admission fills it in with the user who creates or changes the object, and refuses any other value. The platform checks on GitHub that this user has the requested access.',
  max: 512,
})

/** A rule of a kind whose names become parts of other names, or labels. */
export const nameIsLabel = {
  rule: `self.metadata.name.size() <= 63 && self.metadata.name.matches('${dnsLabel}')`,
  message: 'metadata.name must be a DNS label of at most 63 characters',
} as const

/** The levels of GitHub App permissions, lowest first; `src/policy/permission-level.ts` compares them. */
export const permissionLevels = ['read', 'write', 'admin'] as const
export type PermissionLevel = (typeof permissionLevels)[number]

/** GitHub's own words. Not every permission has every level: `levelsOf` in `src/policy/permission-level.ts`. */
export const permissionLevel = choice(permissionLevels, {
  description: 'The level of access: `read`, `write` or `admin`. GitHub does not offer every level for every permission.',
})

/** Permission → level as GitHub reports them, which may be a level that we do not know yet. */
export const reportedPermissions = (description: string) =>
  map(text({ description: 'The level of access, such as `read`.', max: 16 }), { description, max: 100 })
