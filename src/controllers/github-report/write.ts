// Sends one write to GitHub and says what is known afterwards. What may have arrived before is looked up first: a comment and a
// deployment by their marker, a status by what it says. It keeps nothing: reconcile.ts does.
import { githubReasons, type ReportClient } from '../../github/index.ts'
import { type AppError, isAppError } from '../../lib/errors.ts'
import { sameJson } from '../../lib/json/same-json.ts'
import { commentMarker, type Desired, formerStatus, type ReportContext } from './answer/desired.ts'
import { type DueWrite, endingDeployments, type ReportStatus, recordOf } from './decide.ts'
import {
  withEndedDeployment,
  withoutDeployment,
  withoutPendingCommit,
  withoutUnanswered,
  withRefused,
  withSupersededDeployment,
  withWritten,
} from './records.ts'

/** Where and what to write. */
export type WriteTarget = {
  readonly client: ReportClient
  readonly repositoryId: number
  readonly pullRequest: number | undefined
  readonly desired: Desired
  readonly context: ReportContext
}

/** Resolves to the status after the write; throws what may be repeated. */
export async function send(target: WriteTarget, status: ReportStatus, due: DueWrite): Promise<ReportStatus> {
  try {
    return await senders[due.kind](target, status, due)
  } catch (error) {
    if (isRefusal(error)) return withRefused(status, due, error.message)
    throw error
  }
}

/** The same request would be refused again until a person changes something on GitHub. */
function isRefusal(error: unknown): error is AppError {
  if (!isAppError(error)) return false
  const { code, reason } = error
  if (code === 'forbidden') return reason !== githubReasons.suspended
  return code === 'not_found' || reason === githubReasons.requestRefused
}

type Sender = (target: WriteTarget, status: ReportStatus, due: DueWrite) => Promise<ReportStatus>

const sendComment: Sender = async (target, status, due) => {
  const { client, repositoryId, pullRequest, desired } = target
  if (desired.comment === undefined || pullRequest === undefined) return status
  const { body, mayCreate } = desired.comment.content
  const known = recordOf(status, 'Comment')?.id
  if (known !== undefined && (await client.editComment(repositoryId, known, body))) return withWritten(status, due, { id: known })
  // The answer to its creation may be lost, also after a person deleted one.
  const found = await client.findComment(repositoryId, pullRequest, commentMarker(target.context.marker))
  const edits = found !== undefined && found !== known
  if (edits && (await client.editComment(repositoryId, found, body))) return withWritten(status, due, { id: found })
  // A person deleted it: it comes back with the next state, and an end is not written where a person deleted the comment.
  if (!mayCreate) return withWritten(status, due, {})
  return withWritten(status, due, { id: await client.createComment(repositoryId, pullRequest, body) })
}

const sendCommitStatus: Sender = async ({ client, repositoryId, desired }, status, due) => {
  if (desired.commitStatus === undefined) return status
  const { commit, onlyPending, ...report } = desired.commitStatus.content
  const isRead = due.isUncertain || onlyPending
  const shown = isRead ? await client.findCommitStatus(repositoryId, commit, report.context) : undefined
  const isThere = sameJson(shown, report) || (onlyPending && shown?.state !== 'pending')
  if (!isThere) await client.createCommitStatus(repositoryId, commit, report)
  const written = withWritten(status, due, { commit, state: report.state })
  return report.state === 'pending' ? written : withoutPendingCommit(written, commit)
}

const sendDeployment: Sender = async ({ client, repositoryId, desired }, status, due) => {
  if (desired.deployment === undefined) return status
  const { content } = desired.deployment
  const found = await client.findDeployment(repositoryId, content)
  const id = found ?? (await client.createDeployment(repositoryId, content))
  const superseded = recordOf(status, 'Deployment')?.id === id ? status : withSupersededDeployment(status)
  const known = withoutUnanswered(withEndedDeployment(superseded, id), content.commit)
  return withWritten(known, due, { id, commit: content.commit })
}

const sendDeploymentStatus: Sender = async ({ client, repositoryId, desired }, status, due) => {
  const deployment = recordOf(status, 'Deployment')
  const isAbout = desired.deployment === undefined || deployment?.written === desired.deployment.hash
  if (desired.deploymentStatus === undefined || deployment?.id === undefined || !isAbout) return status
  const { id } = deployment
  const { content } = desired.deploymentStatus
  const { endsOthers: _sent, ...report } = content
  const isThere = due.isUncertain && sameJson(await client.findDeploymentStatus(repositoryId, id), report)
  if (!isThere && !(await client.createDeploymentStatus(repositoryId, id, content))) return withoutDeployment(status)
  return withWritten(status, due, { id, state: report.state })
}

const sendFormerDeployment: Sender = async ({ client, repositoryId, desired, context }, status, due) => {
  // The writes before this one may have changed the list.
  const ending = endingDeployments(status, desired).find(({ hash }) => hash === due.hash)
  if (ending === undefined) return status
  const { commit } = ending
  const id = commit === undefined ? ending.id : await client.findDeployment(repositoryId, { ...context, commit })
  const known = commit === undefined ? status : withoutUnanswered(status, commit)
  if (id === undefined || id === recordOf(status, 'Deployment')?.id) return withWritten(known, due, {})
  // Its last state may be one whose answer was lost.
  const shown = await client.findDeploymentStatus(repositoryId, id)
  // One that a person deleted has ended, too.
  if (shown?.state !== 'inactive') await client.createDeploymentStatus(repositoryId, id, formerStatus(context))
  return withWritten(withEndedDeployment(known, id), due, {})
}

const senders: Readonly<Record<DueWrite['kind'], Sender>> = {
  Comment: sendComment,
  CommitStatus: sendCommitStatus,
  Deployment: sendDeployment,
  DeploymentStatus: sendDeploymentStatus,
  FormerDeployment: sendFormerDeployment,
}
