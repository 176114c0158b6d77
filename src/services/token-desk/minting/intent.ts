// What will be minted for an admitted request, and the key under which an active token may be used again. Pure. Why not the
// cache of @octokit/auth-app: its key leaves out host and App, and depends on the order and the type of the repositories
// (docs/adr/0004-own-token-cache.md).
import { createHash } from 'node:crypto'
import { canonicalJson } from '../../../lib/json/canonical-json.ts'
import { tokenSeconds } from '../../../policy/grants/token-lifetime.ts'
import type { TokenIntent } from '../../../store/token-registry.ts'
import type { Admitted } from '../checks.ts'

/** The intent to mint by the numeric ids of the decision; ids are sorted and without duplicates. */
export function intentOf({ grant, grantUid, installation, app, subject, repositories }: Admitted): TokenIntent {
  const intent = {
    installation: { host: app.host, appId: app.appId, installationId: installation.spec.installationId },
    grantUid,
    subject,
    repositoryIds: [...new Set(repositories.map(({ id }) => id))].sort((a, b) => a - b),
    permissions: grant.spec.permissions,
  }
  const key = cacheKey({ ...intent, api: app.api }, tokenSeconds(grant.status?.tokenLifetimes, subject))
  return { ...intent, grantName: grant.metadata.name, api: app.api, cacheKey: key }
}

/**
 * SHA-256 (hex) of canonical JSON: equal exactly when the same subject requests under the same grant the same repositories and
 * permissions of the same installation of the same App on the same host, for the same time.
 */
function cacheKey(intent: Omit<TokenIntent, 'cacheKey' | 'grantName'>, lifeSeconds: number): string {
  const { installation, subject, repositoryIds, permissions } = intent
  const text = canonicalJson({
    host: installation.host,
    api: intent.api,
    appId: installation.appId,
    installationId: installation.installationId,
    repositoryIds: [...repositoryIds],
    permissions: { ...permissions },
    grant: intent.grantUid,
    lifeSeconds,
    subject: { kind: subject.kind, namespace: subject.namespace, name: subject.name, uid: subject.uid },
  })
  return createHash('sha256').update(text).digest('hex')
}
