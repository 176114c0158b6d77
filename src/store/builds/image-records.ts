// What builds pushed to the registry, by repository and tag: from these records the platform finds what nothing names any more.
// A record says when its image is looked at next, since when no look found it named, and, before its manifest is deleted, that
// this is intended. A record that is lost only leaves an image in the registry.
import type { ImageRow, PrismaClient } from '../generated/client.ts'

/** `Image`: of one build. `Cache`: of all builds of one RemoteSync, and needed as long as that exists. */
export type PushedKind = 'Image' | 'Cache'

/** `registry` is a host with its port; `repository` is the path there. */
export type PushedRepository = { readonly registry: string; readonly repository: string }

export type PushedImage = PushedRepository & {
  readonly tag: string
  /** Of the tenant. */
  readonly namespace: string
  readonly kind: PushedKind
  /** The uid of the RemoteSync; undefined for a tag that was found in the registry. */
  readonly owner: string | undefined
  /** The uid of the object that built it last; as `owner`. */
  readonly buildId: string | undefined
  /** Built for a preview: it goes soon after the RemoteSync. */
  readonly ofPreview: boolean
}

export type ImageRecord = PushedImage & {
  /** What the tag was found to mean. */
  readonly digest: string | undefined
  readonly lookAt: Date
  /** When a look found that nothing names it; undefined when the last look found it named. */
  readonly unusedSince: Date | undefined
  /** When its deletion was intended; it may have happened or not. */
  readonly deletingSince: Date | undefined
}

/**
 * The port of the controllers. Functions that take tags concern records of one repository, and ignore those that do not exist.
 */
export type ImageRecords = {
  /** Adds records. One that exists is begun anew when another build pushes its tag, and otherwise stays as it is. */
  readonly record: (images: readonly PushedImage[], lookAt: Date) => Promise<void>
  /** Repositories with a record that is to be looked at, the one that waits longest first. */
  readonly due: (
    registry: string,
    now: Date,
    limit: number,
  ) => Promise<readonly (PushedRepository & { readonly namespace: string })[]>
  /** Up to `limit` records of the repository, by tag. */
  readonly ofRepository: (repository: PushedRepository, limit: number) => Promise<readonly ImageRecord[]>
  readonly resolve: (repository: PushedRepository, tag: string, digest: string) => Promise<void>
  /** Sets what a look found. `unusedSince` undefined: it is named. An intended deletion is not intended any more. */
  readonly looked: (
    repository: PushedRepository,
    tags: readonly string[],
    found: { readonly lookAt: Date; readonly unusedSince: Date | undefined },
  ) => Promise<void>
  /** Looks at them later; nothing is known of them now. */
  readonly postpone: (repository: PushedRepository, tags: readonly string[], lookAt: Date) => Promise<void>
  /** Records the intent to delete them. False when one of them is not unused, or is gone: then nothing may be deleted. */
  readonly intend: (repository: PushedRepository, tags: readonly string[], at: Date) => Promise<boolean>
  /** The uids of the RemoteSyncs of previews, whether or not they exist, of which there are records. */
  readonly previewOwners: (registry: string) => Promise<readonly string[]>
  /** Looks at the images of these previews at this time at the latest. */
  readonly hasten: (registry: string, previewOwners: readonly string[], lookAt: Date) => Promise<void>
  /** They are not in the registry any more. */
  readonly forget: (repository: PushedRepository, tags: readonly string[]) => Promise<void>
}

function recordOf(row: ImageRow): ImageRecord {
  const { registry, repository, tag, namespace, lookAt } = row
  return {
    ...{ registry, repository, tag, namespace, lookAt },
    kind: row.kind === 'Cache' ? 'Cache' : 'Image',
    owner: row.owner ?? undefined,
    buildId: row.buildId ?? undefined,
    ofPreview: row.preview,
    digest: row.digest ?? undefined,
    unusedSince: row.unusedSince ?? undefined,
    deletingSince: row.deletingSince ?? undefined,
  }
}

/** Image records over Prisma, by the role of the controllers. */
export function createImageRecords({ prisma }: { readonly prisma: PrismaClient }): ImageRecords {
  const these = ({ registry, repository }: PushedRepository, tags: readonly string[]) => {
    return { registry, repository, tag: { in: [...tags] } }
  }
  return {
    async record(images, lookAt) {
      for (const { registry, repository, tag, namespace, kind, owner = null, buildId = null, ofPreview } of images)
        await prisma.$executeRaw`
          INSERT INTO builds.images AS known (registry, repository, tag, namespace, kind, owner, build_id, look_at, preview)
          VALUES (${registry}, ${repository}, ${tag}, ${namespace}, ${kind}, ${owner}, ${buildId}::uuid, ${lookAt}, ${ofPreview})
          ON CONFLICT (registry, repository, tag) DO UPDATE
          SET owner = EXCLUDED.owner, build_id = EXCLUDED.build_id, digest = NULL, look_at = EXCLUDED.look_at, preview = EXCLUDED.preview,
            unused_since = NULL, deleting_since = NULL
          WHERE EXCLUDED.build_id IS NOT NULL AND known.build_id IS DISTINCT FROM EXCLUDED.build_id`
    },
    due: (registry, now, limit) => prisma.$queryRaw`
      SELECT registry, repository, namespace FROM builds.images WHERE registry = ${registry} AND look_at <= ${now}
      GROUP BY registry, repository, namespace ORDER BY min(look_at) LIMIT ${limit}`,
    async ofRepository({ registry, repository }, limit) {
      const rows = await prisma.imageRow.findMany({ where: { registry, repository }, orderBy: { tag: 'asc' }, take: limit })
      return rows.map(recordOf)
    },
    async resolve(repository, tag, digest) {
      await prisma.imageRow.updateMany({ where: these(repository, [tag]), data: { digest } })
    },
    async looked(repository, tags, { lookAt, unusedSince = null }) {
      const data = { lookAt, unusedSince, deletingSince: null }
      await prisma.imageRow.updateMany({ where: these(repository, tags), data })
    },
    async postpone(repository, tags, lookAt) {
      await prisma.imageRow.updateMany({ where: these(repository, tags), data: { lookAt } })
    },
    async intend(repository, tags, at) {
      const where = { ...these(repository, tags), unusedSince: { not: null } }
      const { count } = await prisma.imageRow.updateMany({ where, data: { deletingSince: at } })
      return count === tags.length
    },
    async previewOwners(registry) {
      const where = { registry, preview: true, owner: { not: null } }
      const rows = await prisma.imageRow.findMany({ where, distinct: ['owner'], select: { owner: true } })
      return rows.flatMap(({ owner }) => owner ?? [])
    },
    async hasten(registry, previewOwners, lookAt) {
      const where = { registry, preview: true, owner: { in: [...previewOwners] }, lookAt: { gt: lookAt } }
      await prisma.imageRow.updateMany({ where, data: { lookAt } })
    },
    async forget(repository, tags) {
      await prisma.imageRow.deleteMany({ where: these(repository, tags) })
    },
  }
}
