// What must be known about a ClusterGitHubApp: what GitHub answers to the App's own key. Reads only; never throws, a failure is a fact too.
import type { ClusterGitHubApp } from '../../api/github/cluster-github-app.ts'
import { type AppFacts, githubReasons } from '../../github/index.ts'
import { isAppError, messageOf } from '../../lib/errors.ts'
import { type GitHubApps, privateKeyMissing } from '../../token-desk/app-clients.ts'
import { type Unreachable, unreachable } from '../github-unreachable.ts'

/** GitHub's answer; `key-missing` and `key-refused` carry the reason for people. */
export type AppAnswer =
  | { readonly kind: 'app'; readonly app: AppFacts }
  | { readonly kind: 'key-missing' | 'key-refused'; readonly message: string }
  | Unreachable

export type Facts = { readonly object: ClusterGitHubApp; readonly answer: AppAnswer }

/** Costs one request to GitHub. */
export async function gather(githubApps: GitHubApps, object: ClusterGitHubApp): Promise<Facts> {
  return { object, answer: await answerFor(githubApps, object.metadata.name) }
}

async function answerFor(githubApps: GitHubApps, name: string): Promise<AppAnswer> {
  try {
    const { client } = await githubApps.get(name)
    return { kind: 'app', app: await client.app() }
  } catch (error) {
    const message = messageOf(error)
    if (isAppError(error) && error.reason === privateKeyMissing) return { kind: 'key-missing', message }
    const refusedByGitHub = isAppError(error) && error.reason === githubReasons.credentialRefused
    // GitHub answers 404 "Integration not found" when the client id belongs to no App.
    if (refusedByGitHub || isAppError(error, 'invalid_configuration') || isAppError(error, 'not_found'))
      return { kind: 'key-refused', message }
    return unreachable(error)
  }
}
