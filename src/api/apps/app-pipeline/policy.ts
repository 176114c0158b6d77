// Which pull requests get a preview. Data only: `src/controllers/app-pipeline/policy` decides.
import { choice, flag, list, object, optional, text } from '../../schema/schema.ts'
import { pathPattern } from '../remote-sync/build-fields.ts'

const label = text({ description: 'The name of a label on GitHub. Upper and lower case are the same.', max: 50 })

const branchPatterns = list(
  text({
    description:
      'The name of a branch, or a pattern: `*` stands for characters other than `/`, `**` for any folders, as in `release/*`.',
    max: 255,
    pattern: '^[^ ~^:?\\[\\\\]+$',
  }),
  {
    description: 'Only pull requests into one of these branches get a preview. When omitted: into any branch.',
    min: 1,
    max: 20,
    unique: 'set',
  },
)

/** `spec.policy`. */
export const policyField = object(
  {
    baseBranches: optional(branchPatterns),
    labels: optional(
      list(label, {
        description: 'Only pull requests that have all of these labels get a preview.',
        min: 1,
        max: 20,
        unique: 'set',
      }),
    ),
    withoutLabels: optional(
      list(label, { description: 'Pull requests that have one of these labels get no preview.', min: 1, max: 20, unique: 'set' }),
    ),
    drafts: flag({ description: 'Whether drafts get a preview. When omitted, they do.', default: true }),
    bots: flag({
      description:
        'Whether pull requests of bots get a preview, such as those that update dependencies. When omitted, they do not.',
      default: false,
    }),
    authors: optional(
      list(
        text({
          description: 'The login of a person on GitHub, such as `ada`.',
          max: 100,
          pattern: '^[A-Za-z0-9][A-Za-z0-9_-]*(\\[bot\\])?$',
        }),
        {
          description:
            'Only pull requests that one of these people opened get a preview. When omitted: of everybody. It is a filter and no protection: a login can pass to another person.',
          min: 1,
          max: 100,
          unique: 'set',
        },
      ),
    ),
    paths: optional(
      list(pathPattern, {
        description: 'Only pull requests that change a file under one of these paths get a preview.',
        min: 1,
        max: 50,
        unique: 'set',
      }),
    ),
    forks: choice(['Never', 'Approved', 'Trusted'], {
      description:
        'What happens with pull requests whose commits are in a fork, where people push who have no rights in the repository. `Never`: they get no preview. `Approved`: nothing of a commit is fetched, built or run before a person who may write to the repository has approved this commit; the next commit needs another approval. `Trusted`: the same, but commits in the own fork of an author who may write to the repository need no approval of another person.',
      default: 'Never',
    }),
  },
  {
    description:
      'Which pull requests get a preview: those that meet every field. A pull request with `[skip preview]` in its title, or in the message of its newest commit, gets none.',
    default: {},
  },
)
