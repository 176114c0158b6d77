// The JSON of commit statuses, deployments and deployment statuses.

import { fullName, userOf } from '../state/github-state.ts'
import type { CommitState, CommitStatus, Deployment, DeploymentStatus, Repository } from '../state/repositories.ts'
import { simpleUser } from './account.ts'
import { appOfBot } from './app.ts'
import { minimalRepository } from './repository.ts'
import { nodeId, type View } from './view.ts'

function urlOf({ links, state }: View, repository: Repository): string {
  return links.api(`/repos/${fullName(state, repository)}`)
}

/** OpenAPI `simple-commit-status`. */
export function simpleStatus(view: View, repository: Repository, status: CommitStatus) {
  return {
    url: `${urlOf(view, repository)}/statuses/${status.sha}`,
    avatar_url: view.links.web(`/avatars/u/${status.creatorId}`),
    id: status.id,
    node_id: nodeId('StatusContext', status.id),
    state: status.state,
    description: status.description,
    target_url: status.targetUrl,
    context: status.context,
    created_at: status.createdAt,
    updated_at: status.createdAt,
  }
}

/** OpenAPI `status`. */
export function statusView(view: View, repository: Repository, status: CommitStatus) {
  return {
    ...simpleStatus(view, repository, status),
    creator: simpleUser(view, userOf(view.state, status.creatorId)),
  }
}

/** The combined state of all contexts: failure before pending, pending before success; pending without any status. */
function combinedState(latest: readonly CommitStatus[]): CommitState {
  if (latest.some(one => one.state === 'failure' || one.state === 'error')) return 'failure'
  return latest.length === 0 || latest.some(one => one.state === 'pending') ? 'pending' : 'success'
}

/** OpenAPI `combined-commit-status`; `latest` has one status per context. */
export function combinedStatus(view: View, repository: Repository, sha: string, latest: readonly CommitStatus[]) {
  return {
    state: combinedState(latest),
    statuses: latest.map(one => simpleStatus(view, repository, one)),
    sha,
    total_count: latest.length,
    repository: minimalRepository(view, repository),
    commit_url: `${urlOf(view, repository)}/commits/${sha}`,
    url: `${urlOf(view, repository)}/commits/${sha}/status`,
  }
}

/** OpenAPI `deployment`. */
export function deploymentView(view: View, repository: Repository, deployment: Deployment) {
  const url = `${urlOf(view, repository)}/deployments/${deployment.id}`
  return {
    url,
    id: deployment.id,
    node_id: nodeId('Deployment', deployment.id),
    sha: deployment.sha,
    ref: deployment.ref,
    task: deployment.task,
    payload: JSON.parse(deployment.payload) as unknown,
    original_environment: deployment.environment,
    environment: deployment.environment,
    description: deployment.description,
    creator: simpleUser(view, userOf(view.state, deployment.creatorId)),
    created_at: deployment.createdAt,
    updated_at: deployment.updatedAt,
    statuses_url: `${url}/statuses`,
    repository_url: urlOf(view, repository),
    transient_environment: deployment.transient,
    production_environment: deployment.production,
    performed_via_github_app: appOfBot(view, deployment.creatorId),
  }
}

/** OpenAPI `deployment-status`. */
export function deploymentStatusView(view: View, repository: Repository, status: DeploymentStatus) {
  const deploymentUrl = `${urlOf(view, repository)}/deployments/${status.deploymentId}`
  return {
    url: `${deploymentUrl}/statuses/${status.id}`,
    id: status.id,
    node_id: nodeId('DeploymentStatus', status.id),
    state: status.state,
    creator: simpleUser(view, userOf(view.state, status.creatorId)),
    description: status.description,
    environment: status.environment,
    target_url: status.logUrl,
    created_at: status.createdAt,
    updated_at: status.createdAt,
    deployment_url: deploymentUrl,
    repository_url: urlOf(view, repository),
    environment_url: status.environmentUrl,
    log_url: status.logUrl,
    performed_via_github_app: null,
  }
}
