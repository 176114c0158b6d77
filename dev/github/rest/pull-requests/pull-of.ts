// The pull request that a path names.
import { pullRequestByNumber } from '../../state/github-state.ts'
import type { PullRequest } from '../../state/repositories.ts'
import { notFound } from '../protocol/answer.ts'
import type { RepositoryCall } from '../route.ts'

/** @throws RestError 404 when the repository has no pull request of that number */
export function pullOf(
  { context, repository, params }: RepositoryCall,
  parameter: 'pull_number' | 'issue_number' = 'pull_number',
): PullRequest {
  const number = params[parameter] ?? ''
  const found = /^\d{1,9}$/.test(number) ? pullRequestByNumber(context.state, repository.id, Number(number)) : undefined
  if (!found) throw notFound()
  return found
}
