// The logins of people in a namespace, as GitHub last answered about their RepositoryGrants. For display: a login can pass to
// another person.
import { isKubeError } from '../../kube/client/errors.ts'
import { compareText } from '../../lib/text/compare-text.ts'
import type { Cluster } from './cluster.ts'
import { repositoryGrants } from './kinds.ts'

/** By user name of Kubernetes. Empty for a person who may not list RepositoryGrants. */
export async function knownLogins({ client, namespace }: Cluster): Promise<ReadonlyMap<string, string>> {
  try {
    const grants = await client.list(repositoryGrants, { namespace })
    const oldestFirst = grants.toSorted((a, b) => compareText(a.status?.checkedAt ?? '', b.status?.checkedAt ?? ''))
    return new Map(
      oldestFirst.flatMap(({ spec, status }) =>
        status?.requester === undefined ? [] : [[spec.requestedBy, status.requester.login] as const],
      ),
    )
  } catch (error) {
    if (isKubeError(error, 403)) return new Map()
    throw error
  }
}
