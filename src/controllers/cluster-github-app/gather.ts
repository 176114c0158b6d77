// What must be known about a ClusterGitHubApp: what GitHub answers to the App's own key. Reads only; never throws, a failure is
// a fact too.
import type { ClusterGitHubApp } from '../../api/github/cluster-github-app.ts'
import { type AppClient, type AppFacts, githubReasons, signerRefused, type WebhookEncoding } from '../../github/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { isAppError, messageOf } from '../../lib/errors.ts'
import { type GitHubApps, hostConflicts, privateKeyMissing } from '../../services/token-desk/app-clients.ts'
import { type Unreachable, unreachable } from '../kit/github-unreachable.ts'

/** GitHub's answer; `key-missing` and `key-refused` carry the reason for people. */
export type AppAnswer =
  | { readonly kind: 'app'; readonly app: AppFacts; readonly encoding: WebhookEncoding | undefined }
  | { readonly kind: 'key-missing' | 'key-refused' | 'signer-refused' | 'host-conflict'; readonly message: string }
  | Unreachable

export type Facts = { readonly object: ClusterGitHubApp; readonly answer: AppAnswer }

/** What GitHub refused, by the client of a key and a client id: another key has another client. */
export type Refusals = WeakMap<AppClient, { readonly answer: AppAnswer; readonly until: number }>

/** A refused key is not asked about again for so long. */
const refusedMilliseconds = 120_000

/** Costs two requests to GitHub, and none for a key that was refused a moment ago. */
export async function gather(
  { githubApps, refusals, clock }: { readonly githubApps: GitHubApps; readonly refusals: Refusals; readonly clock: Clock },
  object: ClusterGitHubApp,
): Promise<Facts> {
  const now = clock.now().getTime()
  const client = await githubApps.get(object.metadata.name).then(
    found => found.client,
    () => undefined,
  )
  const before = client && refusals.get(client)
  if (before !== undefined && before.until > now) return { object, answer: before.answer }
  const answer = await answerFor(githubApps, object.metadata.name)
  if (client !== undefined && answer.kind === 'key-refused') refusals.set(client, { answer, until: now + refusedMilliseconds })
  return { object, answer }
}

async function answerFor(githubApps: GitHubApps, name: string): Promise<AppAnswer> {
  try {
    const { client } = await githubApps.get(name)
    const app = await client.app()
    return { kind: 'app', app, encoding: await client.webhookEncoding() }
  } catch (error) {
    const message = messageOf(error)
    if (isAppError(error) && error.reason === privateKeyMissing) return { kind: 'key-missing', message }
    if (isAppError(error) && error.reason === hostConflicts) return { kind: 'host-conflict', message }
    if (isAppError(error) && error.reason === signerRefused) return { kind: 'signer-refused', message }
    const refusedByGitHub = isAppError(error) && error.reason === githubReasons.credentialRefused
    // GitHub answers 404 "Integration not found" when the client id belongs to no App.
    if (refusedByGitHub || isAppError(error, 'invalid_configuration') || isAppError(error, 'not_found'))
      return { kind: 'key-refused', message }
    return unreachable(error)
  }
}
