// The webhooks about commit statuses, deployments and their statuses.
import { fullName } from '../state/github-state.ts'
import type { CommitStatus, Deployment, DeploymentStatus } from '../state/repositories.ts'
import { commitView } from '../views/commit.ts'
import { eventFrame } from '../views/event-frame.ts'
import { deploymentStatusView, deploymentView } from '../views/status.ts'
import type { RepositoryAction } from './context.ts'

/** Branches that a status event lists. */
const maxBranches = 10

/** Sends `deployment.created`. */
export function emitDeployment({ context, repository, sender }: RepositoryAction, deployment: Deployment): void {
  context.webhooks.emit({
    name: 'deployment',
    action: 'created',
    accountId: repository.ownerId,
    repositoryId: repository.id,
    payload: {
      deployment: deploymentView(context, repository, deployment),
      workflow: null,
      workflow_run: null,
      ...eventFrame(context, repository, sender),
    },
  })
}

/** Sends `deployment_status.created`. */
export function emitDeploymentStatus(
  { context, repository, sender }: RepositoryAction,
  deployment: Deployment,
  status: DeploymentStatus,
): void {
  context.webhooks.emit({
    name: 'deployment_status',
    action: 'created',
    accountId: repository.ownerId,
    repositoryId: repository.id,
    payload: {
      deployment_status: deploymentStatusView(context, repository, status),
      deployment: deploymentView(context, repository, deployment),
      ...eventFrame(context, repository, sender),
    },
  })
}

/** Sends `status` with the branches whose head is the commit. */
export async function emitStatus({ context, repository, sender }: RepositoryAction, status: CommitStatus): Promise<void> {
  const commit = await context.git.commit(repository.id, status.sha)
  const heads = await context.git.refs(repository.id, 'refs/heads/')
  const name = fullName(context.state, repository)
  const url = context.links.api(`/repos/${name}/commits/${status.sha}`)
  const branches = [...heads].filter(([, sha]) => sha === status.sha).slice(0, maxBranches)
  context.webhooks.emit({
    name: 'status',
    action: null,
    accountId: repository.ownerId,
    repositoryId: repository.id,
    payload: {
      id: status.id,
      sha: status.sha,
      name,
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
    },
  })
}
