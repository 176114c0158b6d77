// Which pull requests get a preview: the fields of spec.policy as a list of named checks, in the order in which their refusals
// are reported. Pure. What outsiders write (titles, names of branches and labels) is compared, never put into a message.

import type { PreviewState } from '../../../api/apps/app-pipeline/status.ts'
import { type AppPipeline, appPipelineReasons as reasons } from '../../../api/apps/app-pipeline.ts'
import { approves, type PreviewApproval } from '../../../api/apps/preview-approval.ts'
import type { PullRequest } from '../../../github/index.ts'
import { type Check, firstRefusal, type Refusal } from '../../../policy/check.ts'
import { isMeant, matchesName } from '../../kit/repository/path-filter.ts'
import type { Details } from '../pull-requests/known.ts'

/** What decides about one open pull request. */
export type PolicyFacts = {
  readonly policy: AppPipeline['spec']['policy']
  /** The uid of the AppPipeline. */
  readonly pipeline: string
  /** The numeric id of the repository that is followed. */
  readonly repository: number
  readonly pull: PullRequest
  readonly approvals: readonly PreviewApproval[]
}

/** Why a pull request has no preview. */
export type Exclusion = Refusal & { readonly state: Extract<PreviewState, 'LeftOut' | 'WaitingForApproval'> }

type PolicyCheck = Check<PolicyFacts, Exclusion>

const leftOut = (reason: string, message: string): Exclusion => ({ state: 'LeftOut', reason, message })

const isOpen: PolicyCheck = ({ pull }) =>
  pull.state === 'open' ? undefined : leftOut(reasons.closed, 'the pull request is closed or merged')

const goesIntoBranch: PolicyCheck = ({ policy: { baseBranches }, pull }) =>
  baseBranches === undefined || baseBranches.some(pattern => matchesName(pattern, pull.baseBranch))
    ? undefined
    : leftOut(reasons.baseBranch, `spec.policy.baseBranches: the pull request goes into none of ${baseBranches.join(', ')}`)

/** GitHub does not distinguish upper and lower case in labels and logins. */
function isOneOf(names: readonly string[], name: string): boolean {
  return names.some(other => other.toLowerCase() === name.toLowerCase())
}

const hasLabels: PolicyCheck = ({ policy: { labels = [] }, pull }) => {
  const missing = labels.find(label => !isOneOf(pull.labels, label))
  return missing === undefined
    ? undefined
    : leftOut(reasons.labelMissing, `spec.policy.labels: the pull request does not have the label ${missing}`)
}

const hasNoExcludedLabel: PolicyCheck = ({ policy: { withoutLabels = [] }, pull }) => {
  const found = withoutLabels.find(label => isOneOf(pull.labels, label))
  return found === undefined
    ? undefined
    : leftOut(reasons.labelExcluded, `spec.policy.withoutLabels: the pull request has the label ${found}`)
}

const isReady: PolicyCheck = ({ policy, pull }) =>
  policy.drafts || !pull.draft ? undefined : leftOut(reasons.draft, 'spec.policy.drafts: the pull request is a draft')

const isOfPerson: PolicyCheck = ({ policy, pull }) =>
  policy.bots || pull.author?.isBot !== true ? undefined : leftOut(reasons.bot, 'spec.policy.bots: a bot opened the pull request')

const isOfAuthor: PolicyCheck = ({ policy: { authors }, pull: { author } }) =>
  authors === undefined || (author !== undefined && isOneOf(authors, author.login))
    ? undefined
    : leftOut(reasons.author, 'spec.policy.authors: the list does not have the author of the pull request')

const titleDoesNotSkip: PolicyCheck = ({ pull }) =>
  pull.skips ? leftOut(reasons.skip, 'the title of the pull request contains [skip preview]') : undefined

/** Whoever can push to a fork has no rights in the repository: a head of which GitHub does not say where it is counts as one. */
export function isOfFork({ headRepository }: PullRequest, repository: number): boolean {
  return headRepository !== repository
}

const forksAreAllowed: PolicyCheck = ({ policy, pull, repository }) =>
  isOfFork(pull, repository) && policy.forks === 'Never'
    ? leftOut(reasons.fork, 'spec.policy.forks is Never: the commits of the pull request are in a fork')
    : undefined

const forkExists: PolicyCheck = ({ pull }) =>
  pull.headRepository === undefined
    ? leftOut(reasons.forkDeleted, 'the repository that has the commits of the pull request was deleted')
    : undefined

/** Stops everything of a commit of a fork that nobody has approved: an approval is for exactly this commit. */
const forkIsApproved: PolicyCheck = ({ pull, repository, pipeline, approvals }) => {
  const { number, headCommit } = pull
  if (!isOfFork(pull, repository)) return undefined
  if (approvals.some(approval => approves(approval, { pipeline, repository, number, headCommit }))) return undefined
  const message = `commit ${headCommit} is in a fork and waits for the approval of a person who may write to the repository: approve it by a review, or comment /sekisho approve ${headCommit}`
  return { state: 'WaitingForApproval', reason: reasons.approvalMissing, message }
}

/**
 * The last one is asked for a fork only when the pull request would get a preview otherwise: nobody is asked to approve for
 * nothing.
 */
const checks: readonly PolicyCheck[] = [
  isOpen,
  goesIntoBranch,
  hasLabels,
  hasNoExcludedLabel,
  isReady,
  isOfPerson,
  isOfAuthor,
  titleDoesNotSkip,
  forksAreAllowed,
  forkExists,
  forkIsApproved,
]

/** Why the pull request gets no preview; undefined when it may have one, as far as `details` do not say otherwise. */
export function exclusionOf(facts: PolicyFacts): Exclusion | undefined {
  return firstRefusal(checks, facts)
}

type DetailFacts = { readonly policy: AppPipeline['spec']['policy']; readonly details: Details }

const commitDoesNotSkip: Check<DetailFacts, Exclusion> = ({ details }) =>
  details.skips ? leftOut(reasons.skip, 'the message of the newest commit contains [skip preview]') : undefined

/** A list that GitHub does not give completely excludes nothing. */
const changesPaths: Check<DetailFacts, Exclusion> = ({ policy: { paths }, details: { files } }) =>
  paths === undefined || files === undefined || files.some(file => isMeant(paths, file))
    ? undefined
    : leftOut(reasons.paths, 'spec.policy.paths: the pull request changes no file under these paths')

/** What further requests say about the commit; asked only for pull requests that `exclusionOf` does not exclude. */
export function exclusionByDetails(facts: DetailFacts): Exclusion | undefined {
  return firstRefusal([commitDoesNotSkip, changesPaths], facts)
}
