// `spec.git` of a RepositoryGrant: what passes the git proxy under it.
import { list, object, optional, text } from '../../schema/schema.ts'

/** Branches and tags, and in their names what git allows there, and stars. */
const refPattern = '^refs/(heads|tags)/[^ ~^:?\\[\\\\]+$'

/** One pattern of refs, of a grant or of a rule about grants. */
export const refPatternField = text({
  description:
    'Full names of refs, such as `refs/heads/release/*` or `refs/tags/v*`; `*` stands for any number of characters, also slashes.',
  max: 200,
  pattern: refPattern,
})

export const gitField = optional(
  object(
    {
      refs: list(refPatternField, {
        description:
          'The refs that a push may create, move or delete: those that one of the patterns means. Everything else is refused before GitHub hears of the push.',
        min: 1,
        max: 20,
        unique: 'set',
      }),
    },
    { description: 'What passes the git proxy. Without it a push may change every branch and every tag.' },
  ),
)

/** CEL over `spec`. */
export const gitRule = {
  rule: "!has(self.git) || self.delivery == 'GitProxy'",
  message: 'git is for what passes the git proxy: set delivery to GitProxy, or remove git',
  fieldPath: '.git',
}
