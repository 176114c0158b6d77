// The routes about deployments and their statuses. https://docs.github.com/en/rest/deployments
import { emitDeployment, emitDeploymentStatus } from '../../actions/status-events.ts'
import { timestamp } from '../../state/clock.ts'
import { nextId } from '../../state/github-state.ts'
import { type Deployment, type DeploymentStatus, deploymentStates } from '../../state/repositories.ts'
import { deploymentStatusView, deploymentView } from '../../views/status.ts'
import { created, invalidField, noContent, notFound, ok, RestError } from '../protocol/answer.ts'
import { fieldsOf } from '../protocol/body.ts'
import { paged } from '../protocol/page.ts'
import { actionOf, type RepositoryCall, type RestRoute, repositoryRoute, writerOf } from '../route.ts'
import { keepEnvironment } from './environments.ts'

const maxPayload = 64 * 1024

function deploymentOf({ context, repository, params }: RepositoryCall): Deployment {
  const found = context.state.deployments.find(
    one => one.repositoryId === repository.id && String(one.id) === params['deployment_id'],
  )
  if (!found) throw notFound()
  return found
}

function statusesOf(call: RepositoryCall, deployment: Deployment): DeploymentStatus[] {
  return call.context.state.deploymentStatuses.filter(one => one.deploymentId === deployment.id).reverse()
}

function list(call: RepositoryCall) {
  const { context, repository, query } = call
  const asked = (['sha', 'ref', 'task', 'environment'] as const).filter(name => query.has(name))
  const found = context.state.deployments.filter(
    one => one.repositoryId === repository.id && asked.every(name => one[name] === query.get(name)),
  )
  return paged(call.paging, found.reverse(), one => deploymentView(context, repository, one))
}

async function create(call: RepositoryCall) {
  const { context, repository } = call
  const fields = fieldsOf(call.body, 'Deployment')
  const ref = fields.text('ref', 255)
  const sha = await context.git.resolve(repository.id, ref)
  if (sha === undefined) throw new RestError(422, `No ref found for: ${ref.slice(0, 80)}`)
  const payload = JSON.stringify(fields.raw('payload') ?? {})
  if (payload.length > maxPayload) throw invalidField('Deployment', 'payload', 'invalid')
  const environment = fields.optionalText('environment', 255) ?? 'production'
  const at = timestamp(context.now())
  const deployment: Deployment = context.store.change(state => {
    const made = {
      id: nextId(state),
      repositoryId: repository.id,
      sha,
      ref,
      task: fields.optionalText('task', 128) ?? 'deploy',
      environment,
      description: fields.optionalText('description', 140) ?? null,
      payload,
      transient: fields.optionalBoolean('transient_environment') ?? false,
      production: fields.optionalBoolean('production_environment') ?? environment === 'production',
      creatorId: writerOf(call).id,
      createdAt: at,
      updatedAt: at,
    }
    state.deployments.push(made)
    keepEnvironment(state, { repositoryId: repository.id, name: environment })
    return made
  })
  emitDeployment(actionOf(call), deployment)
  const view = deploymentView(context, repository, deployment)
  return created(view, { location: view.url })
}

/**
 * A success makes earlier successes of the same environment inactive, unless the request says otherwise. Transient and
 * production deployments stay. https://docs.github.com/en/rest/deployments/statuses#create-a-deployment-status
 * (`auto_inactive`)
 */
function retireEarlier(call: RepositoryCall, deployment: Deployment): void {
  const { context } = call
  const earlier = context.state.deployments.filter(
    one =>
      one.id < deployment.id &&
      one.repositoryId === deployment.repositoryId &&
      one.environment === deployment.environment &&
      !one.transient &&
      !one.production,
  )
  for (const one of earlier) {
    const [latest] = statusesOf(call, one)
    if (latest?.state !== 'success') continue
    context.store.change(state => {
      state.deploymentStatuses.push({ ...latest, id: nextId(state), state: 'inactive', createdAt: timestamp(context.now()) })
    })
  }
}

function createStatus(call: RepositoryCall) {
  const { context, repository } = call
  const deployment = deploymentOf(call)
  const fields = fieldsOf(call.body, 'DeploymentStatus')
  const reported = fields.optionalOneOf('state', deploymentStates)
  if (reported === undefined) throw invalidField('DeploymentStatus', 'state', 'missing_field')
  const status: DeploymentStatus = context.store.change(state => {
    deployment.updatedAt = timestamp(context.now())
    const made = {
      id: nextId(state),
      deploymentId: deployment.id,
      state: reported,
      description: fields.optionalText('description', 140) ?? '',
      environment: fields.optionalText('environment', 255) ?? deployment.environment,
      environmentUrl: fields.optionalText('environment_url', 2000) ?? '',
      logUrl: fields.optionalText('log_url', 2000) ?? fields.optionalText('target_url', 2000) ?? '',
      creatorId: writerOf(call).id,
      createdAt: deployment.updatedAt,
    }
    state.deploymentStatuses.push(made)
    return made
  })
  emitDeploymentStatus(actionOf(call), deployment, status)
  if (reported === 'success' && (fields.optionalBoolean('auto_inactive') ?? true)) retireEarlier(call, deployment)
  const view = deploymentStatusView(context, repository, status)
  return created(view, { location: view.url })
}

function remove(call: RepositoryCall) {
  const deployment = deploymentOf(call)
  const [latest] = statusesOf(call, deployment)
  const others = call.context.state.deployments.filter(one => one.repositoryId === call.repository.id).length > 1
  if (others && latest && latest.state !== 'inactive')
    throw new RestError(422, 'We cannot delete an active deployment unless it is the only deployment in a given environment.')
  call.context.store.change(state => {
    state.deployments = state.deployments.filter(one => one !== deployment)
    state.deploymentStatuses = state.deploymentStatuses.filter(one => one.deploymentId !== deployment.id)
  })
  return noContent
}

const reading = { permission: 'deployments', level: 'read' } as const
const writing = { permission: 'deployments', level: 'write' } as const
const root = '/repos/{owner}/{repo}/deployments'

export const deploymentRoutes: readonly RestRoute[] = [
  repositoryRoute(reading, { method: 'GET', path: root, handle: list }),
  repositoryRoute(writing, { method: 'POST', path: root, handle: create }),
  repositoryRoute(reading, {
    method: 'GET',
    path: `${root}/{deployment_id}`,
    handle: call => ok(deploymentView(call.context, call.repository, deploymentOf(call))),
  }),
  repositoryRoute(writing, { method: 'DELETE', path: `${root}/{deployment_id}`, handle: remove }),
  repositoryRoute(reading, {
    method: 'GET',
    path: `${root}/{deployment_id}/statuses`,
    handle: call =>
      paged(call.paging, statusesOf(call, deploymentOf(call)), one => deploymentStatusView(call.context, call.repository, one)),
  }),
  repositoryRoute(writing, { method: 'POST', path: `${root}/{deployment_id}/statuses`, handle: createStatus }),
]
