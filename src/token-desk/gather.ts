// Reads what a request is judged by, from the API server itself: a cache may be behind by the moment in which a grant was revoked.
// Never throws on absence, never writes.
import { type Installation, installation as installations } from '../api/github/installation.ts'
import { type RepositoryGrant, repositoryGrant } from '../api/github/repository-grant.ts'
import type { AppClient } from '../github/index.ts'
import type { KubeClient } from '../kube/client/client.ts'
import type { Clock } from '../lib/clock.ts'
import { isAppError } from '../lib/errors.ts'
import type { GitHubApps } from './app-clients.ts'
import type { DeskFacts } from './facts.ts'
import type { TokenRequest } from './token-desk.ts'

export type GatherDeps = {
  readonly client: Pick<KubeClient, 'get'>
  readonly githubApps: GitHubApps
  readonly clock: Clock
}

export type Gathered = { readonly facts: DeskFacts; readonly client: AppClient | undefined }

export async function gather(deps: GatherDeps, request: TokenRequest): Promise<Gathered> {
  const { name, namespace = '', uid } = request.grant.metadata
  const grant: RepositoryGrant | undefined = await deps.client.get(repositoryGrant, { namespace, name })
  const installation: Installation | undefined =
    grant && (await deps.client.get(installations, { namespace, name: grant.spec.installation }))
  const app = installation && (await usableApp(deps.githubApps, installation.spec.app))
  return {
    facts: {
      grant,
      grantUid: uid,
      installation,
      app: app && { host: app.endpoints.host, appId: app.appId },
      subject: request.subject,
      now: deps.clock.now(),
    },
    client: app?.client,
  }
}

async function usableApp(githubApps: GitHubApps, name: string) {
  try {
    return await githubApps.get(name)
  } catch (error) {
    if (isAppError(error, 'not_found') || isAppError(error, 'invalid_configuration')) return undefined
    throw error
  }
}
