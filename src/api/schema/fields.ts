// Fields that several kinds share, each with its bounds and its reason.
import { choice, integer, object, text } from './schema.ts'

/** RFC 1123 label: the name of a Kubernetes object that must also be a DNS label. */
export const dnsLabel = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$'

/** GitHub names: an account login, a slash, a repository name. */
export const repositoryName = '^[A-Za-z0-9]([A-Za-z0-9-]{0,38})/[A-Za-z0-9._-]{1,100}$'

export const objectName = (description: string) => text({ description, max: 63, pattern: dnsLabel })

/** GitHub's ids are positive integers; they never change, whereas logins, slugs and names do. */
export const numericId = (description: string) => integer({ description, min: 1, max: Number.MAX_SAFE_INTEGER })

export const hostField = text({
  description: 'The GitHub host: github.com, or the host of a GitHub Enterprise Server. Ids are unique per host only.',
  max: 253,
  pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?(:[0-9]{1,5})?$',
})

export const accountField = object(
  {
    host: hostField,
    id: numericId('The numeric id of the account: the identity.'),
    login: text({ description: 'The login, for display only: it can change hands.', max: 100 }),
    type: choice(['Organization', 'User'], { description: 'What kind of account it is.' }),
  },
  { description: 'A GitHub account.' },
)

/** `github|<host>|<numeric user id>`, as the API server sees people. */
export const requestedByField = text({
  description: 'Who asks. Must be the user that creates or changes the object; filled in by admission when absent.',
  max: 512,
})

/** The levels of GitHub App permissions, lowest first; `src/policy/permission-level.ts` compares them. */
export const permissionLevels = ['read', 'write', 'admin'] as const
export type PermissionLevel = (typeof permissionLevels)[number]

/** Permission names of GitHub Apps are lower-case words; the levels are GitHub's own. */
export const permissionLevel = choice(permissionLevels, { description: 'The level of access.' })
