// The builds that a person may see: RBAC is asked about the log of the RemoteSync, and only builds of a RemoteSync that exists
// are shown, so that nobody sees those of a tenant that had the same name before. What is refused and what does not exist have
// the same answer.
import { type RemoteSync, remoteSyncReasons } from '../../api/apps/remote-sync.ts'
import { buildLogAccess } from '../../api/names.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import { findCondition } from '../../kube/object/conditions.ts'
import { AppError } from '../../lib/errors.ts'
import { defined } from '../../lib/json/defined.ts'
import type { BuildRecord } from '../../store/builds/build-record.ts'
import type { KeptLogs } from '../../store/builds/kept-logs.ts'
import type { AccessReviews } from '../people/access-reviews.ts'
import type { Identity } from '../people/tenant-access.ts'

/** A build that waits for its turn: it has no log yet. */
export type QueuedBuild = { readonly remoteSync: string; readonly commit: string; readonly message: string }

export type BuildList = { readonly builds: readonly BuildRecord[]; readonly queued: readonly QueuedBuild[] }

export type VisibleBuilds = {
  /** The newest first. Rejects with `not_found` for who may not read all logs of the namespace. */
  readonly list: (
    identity: Identity,
    namespace: string,
    options: { readonly remoteSync?: string; readonly limit: number },
  ) => Promise<BuildList>
  /** The newest build of that name, or of the RemoteSync of that name. Rejects with `not_found`. */
  readonly find: (identity: Identity, namespace: string, name: string) => Promise<BuildRecord>
  /** Whether the person may still read the log, and its RemoteSync still exists. */
  readonly mayRead: (identity: Identity, build: BuildRecord) => Promise<boolean>
  readonly kept: KeptLogs
}

export type VisibleBuildsDeps = {
  readonly kept: KeptLogs
  readonly reviews: AccessReviews
  readonly remoteSyncs: Pick<Cache<RemoteSync>, 'get' | 'list'>
}

function notFound(): AppError {
  return new AppError('not_found', 'there is no such build, or you may not read its log (get on remotesyncs/log)')
}

/** Asks RBAC for every call; what it allows counts for ten seconds. */
export function createVisibleBuilds({ kept, reviews, remoteSyncs }: VisibleBuildsDeps): VisibleBuilds {
  const exists = ({ namespace, remoteSync: { name, uid } }: BuildRecord): boolean =>
    remoteSyncs.get({ namespace, name })?.metadata.uid === uid

  const mayRead: VisibleBuilds['mayRead'] = async (identity, build) => {
    const { namespace, remoteSync } = build
    return exists(build) && (await reviews.allows(identity, { ...buildLogAccess, namespace, name: remoteSync.name }))
  }

  return {
    kept,
    mayRead,
    async list(identity, namespace, options) {
      const { remoteSync: name } = options
      const question = { ...buildLogAccess, namespace, ...defined({ name }) }
      if (!(await reviews.allows(identity, question))) throw notFound()
      const builds = (await kept.list(namespace, options)).filter(exists)
      const queued = remoteSyncs.list(namespace).flatMap(queuedOf)
      return { builds, queued: queued.filter(({ remoteSync }) => name === undefined || remoteSync === name) }
    },
    async find(identity, namespace, name) {
      const build = await kept.find(namespace, name)
      // Asked in any case: the time of the answer must not say whether there is such a build.
      const allowed = await reviews.allows(identity, { ...buildLogAccess, namespace, name: build?.remoteSync.name ?? name })
      if (build === undefined || !allowed || !exists(build)) throw notFound()
      return build
    },
  }
}

function queuedOf({ metadata, status }: RemoteSync): readonly QueuedBuild[] {
  const ready = findCondition(status?.conditions, 'Ready')
  if (ready?.reason !== remoteSyncReasons.queued) return []
  return [{ remoteSync: metadata.name, commit: status?.commit ?? '', message: ready.message }]
}
