// Owns: the events about commit statuses, deployments and their statuses. Never changes anything.
import type { User } from '../../state/accounts.ts'
import type { CommitStatus, Deployment, DeploymentStatus, Repository } from '../../state/repositories.ts'
import { fullName } from '../../state/world.ts'
import { commitView } from '../../views/commit.ts'
import { eventFrame } from '../../views/event-frame.ts'
import { deploymentStatusView, deploymentView } from '../../views/status.ts'
import type { ActionContext } from '../context.ts'

/** Branches that a status event names. */
const mostBranches = 10

function emit(
  context: ActionContext,
  repository: Repository,
  name: string,
  action: string | null,
  payload: Record<string, unknown>,
): void {
  context.webhooks.emit({ name, action, accountId: repository.ownerId, repositoryId: repository.id, payload })
}

export function tellDeployment(context: ActionContext, repository: Repository, deployment: Deployment, sender: User): void {
  emit(context, repository, 'deployment', 'created', {
    deployment: deploymentView(context, repository, deployment),
    workflow: null,
    workflow_run: null,
    ...eventFrame(context, repository, sender),
  })
}

export function tellDeploymentStatus(
  context: ActionContext,
  repository: Repository,
  deployment: Deployment,
  status: DeploymentStatus,
  sender: User,
): void {
  emit(context, repository, 'deployment_status', 'created', {
    deployment_status: deploymentStatusView(context, repository, status),
    deployment: deploymentView(context, repository, deployment),
    ...eventFrame(context, repository, sender),
  })
}

/** Sends `status`, with the branches that stand at the commit. */
export async function tellStatus(
  context: ActionContext,
  repository: Repository,
  status: CommitStatus,
  sender: User,
): Promise<void> {
  const commit = await context.git.commit(repository.id, status.sha)
  const heads = await context.git.refs(repository.id, 'refs/heads/')
  const url = context.links.api(`/repos/${fullName(context.world, repository)}/commits/${status.sha}`)
  const branches = [...heads].filter(([, sha]) => sha === status.sha).slice(0, mostBranches)
  emit(context, repository, 'status', null, {
    id: status.id,
    sha: status.sha,
    name: fullName(context.world, repository),
    target_url: status.targetUrl,
    avatar_url: context.links.web(`/avatars/u/${status.creatorId}`),
    context: status.context,
    description: status.description,
    state: status.state,
    commit: commitView(context, repository, commit),
    branches: branches.map(([ref, sha]) => ({ name: ref.slice('refs/heads/'.length), commit: { sha, url }, protected: false })),
    created_at: status.createdAt,
    updated_at: status.createdAt,
    ...eventFrame(context, repository, sender),
  })
}
