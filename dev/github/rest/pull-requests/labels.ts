// The routes about labels of pull requests; on GitHub these are labels of issues. https://docs.github.com/en/rest/issues/labels
import { addLabels, labelNamed, removeLabel } from '../../actions/pull-requests/labels.ts'
import { repositoryRole, roleAtLeast } from '../../state/access.ts'
import { labelsOf } from '../../views/pull-requests/label.ts'
import { invalidField, notAccessible, ok, RestError } from '../protocol/answer.ts'
import { fieldsOf } from '../protocol/body.ts'
import { actionOf, type RepositoryCall, type RestRoute, repositoryRoute } from '../route.ts'
import { pullOf } from './pull-of.ts'

const maxLabels = 100
const maxName = 50

function namesOf({ body }: RepositoryCall): readonly string[] {
  const names = fieldsOf(body, 'Label').optionalTexts('labels', maxLabels) ?? []
  if (names.length === 0 || names.some(name => name === '' || name.length > maxName))
    throw invalidField('Label', 'name', 'invalid')
  return names
}

/** A person with read access only may comment, but not label. */
function requireTriage({ actor, context, repository }: RepositoryCall): void {
  if (actor.kind !== 'user' && actor.kind !== 'person') return
  if (!roleAtLeast(repositoryRole(context.state, actor.user.id, repository), 'triage')) throw notAccessible()
}

async function add(call: RepositoryCall) {
  requireTriage(call)
  const pull = pullOf(call, 'issue_number')
  await addLabels(actionOf(call), pull, namesOf(call))
  return ok(labelsOf(call.context, pull))
}

async function remove(call: RepositoryCall) {
  requireTriage(call)
  const pull = pullOf(call, 'issue_number')
  const label = labelNamed(call, call.params['name'] ?? '')
  if (!label || !pull.labelIds.includes(label.id)) throw new RestError(404, 'Label does not exist')
  await removeLabel(actionOf(call), pull, label)
  return ok(labelsOf(call.context, pull))
}

const writing = { permission: ['issues', 'pull_requests'], level: 'write' } as const

export const labelRoutes: readonly RestRoute[] = [
  repositoryRoute(writing, { method: 'POST', path: '/repos/{owner}/{repo}/issues/{issue_number}/labels', handle: add }),
  repositoryRoute(writing, {
    method: 'DELETE',
    path: '/repos/{owner}/{repo}/issues/{issue_number}/labels/{name}',
    handle: remove,
  }),
]
