// The routes about commit statuses. https://docs.github.com/en/rest/commits/statuses
import { emitStatus } from '../../actions/status-events.ts'
import { timestamp } from '../../state/clock.ts'
import { nextId } from '../../state/github-state.ts'
import { type CommitStatus, commitStates } from '../../state/repositories.ts'
import { combinedStatus, statusView } from '../../views/status.ts'
import { created, invalidField, ok, RestError } from '../protocol/answer.ts'
import { fieldsOf } from '../protocol/body.ts'
import { paged } from '../protocol/page.ts'
import { commitOf } from '../repository/branches.ts'
import { actionOf, type RepositoryCall, type RestRoute, repositoryRoute, writerOf } from '../route.ts'

/** GitHub keeps 1000 statuses per commit and context. */
const maxStatuses = 1000

function newestFirst({ context, repository }: RepositoryCall, sha: string): CommitStatus[] {
  return context.state.statuses.filter(one => one.repositoryId === repository.id && one.sha === sha).reverse()
}

async function create(call: RepositoryCall) {
  const { context, repository, params } = call
  const sha = params['sha'] ?? ''
  const found = /^[0-9a-f]{40}$/i.test(sha) ? await context.git.resolve(repository.id, sha) : undefined
  if (found === undefined) throw new RestError(422, `No commit found for SHA: ${sha.slice(0, 80)}`)
  const fields = fieldsOf(call.body, 'Status')
  const reported = fields.optionalOneOf('state', commitStates)
  if (reported === undefined) throw invalidField('Status', 'state', 'missing_field')
  const name = fields.optionalText('context', 255) ?? 'default'
  if (newestFirst(call, found).filter(one => one.context === name).length >= maxStatuses) {
    const message = 'This SHA and context has reached the maximum number of statuses.'
    throw new RestError(422, 'Validation Failed', { errors: [{ resource: 'Status', code: 'custom', message }] })
  }
  const status: CommitStatus = context.store.change(state => {
    const made = {
      id: nextId(state),
      repositoryId: repository.id,
      sha: found,
      state: reported,
      context: name,
      description: fields.optionalText('description', 140) ?? null,
      targetUrl: fields.optionalText('target_url', 2000) ?? null,
      creatorId: writerOf(call).id,
      createdAt: timestamp(context.now()),
    }
    state.statuses.push(made)
    return made
  })
  await emitStatus(actionOf(call), status)
  const view = statusView(context, repository, status)
  return created(view, { location: view.url })
}

const reading = { permission: 'statuses', level: 'read' } as const

export const statusRoutes: readonly RestRoute[] = [
  repositoryRoute(
    { permission: 'statuses', level: 'write' },
    { method: 'POST', path: '/repos/{owner}/{repo}/statuses/{sha}', handle: create },
  ),
  repositoryRoute(reading, {
    method: 'GET',
    path: '/repos/{owner}/{repo}/commits/{ref}/statuses',
    handle: async call =>
      paged(call.paging, newestFirst(call, await commitOf(call)), one => statusView(call.context, call.repository, one)),
  }),
  repositoryRoute(reading, {
    method: 'GET',
    path: '/repos/{owner}/{repo}/commits/{ref}/status',
    handle: async call => {
      const sha = await commitOf(call)
      const all = newestFirst(call, sha)
      const latest = all.filter((one, at) => all.findIndex(other => other.context === one.context) === at)
      return ok(combinedStatus(call.context, call.repository, sha, latest))
    },
  }),
]
