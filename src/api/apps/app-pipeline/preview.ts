// How each preview of an AppPipeline differs from the others, how many there are, and what runs at its beginning and at its end.
import { bytes, cores } from '../../schema/quantity.ts'
import { choice, integer, list, object, optional, text } from '../../schema/schema.ts'
import { jobFields } from '../application/releases.ts'

/** `spec.host`. The longest host label that follows has 63 characters (`src/controllers/app-pipeline/preview/host.ts`). */
export const hostField = text({
  description:
    'The first label of the host name of each preview: lower-case letters, digits, hyphens, and the placeholders `{number}`, `{name}` (of the AppPipeline) and `{branch}` (of the pull request, with hyphens for what a host name cannot have). `{number}` is required, and hyphens separate it from the rest, so that no two previews have the same name. The namespace and the domain of the platform follow. Previews of forks begin with `fork-`.',
  max: 40,
  pattern: '^([a-z0-9-]|[{]number[}]|[{]name[}]|[{]branch[}])+$',
  default: 'pr-{number}-{name}',
  rules: [
    {
      rule: "self.matches('(^|-)[{]number[}](-|$)') && self.split('{number}').size() == 2",
      message: 'host must have {number} once, between hyphens or at an end, as in pr-{number}-{name}',
    },
    {
      rule: "!self.startsWith('-') && !self.endsWith('-') && !self.contains('--')",
      message: 'host must not begin or end with a hyphen, nor have two in a row',
    },
    {
      rule: "self.split('{name}').size() <= 2 && self.split('{branch}').size() <= 2",
      message: 'host may have {name} and {branch} once each',
    },
  ],
})

/** What an environment variable of a preview can say about its pull request. */
export const previewFacts = ['Number', 'HeadBranch', 'BaseBranch', 'Author', 'Url'] as const
export type PreviewFact = (typeof previewFacts)[number]

/** `spec.env`. */
export const previewEnvironmentField = list(
  object(
    {
      name: text({
        description: 'The name of the variable, such as `PREVIEW_NUMBER`.',
        max: 256,
        pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
      }),
      fact: choice(previewFacts, {
        description:
          'What its value is: the number of the pull request, the name of its branch, the name of the branch that it goes into, the login of its author, or the URL of the preview. People who open pull requests choose names of branches: treat the value as untrusted text. The commit that runs is in `SEKISHO_COMMIT`, as in every Application.',
      }),
    },
    { description: 'One environment variable.' },
  ),
  {
    description:
      'Environment variables of every process of a preview, from facts about its pull request. They win over those of the template.',
    max: 20,
    unique: ['name'],
  },
)

const resourcesField = object(
  {
    cpu: optional(
      cores({ description: 'The CPU time that all previews together may reserve (the sum of `cpu`), in cores: `4` or `1500m`.' }),
    ),
    memory: optional(bytes({ description: 'The memory of all previews together (the sum of `memory`), such as `8Gi`.' })),
  },
  {
    description:
      'What all previews of this AppPipeline together may request. A preview counts with every process of the template times its pods (`maxReplicas` where there is autoscaling), and with one pod of each entry of `cron`; one that is paused counts, too; one of a fork counts with the less that it gets. Those of the pull requests with the newest activity exist, as far as they fit; the status names the others (`LimitReached`) and the sum (`requested`). Pods of release jobs, hooks and rollouts come on top for a while. It needs `template.application.processes`: without them, each source says what runs. No limit, when omitted.',
    rules: [{ rule: 'has(self.cpu) || has(self.memory)', message: 'resources must have cpu or memory' }],
  },
)

/** `spec.limits`. */
export const previewLimitsField = object(
  {
    previews: integer({
      description:
        'How many previews there are at the same time. Those of the pull requests with the newest activity exist; the status names the others. What activity is: the pull request was opened, or got another commit.',
      min: 1,
      max: 100,
      default: 10,
    }),
    idleHours: optional(
      integer({
        description:
          'A preview is removed when its pull request had no activity for so many hours. Its next commit brings it back. Never, when omitted.',
        min: 1,
        max: 8760,
      }),
    ),
    resources: optional(resourcesField),
  },
  {
    description:
      'How many previews there are, how much they request together, and for how long they stay. The limits of the tenant hold for all of its previews together.',
    default: {},
  },
)

/** The numbers of pull requests. */
export const pausedField = list(integer({ description: 'The number of a pull request.', min: 1, max: 2_147_483_647 }), {
  description:
    'The numbers of pull requests whose preview is paused: it is not built, and none of its processes runs. It keeps its place and its volumes.',
  max: 200,
  unique: 'set',
})

const hook = (description: string) => object(jobFields, { description })

/** `spec.hooks`. */
export const hooksField = object(
  {
    created: optional(
      hook(
        'Runs before the first release of a preview is rolled out, in place of the release job of the template: for example to fill a database. When it fails, the preview does not run; the next commit tries again, so it may run more than once. Later releases have the release job of the template.',
      ),
    ),
    deleted: optional(
      hook(
        'Runs before a preview that has run is deleted: for example to drop its database. The preview is deleted when it has ended, whatever its result, and two minutes after its time limit at the latest.',
      ),
    ),
  },
  { description: 'Programs that run at the beginning and at the end of each preview, with its image and its environment.' },
)
