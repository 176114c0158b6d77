// The Applications that a grant names: it is bound to those that were there when it was approved, by their UIDs. What holds is
// known without GitHub, so that an Application that is gone ends its tokens also while GitHub does not answer. Pure.
import type { Application } from '../../api/apps/application.ts'
import { type RepositoryGrant, repositoryGrantReasons as reasons } from '../../api/github/repository-grant.ts'
import type { ObjectKey } from '../../api/resource.ts'
import type { Refusal } from '../../policy/check.ts'

/** An Application that the grant names, as it is now; `uid` is undefined when there is none, or when it is being deleted. */
export type NamedApplication = { readonly name: string; readonly uid: string | undefined; readonly isolated: boolean }

type Bound = NonNullable<NonNullable<RepositoryGrant['status']>['applications']>

/** The names of its subjects of the kind Application. */
export function applicationNames({ spec }: Pick<RepositoryGrant, 'spec'>): readonly string[] {
  return spec.subjects.filter(({ kind }) => kind === 'Application').map(({ name }) => name)
}

export function namedApplications(
  grant: RepositoryGrant,
  applications: { readonly get: (key: ObjectKey) => Application | undefined },
): readonly NamedApplication[] {
  const { namespace = '' } = grant.metadata
  return applicationNames(grant).map(name => {
    const found = applications.get({ namespace, name })
    const uid = found?.metadata.deletionTimestamp === undefined ? found?.metadata.uid : undefined
    return { name, uid, isolated: found?.spec.isolated === true }
  })
}

/** Why the grant does not hold, whatever GitHub says: one of its Applications is not there, is another one, or is isolated. */
export function applicationProblem({ status }: RepositoryGrant, applications: readonly NamedApplication[]): Refusal | undefined {
  for (const { name, uid, isolated } of applications) {
    const bound = status?.applications?.find(one => one.name === name)
    const again = 'delete the grant and create it again'
    if (uid === undefined) {
      const message = bound
        ? `Application ${name} (UID ${bound.uid}), for which the grant was approved, was deleted: ${again} when there is another one`
        : `there is no Application ${name}: create it, or name another one in a new grant`
      return { reason: reasons.applicationNotFound, message }
    }
    if (bound !== undefined && bound.uid !== uid) {
      const message = `Application ${name} is another one (UID ${uid}) than the grant was approved for (UID ${bound.uid}): ${again}`
      return { reason: reasons.applicationReplaced, message }
    }
    if (isolated) {
      const message = `Application ${name} is isolated: its code is not trusted, and it gets no token`
      return { reason: reasons.applicationIsolated, message }
    }
  }
  return undefined
}

/** What the status says from the first approval on; undefined for a grant that names no Application. */
export function boundApplications(applications: readonly NamedApplication[]): Bound | undefined {
  const bound = applications.flatMap(({ name, uid }) => (uid === undefined ? [] : [{ name, uid }]))
  return bound.length === 0 ? undefined : bound
}
