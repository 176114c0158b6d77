// The JSON of labels.
import { fullName, repositoryById } from '../../state/github-state.ts'
import type { Label, PullRequest } from '../../state/repositories.ts'
import { nodeId, type View } from '../view.ts'

/** OpenAPI `label`. */
export function labelView({ links, state }: View, label: Label) {
  const repository = repositoryById(state, label.repositoryId)
  if (!repository) throw new Error(`label ${label.id} belongs to repository ${label.repositoryId}, which does not exist`)
  return {
    id: label.id,
    node_id: nodeId('Label', label.id),
    url: links.api(`/repos/${fullName(state, repository)}/labels/${encodeURIComponent(label.name)}`),
    name: label.name,
    description: '',
    color: 'ededed',
    default: false,
  }
}

/** The labels of a pull request, in the order in which they were added. */
export function labelsOf(view: View, pull: PullRequest) {
  return pull.labelIds.flatMap(id => {
    const label = view.state.labels.find(one => one.id === id)
    return label ? [labelView(view, label)] : []
  })
}
