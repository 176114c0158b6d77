// AppPipeline: keeps one running Application for every open pull request of a repository that may have one.

import { type OwnsApplications, ownedReasonDefinitions } from '../capabilities/application-owner.ts'
import { followerFields, followerReasonDefinitions, followerStatusFields } from '../capabilities/repository-follower.ts'
import { ageColumn, defineKind, type ObjectOf, readyColumns } from '../kind.ts'
import { defineReasons, pacedByPlatform, rightMissing } from '../reasons/reason.ts'
import { observedWakeField } from '../schema/fields.ts'
import { flag, object, optional } from '../schema/schema.ts'
import { policyField } from './app-pipeline/policy.ts'
import { hooksField, hostField, pausedField, previewEnvironmentField, previewLimitsField } from './app-pipeline/preview.ts'
import { previewStatusFields } from './app-pipeline/status.ts'
import { templateField } from './app-pipeline/template.ts'

export const ownsApplications: OwnsApplications = { noun: 'preview', setBy: 'spec.template' }

const reasons = defineReasons(
  {
    progress: {
      WaitingForService: 'A ServiceInstance or Bucket of the preview is being made. The message has how far it is.',
    },
    ready: {
      Listed:
        'All open pull requests are known, as far as GitHub said when it was last asked: at a webhook, or at the periodic check.',
      UpToDate: 'Every pull request that may have a preview has one, and no other has.',
    },
    machine: {
      ListIncomplete:
        'The answers of GitHub contradict each other: its list leaves out a pull request that is open. No preview is removed because of it. The platform asks again.',
      GitHubUnreachable: 'GitHub does not answer, or limits the rate of requests. What runs goes on. The platform tries again.',
    },
    person: {
      InstallationNotReady: 'The Installation that `spec.installation` names does not exist or is not ready. What runs goes on.',
      RepositoryNotFound:
        'The repository was deleted, or the installation of the App does not reach it any more. What runs goes on.',
      TooManyPullRequests: 'More pull requests are open than the platform lists (1,000). Those that were opened last are listed.',
      ServiceNotUsable:
        'A ServiceInstance or Bucket of the preview cannot go on by itself. The message has its reason; correct `spec.template.services`, or ask a platform admin.',
      ServiceNotForIsolated:
        'The pull request is of a fork, and the ServiceClass of an entry of `spec.template.services` that `public.services` names is not offered to code that is not trusted. Remove the name there, or ask a platform admin.',
      PullRequestClosed: 'The pull request is closed or merged.',
      ApprovalMissing:
        'The commits of the pull request are in a fork, and nobody has approved the newest one. Look at it, and approve it with a review, or with the comment `/sekisho approve` and the full id of the commit.',
    },
    failed: {
      ForkDeleted: 'The commits of the pull request are in a repository that was deleted.',
    },
    intended: {
      Suspended: 'All previews are paused, because `spec.suspend` is `true`. Set it to `false` to go on.',
      BaseBranchExcluded: '`spec.policy.baseBranches` does not name the branch that the pull request goes into.',
      LabelMissing: 'The pull request lacks a label of `spec.policy.labels`. Add it on GitHub.',
      LabelExcluded: 'The pull request has a label of `spec.policy.withoutLabels`. Remove it on GitHub.',
      DraftExcluded: 'The pull request is a draft, and `spec.policy.drafts` is `false`. Mark it as ready for review.',
      BotExcluded: 'A bot opened the pull request, and `spec.policy.bots` is `false`.',
      AuthorExcluded: '`spec.policy.authors` does not name the author of the pull request.',
      PathsExcluded: 'The pull request changes no file under `spec.policy.paths`.',
      SkipRequested: 'The title of the pull request, or the message of its newest commit, contains `[skip preview]`.',
      ForkExcluded: 'The commits of the pull request are in a fork, and `spec.policy.forks` is `Never`.',
      LimitReached:
        'As many previews as `spec.limits` allows (`previews`, or `resources` for all together) belong to pull requests with newer activity. The message names the limit.',
      Idle: 'The pull request had no activity for `spec.limits.idleHours`. Its next commit brings the preview back.',
      Paused: 'The preview is paused. Remove the number from `spec.paused`, or `spec.suspend`, to run it again.',
    },
  },
  {
    tooMany: 'TooManyPullRequests',
    unreachable: 'GitHubUnreachable',
    closed: 'PullRequestClosed',
    baseBranch: 'BaseBranchExcluded',
    draft: 'DraftExcluded',
    bot: 'BotExcluded',
    author: 'AuthorExcluded',
    paths: 'PathsExcluded',
    skip: 'SkipRequested',
    fork: 'ForkExcluded',
  },
  followerReasonDefinitions,
  ownedReasonDefinitions(ownsApplications),
  rightMissing,
  pacedByPlatform,
)

/** Reasons of the conditions and of the rows of `status.previews`. */
export const appPipelineReasons = reasons.names

export const appPipeline = defineKind({
  group: 'apps',
  kind: 'AppPipeline',
  plural: 'apppipelines',
  shortNames: ['apipe'],
  scope: 'Namespaced',
  tenantAccess: 'write',
  description:
    'Follows the pull requests of a repository and keeps one running Application, a preview, for each open one that may have one.',
  writtenBy: 'Developers and admins of the tenant.',
  spec: object(
    {
      ...followerFields,
      template: templateField,
      host: hostField,
      env: optional(previewEnvironmentField),
      policy: policyField,
      limits: previewLimitsField,
      hooks: optional(hooksField),
      report: flag({
        description:
          'Whether GitHub shows the previews: a comment on each pull request, a deployment with the URL, and a status of the commit that leads to the build log. The grant then asks for `pull_requests: write`, `deployments: write` and `statuses: write`. When omitted, it does.',
        default: true,
      }),
      paused: optional(pausedField),
      suspend: optional(
        flag({
          description:
            'Set it to `true` to pause all previews, and to build none. Previews of pull requests that are closed are removed all the same.',
        }),
      ),
    },
    {
      description: 'Which pull requests of which repository get a preview, and what a preview is made of.',
      rules: [
        {
          rule: '!has(self.limits.resources) || has(self.template.application.processes)',
          message:
            'limits.resources needs template.application.processes: without them each source says how many processes run, and the sum is not known',
          fieldPath: '.limits.resources',
        },
      ],
    },
  ),
  followsRepository: {
    // Whether somebody may approve a commit of a fork depends on their access.
    source: (_spec, status) => ({
      pullRequest: 'every',
      access: status?.previews?.some(({ state }) => state === 'WaitingForApproval') === true,
    }),
    permissions: ({ report }) =>
      report ? { pull_requests: 'write', deployments: 'write', statuses: 'write' } : { pull_requests: 'read' },
    purpose: () => 'lists the pull requests that get a preview',
  },
  ownsApplications,
  status: { ...followerStatusFields, observedWake: observedWakeField, ...previewStatusFields },
  conditions: {
    Listed: 'GitHub was asked, under an approved grant, which pull requests are open, and its answers are complete.',
    Ready: 'The previews that exist are those of the open pull requests that may have one. Whether each runs is in `previews`.',
  },
  reasons,
  rules: [
    {
      rule: "self.metadata.name.matches('^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$')",
      message: 'metadata.name must be a DNS label that begins with a letter: lower-case letters, digits and hyphens, at most 63',
    },
  ],
  columns: [
    { name: 'Repository', type: 'string', jsonPath: '.spec.repository' },
    { name: 'Open', type: 'integer', jsonPath: '.status.counts.open' },
    { name: 'Running', type: 'integer', jsonPath: '.status.counts.running' },
    { name: 'Waiting', type: 'integer', jsonPath: '.status.counts.waiting' },
    { name: 'CPU', type: 'string', jsonPath: '.status.requested.cpu', priority: 1 },
    { name: 'Memory', type: 'string', jsonPath: '.status.requested.memory', priority: 1 },
    { name: 'Followed', type: 'string', jsonPath: '.status.repository.name', priority: 1 },
    ...readyColumns,
    ageColumn,
  ],
  selectableFields: ['.spec.repository'],
})

export type AppPipeline = ObjectOf<typeof appPipeline>
