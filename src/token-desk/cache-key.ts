// The key under which a live token may be used again: equal exactly when the same subject asks under the same grant for the same reach of
// the same installation of the same App on the same host. Pure.
// Why not the GitHub library's cache: its key leaves out host and App, and depends on the order and the type of the repositories.
import { createHash } from 'node:crypto'
import { canonicalJson } from '../lib/json/canonical-json.ts'
import type { TokenIntent } from '../store/token-registry.ts'

/** SHA-256 (hex) of the canonical JSON; ids are sorted and without duplicates first. */
export function cacheKey(wish: Omit<TokenIntent, 'cacheKey' | 'grantName'>): string {
  const { installation, subject, permissions } = wish
  const text = canonicalJson({
    host: installation.host,
    appId: installation.appId,
    installationId: installation.installationId,
    repositoryIds: [...new Set(wish.repositoryIds)].sort((a, b) => a - b),
    permissions: { ...permissions },
    grant: wish.grantUid,
    subject: { kind: subject.kind, namespace: subject.namespace, name: subject.name, uid: subject.uid },
  })
  return createHash('sha256').update(text).digest('hex')
}
