// What GitHub ought to show for a situation: a comment on the pull request, a status of the commit, a deployment and its
// status. Pure. Texts that go to places without Markdown are fixed sentences: nothing that others wrote is in them.
import type { CommitStatusReport, DeploymentReport, DeploymentStatusWrite } from '../../../github/index.ts'
import { canonicalJson, type JsonValue } from '../../../lib/json/canonical-json.ts'
import { shortHash } from '../../../lib/text/bounded-name.ts'
import { commentBody } from './comment.ts'
import { isAddress } from './markdown.ts'
import type { Phase, Situation } from './situation.ts'

/**
 * Something to write. The hash is of what it says and not of its wording, so that a new version of the platform does not edit
 * every comment.
 */
export type Wanted<Content> = {
  readonly content: Content
  readonly hash: string
  /** It soon gives way to another state: it may be skipped when the installation has written much. */
  readonly isPassing: boolean
}

export type Desired = {
  /** `mayCreate`: false for the end, which needs no notice where nothing was reported before. */
  readonly comment?: Wanted<{ readonly body: string; readonly mayCreate: boolean }>
  /** `onlyPending`: it ends a status that is pending, and says nothing about one that is not. */
  readonly commitStatus?: Wanted<CommitStatusReport & { readonly commit: string; readonly onlyPending: boolean }>
  readonly deployment?: Wanted<DeploymentReport>
  /** Of `deployment`; without one, of the deployment that was written last. */
  readonly deploymentStatus?: Wanted<DeploymentStatusWrite>
  /**
   * The state usually lasts a moment: nothing of it is written before this time, so that the next one need not wait for its
   * turn.
   */
  readonly heldUntil?: Date
  /** Deployments of earlier commits do not run any more. */
  readonly endsServing: boolean
  /** When all is written, the report itself has ended. */
  readonly isEnd: boolean
  /** It is about a commit of a fork that nobody has approved. */
  readonly isUnapproved: boolean
}

/** Where it is reported. */
export type ReportContext = {
  readonly namespace: string
  /** The name of the preview, or of the RemoteSync. */
  readonly name: string
  /** The name of the AppPipeline, for a preview. */
  readonly pipeline: string | undefined
  /** The number of the pull request, for a preview. */
  readonly pullRequest: number | undefined
  /**
   * Named in the list of checks: the AppPipeline or the Application. One commit can have a preview and be deployed from a
   * branch.
   */
  readonly statusContext: string
  /**
   * One for all previews of an AppPipeline: GitHub keeps environments for ever, and only who administers a repository may
   * delete one.
   */
  readonly environment: string
  /** Says which of the deployments to the environment are of this report. */
  readonly task: string
  /** Where people reach the broker. */
  readonly publicUrl: URL
  /** A name of this preview that nobody else's preview has; it says nothing about the tenant. */
  readonly marker: string
  /** The commit whose status is pending on GitHub because of this report, or may be. */
  readonly pendingCommit: string | undefined
  /**
   * Commits whose status another preview of the AppPipeline writes: two pull requests can have one head, and its status is one
   * on GitHub.
   */
  readonly othersCommits: readonly string[]
}

/** The page of the build, or of all builds of the tenant: people sign in there, and RBAC decides what they see. */
export function logUrl(
  { publicUrl, namespace }: Pick<ReportContext, 'publicUrl' | 'namespace'>,
  build: string | undefined,
): string {
  const path = `/tenants/${encodeURIComponent(namespace)}/builds${build === undefined ? '' : `/${encodeURIComponent(build)}`}`
  return new URL(path, publicUrl).href
}

/**
 * A name that GitHub keeps with the comment and the deployment: hashed, because everybody who reads the pull request can read
 * it.
 */
export function markerOf(parts: readonly (string | number)[]): string {
  return shortHash(canonicalJson(parts), 32)
}

/** How the text of a comment of this report begins. */
export function commentMarker(marker: string): string {
  return `<!-- sekisho.dev/report ${marker} -->`
}

function wanted<Content>(content: Content, said: JsonValue, isPassing: boolean): Wanted<Content> {
  return { content, hash: shortHash(canonicalJson(said), 32), isPassing }
}

const passing: readonly Phase[] = ['Waiting', 'Building']
const none = ''

function comment(situation: Situation, context: ReportContext): Desired['comment'] {
  if (context.pipeline === undefined) return undefined
  const { phase, commit, since, url, build, reason, message } = situation
  const log = logUrl(context, build)
  const { namespace, pipeline } = context
  const body = commentBody(situation, { marker: commentMarker(context.marker), namespace, pipeline, logUrl: log })
  // The time alone is not a reason to write again.
  const said = [phase, commit ?? none, url ?? none, build ?? none, reason ?? none, message ?? none]
  if (phase === 'Paused') said.push(since ?? none)
  return wanted({ body, mayCreate: phase !== 'Gone' }, said, passing.includes(phase))
}

type Sentence = readonly [CommitStatusReport['state'], string]

/**
 * Nothing about a commit that waits for approval: whoever opened the pull request would set the status of a commit that is
 * somebody else's, too. A status that is required then stays expected, which is what GitHub shows for it.
 */
export const commitSentences: Readonly<Partial<Record<Phase, Sentence>>> = {
  Waiting: ['pending', 'Waiting for its turn'],
  Building: ['pending', 'Building and starting'],
  Running: ['success', 'Running'],
  Unchanged: ['success', 'Not built: nothing under spec.paths has changed'],
  Skipped: ['success', 'Not built: the message of the commit asks for it'],
  Failed: ['failure', 'Failed: see the build log'],
  Conflict: ['failure', 'Not built: the pull request has conflicts with its base branch'],
}

/** States in which nothing was decided about a commit end what was pending. */
const endOfPending: Readonly<Partial<Record<Phase, Sentence>>> = {
  LeftOut: ['success', 'No preview of this commit'],
  Paused: ['success', 'The preview is paused'],
  WaitingForApproval: ['error', 'Ended before it ran'],
  Gone: ['error', 'Ended before it ran'],
}

function commitStatus({ phase, commit, build }: Situation, context: ReportContext): Desired['commitStatus'] {
  const ends = endOfPending[phase]
  const about = ends === undefined ? commit : context.pendingCommit
  const sentence = ends ?? commitSentences[phase]
  if (about === undefined || sentence === undefined || context.othersCommits.includes(about)) return undefined
  const [state, description] = sentence
  const report = { state, description, context: context.statusContext, targetUrl: logUrl(context, build) }
  const content = { ...report, commit: about, onlyPending: ends !== undefined }
  return wanted(content, [about, state, description, build ?? none, report.context], passing.includes(phase))
}

function deployment({ phase, commit }: Situation, context: ReportContext): Desired['deployment'] {
  if (commit === undefined || !['Building', 'Running', 'Failed'].includes(phase)) return undefined
  const { environment, task, marker, pullRequest, name } = context
  const isTransient = pullRequest !== undefined
  const description = isTransient ? `Preview of pull request #${pullRequest}` : `Deployed by RemoteSync ${name}`
  const report = { commit, environment, task, marker, isTransient, description: description.slice(0, 140) }
  return wanted(report, [commit, environment], passing.includes(phase))
}

const deploymentSentences: Readonly<Partial<Record<Phase, readonly [DeploymentStatusWrite['state'], string]>>> = {
  Building: ['in_progress', 'Building and starting'],
  Running: ['success', 'Running'],
  Failed: ['failure', 'Failed: see the build log'],
  Paused: ['inactive', 'Paused'],
  Gone: ['inactive', 'Destroyed'],
}
const removed = ['inactive', 'Not running'] as const

/** Other previews share the environment, and go on. */
function endsOthers({ pullRequest }: Pick<ReportContext, 'pullRequest'>): boolean {
  return pullRequest === undefined
}

function deploymentStatus(situation: Situation, context: ReportContext): Desired['deploymentStatus'] {
  const { phase, commit, url, build, exists } = situation
  const sentence = deploymentSentences[phase] ?? (exists ? undefined : removed)
  if (sentence === undefined) return undefined
  const [state, description] = sentence
  const report = {
    state,
    description,
    environmentUrl: state === 'success' && url !== undefined && isAddress(url) ? url : undefined,
    logUrl: logUrl(context, build),
    endsOthers: endsOthers(context),
  }
  const about = state === 'inactive' ? none : (commit ?? none)
  return wanted(report, [about, state, report.environmentUrl ?? none, build ?? none], passing.includes(phase))
}

/** A preview waits about a second for its grant before it is built. */
export const briefMilliseconds = 5_000

function heldUntil({ phase, since = '' }: Situation): Date | undefined {
  const began = Date.parse(since)
  return phase === 'Waiting' && !Number.isNaN(began) ? new Date(began + briefMilliseconds) : undefined
}

/** Total: every situation has an answer. */
export function desiredAnswers(situation: Situation, context: ReportContext): Desired {
  const { phase, exists, isUnapproved } = situation
  const parts = {
    comment: comment(situation, context),
    commitStatus: commitStatus(situation, context),
    deployment: deployment(situation, context),
    deploymentStatus: deploymentStatus(situation, context),
    heldUntil: heldUntil(situation),
  }
  const present = Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== undefined))
  const endsServing = !exists || ['Running', 'Paused'].includes(phase)
  return { ...present, endsServing, isEnd: phase === 'Gone', isUnapproved }
}

/** The status by which a deployment of an earlier commit ends. */
export function formerStatus(context: Pick<ReportContext, 'publicUrl' | 'namespace' | 'pullRequest'>): DeploymentStatusWrite {
  const log = logUrl(context, undefined)
  return { state: 'inactive', description: 'Replaced', environmentUrl: undefined, logUrl: log, endsOthers: endsOthers(context) }
}
