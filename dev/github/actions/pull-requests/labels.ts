// Labels of pull requests: added and removed, with the `pull_request` webhooks. A label that the repository does not have yet
// is made. https://docs.github.com/en/rest/issues/labels
import { timestamp } from '../../state/clock.ts'
import { nextId } from '../../state/github-state.ts'
import type { Label, PullRequest } from '../../state/repositories.ts'
import { labelView } from '../../views/pull-requests/label.ts'
import type { RepositoryAction } from '../context.ts'
import { emitPullRequest } from './events.ts'

/** The label of that name; names are case-insensitive, as on GitHub. */
export function labelNamed(
  { context, repository }: Pick<RepositoryAction, 'context' | 'repository'>,
  name: string,
): Label | undefined {
  return context.state.labels.find(one => one.repositoryId === repository.id && one.name.toLowerCase() === name.toLowerCase())
}

function labelOf(action: RepositoryAction, name: string): Label {
  const { context, repository } = action
  const found = labelNamed(action, name)
  if (found) return found
  return context.store.change(state => {
    const made = { id: nextId(state), repositoryId: repository.id, name }
    state.labels.push(made)
    return made
  })
}

async function change(
  action: RepositoryAction,
  pull: PullRequest,
  label: Label,
  webhook: 'labeled' | 'unlabeled',
): Promise<void> {
  const { context } = action
  context.store.change(() => {
    pull.labelIds = webhook === 'labeled' ? [...pull.labelIds, label.id] : pull.labelIds.filter(id => id !== label.id)
    pull.updatedAt = timestamp(context.now())
  })
  await emitPullRequest(action, pull, webhook, { label: labelView(context, label) })
}

/** Adds those that the pull request does not have yet. */
export async function addLabels(action: RepositoryAction, pull: PullRequest, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const label = labelOf(action, name)
    if (!pull.labelIds.includes(label.id)) await change(action, pull, label, 'labeled')
  }
}

/** The pull request has the label. */
export function removeLabel(action: RepositoryAction, pull: PullRequest, label: Label): Promise<void> {
  return change(action, pull, label, 'unlabeled')
}
