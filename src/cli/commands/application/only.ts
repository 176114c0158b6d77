// Which Application is meant when none is named: the only one of the namespace.
import type { Application } from '../../../api/apps/application.ts'
import { AppError } from '../../../lib/errors.ts'
import { type Cluster, found } from '../../kubernetes/cluster.ts'
import { applications } from '../../kubernetes/kinds.ts'

/** Rejects with `not_found` when it does not exist, and with `invalid_request`, which lists them, when there are several. */
export async function namedOrOnly(cluster: Cluster, name: string | undefined): Promise<Application> {
  if (name !== undefined) return found(cluster, applications, name)
  const { client, namespace } = cluster
  const [first, ...others] = await client.list(applications, { namespace })
  if (first === undefined)
    throw new AppError(
      'not_found',
      `there is no Application in ${namespace}; -n names another namespace, and docs/guide/first-application.md begins with one`,
    )
  if (others.length === 0) return first
  const names = [first, ...others].map(({ metadata }) => metadata.name).join(', ')
  throw new AppError('invalid_request', `there are several Applications in ${namespace}: name one of ${names}`)
}
