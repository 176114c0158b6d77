// What an AppPipeline reports: a row for each pull request, and counts.

import { ownedStates } from '../../capabilities/application-owner.ts'
import { commitId, numericId, timestamp } from '../../schema/fields.ts'
import { choice, integer, list, object, optional, text } from '../../schema/schema.ts'

/** What becomes of the preview of a pull request. */
export const previewStates = [...ownedStates, 'LeftOut'] as const
export type PreviewState = (typeof previewStates)[number]

/** More pull requests are not listed: previews first, then those of the repository itself, then forks in turns. */
export const maxRows = 200

type StandingOfRow = { readonly state: PreviewState; readonly headRepository?: number; readonly application?: string }

/**
 * Whether whoever opened the pull request has decided about it alone: its commit is in a fork, nobody has approved it, and
 * nothing of a preview exists. Anybody can open as many of these as they like. `repository`: the one that is followed; a head
 * of which GitHub does not say where it is counts as one of a fork.
 */
export function isOfStranger({ state, headRepository, application }: StandingOfRow, repository: number | undefined): boolean {
  const isUnapproved = state === 'WaitingForApproval' || state === 'LeftOut'
  return isUnapproved && application === undefined && headRepository !== repository
}

const count = (description: string) => integer({ description, min: 0, max: 1_000_000 })

const row = object(
  {
    number: integer({ description: 'The number of the pull request.', min: 1, max: 2_147_483_647 }),
    headCommit: commitId('The newest commit of the pull request.'),
    headRepository: optional(
      numericId('The numeric id of the repository that has the commit. Absent when that repository was deleted.'),
    ),
    state: choice(previewStates, {
      description:
        '`Waiting`: the preview will be built; `WaitingForApproval`: its commits are in a fork, and nobody has approved the newest one; `LeftOut`: it has no preview, for the reason; `Building`; `Running`: it runs the newest commit; `Failed`; `Conflict`: the pull request cannot be merged; `Paused`; `Removing`.',
    }),
    reason: text({
      description: 'Why, for programs: a reason of this kind, of RemoteSync or of Application.',
      max: 128,
      pattern: '^[A-Za-z][A-Za-z0-9]*$',
    }),
    message: text({ description: 'Why, for people.', max: 512 }),
    url: optional(text({ description: 'The URL of the preview.', max: 512 })),
    application: optional(
      text({ description: 'The name of the Application and of the RemoteSync of the preview, when there is one.', max: 63 }),
    ),
    since: timestamp('Since when it is in this state.'),
    updatedAt: optional(
      timestamp(
        'While it waits for an approval: when anything about the pull request last changed on GitHub, comments and reviews included.',
      ),
    ),
    activeAt: timestamp('When the pull request was opened or got its newest commit, as far as the platform saw it.'),
  },
  { description: 'One open pull request, or one whose preview is being removed.' },
)

export const previewStatusFields = {
  previews: optional(
    list(row, {
      description: `The open pull requests, by number. Of more than ${maxRows}, those with a preview, then those of the repository itself, then those of forks in turns; of equals those with the newest activity.`,
      max: maxRows,
      unique: ['number'],
    }),
  ),
  requested: optional(
    object(
      {
        cpu: text({ description: 'CPU time in cores, such as `1500m`.', max: 32 }),
        memory: text({ description: 'Memory, such as `3Gi`.', max: 32 }),
      },
      {
        description:
          'What the previews that exist request together, as `spec.limits.resources` counts it. Absent without that limit.',
      },
    ),
  ),
  counts: optional(
    object(
      {
        open: count('Open pull requests.'),
        running: count('Previews that run the newest commit.'),
        waiting: count('Pull requests that wait for a build or for an approval, or that are being built.'),
      },
      { description: 'How many there are.' },
    ),
  ),
}
