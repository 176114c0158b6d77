// The previews that a person may see: RBAC is asked about the AppPipelines, in whose status they stand. What is refused and
// what does not exist have the same answer. Reads caches only.
import { type AppPipeline, appPipeline } from '../../api/apps/app-pipeline.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import { AppError } from '../../lib/errors.ts'
import { compareText } from '../../lib/text/compare-text.ts'
import type { AccessReviews } from '../people/access-reviews.ts'
import type { Identity } from '../people/tenant-access.ts'

/** A row of `status.previews`. */
export type PreviewRow = NonNullable<NonNullable<AppPipeline['status']>['previews']>[number]

export type VisiblePreviews = {
  /** The AppPipelines of the namespace, by name. Rejects with `not_found` for who may not list them. */
  readonly list: (identity: Identity, namespace: string) => Promise<readonly AppPipeline[]>
  /** Rejects with `not_found`, also for who may not get it. */
  readonly find: (identity: Identity, namespace: string, name: string) => Promise<AppPipeline>
}

export type VisiblePreviewsDeps = {
  readonly reviews: AccessReviews
  readonly pipelines: Pick<Cache<AppPipeline>, 'get' | 'list'>
}

function notFound(): AppError {
  return new AppError('not_found', 'there is no such AppPipeline, or you may not see it (get and list on apppipelines)')
}

/** Asks RBAC for every call; what it allows counts for ten seconds. */
export function createVisiblePreviews({ reviews, pipelines }: VisiblePreviewsDeps): VisiblePreviews {
  const question = { group: appPipeline.group, resource: appPipeline.plural }
  return {
    async list(identity, namespace) {
      if (!(await reviews.allows(identity, { ...question, verb: 'list', namespace }))) throw notFound()
      return pipelines.list(namespace).toSorted((a, b) => compareText(a.metadata.name, b.metadata.name))
    },
    async find(identity, namespace, name) {
      const allowed = await reviews.allows(identity, { ...question, verb: 'get', namespace, name })
      const found = pipelines.get({ namespace, name })
      if (!allowed || found === undefined) throw notFound()
      return found
    },
  }
}
