// The logins of people, for display, as GitHub last answered about their RepositoryGrants in the same namespace. It asks
// nobody: a person of whom no grant says the login has none here.

import type { RepositoryGrant } from '../../../api/github/repository-grant.ts'
import type { Cache } from '../../../kube/cache/object-cache.ts'
import { compareText } from '../../../lib/text/compare-text.ts'

const requesterIndex = 'application/requester'

/** `user`: a user name of Kubernetes. */
export type KnownLogins = (namespace: string, user: string) => string | undefined

/** Call before the cache starts: it gets an index. */
export function createKnownLogins(grants: Pick<Cache<RepositoryGrant>, 'addIndex' | 'byIndex'>): KnownLogins {
  const keyOf = (namespace: string, user: string): string => `${namespace}/${user}`
  grants.addIndex(requesterIndex, ({ metadata, spec }) => [keyOf(metadata.namespace ?? '', spec.requestedBy)])
  return (namespace, user) => newest(grants.byIndex(requesterIndex, keyOf(namespace, user)))
}

/** People rename themselves: the last answer counts. */
function newest(grants: readonly RepositoryGrant[]): string | undefined {
  const answered = grants.flatMap(({ status }) =>
    status?.requester === undefined ? [] : [{ login: status.requester.login, at: status.checkedAt ?? '' }],
  )
  return answered.toSorted((a, b) => compareText(b.at, a.at))[0]?.login
}
