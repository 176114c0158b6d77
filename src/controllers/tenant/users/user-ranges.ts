// The record of which Tenant has which range of user ids: one ConfigMap in the namespace of the platform. Every change is
// conditional on the version that it was decided from, so that two leaders cannot give one range twice. A namespace that says
// its range is believed: only the platform can label it, and the record may have been lost.
import { configMaps } from '../../../api/builtin/index.ts'
import { labels } from '../../../api/names.ts'
import type { KubeObject } from '../../../api/resource.ts'
import type { Tenant } from '../../../api/tenancy/tenant.ts'
import type { Cache } from '../../../kube/cache/object-cache.ts'
import type { KubeClient } from '../../../kube/client/client.ts'
import { AppError } from '../../../lib/errors.ts'
import { firstUserIn, firstUserOf, maxUserRanges, rangeIndexOf } from '../../../lib/limits/user-range.ts'
import { chooseRange, type RecordedRanges } from './choose-range.ts'

/** The ConfigMap: the index of a range → the uid of its Tenant, and the index that was given last. */
export const userRangesMap = 'sekisho-user-ranges'
const lastKey = 'last'

type Deps = {
  readonly client: Pick<KubeClient, 'get' | 'apply' | 'mergePatch'>
  readonly platformNamespace: string
  /** The namespaces of all tenants. */
  readonly namespaces: Pick<Cache<KubeObject>, 'list'>
}

export type UserRanges = {
  /** The first id of the Tenant's range, which is recorded now; undefined when all ranges are taken. */
  readonly allot: (tenant: Tenant) => Promise<number | undefined>
  /** Idempotent; when nothing runs under its ids any more. */
  readonly release: (tenant: Tenant) => Promise<void>
}

const fieldManager = 'sekisho.dev/tenant'

/** Its methods reject with KubeError 409 when another process changed the record meanwhile: the reconcile is retried. */
export function createUserRanges({ client, platformNamespace, namespaces: live }: Deps): UserRanges {
  const key = { namespace: platformNamespace, name: userRangesMap }

  async function read(): Promise<RecordedRanges & { readonly version: string | undefined }> {
    const map = await client.get(configMaps, key)
    return { ...recordedIn(map?.data), version: map?.metadata.resourceVersion }
  }

  /** An apply that names no entry changes none. RBAC can name an object that is applied, not one that is created. */
  async function make(): Promise<void> {
    const { apiVersion, kind } = configMaps
    await client.apply(configMaps, { apiVersion, kind, metadata: key }, { fieldManager })
  }

  /** Null deletes (RFC 7386). */
  async function write(version: string | undefined, data: Readonly<Record<string, string | null>>): Promise<void> {
    const patch = { metadata: { resourceVersion: version }, data }
    const written = await client.mergePatch(configMaps, key, patch, { fieldManager })
    if (written === undefined) throw new AppError('unavailable', `ConfigMap ${userRangesMap} was deleted while it was changed`)
  }

  return {
    async allot(tenant) {
      const { name, uid = '' } = tenant.metadata
      let found = await read()
      if (found.version === undefined) {
        await make()
        found = await read()
      }
      const index = chooseRange(found, uid, indexesOfOthers(live.list(), name))
      if (index === undefined) return undefined
      if (found.taken.get(uid) !== index) await write(found.version, { [index]: uid, [lastKey]: String(index) })
      return firstUserOf(index)
    },
    async release({ metadata: { uid = '' } }) {
      const { taken, version } = await read()
      const index = taken.get(uid)
      if (index !== undefined) await write(version, { [index]: null })
    },
  }
}

function recordedIn({ [lastKey]: last = '', ...entries }: Readonly<Record<string, string>> = {}): RecordedRanges {
  const taken = new Map<string, number>()
  for (const [text, uid] of Object.entries(entries)) {
    const index = indexIn(text)
    if (index !== undefined) taken.set(uid, index)
  }
  return { taken, last: indexIn(last) }
}

function indexIn(text: string): number | undefined {
  const index = /^\d{1,5}$/.test(text) ? Number(text) : undefined
  return index === undefined || index >= maxUserRanges ? undefined : index
}

function indexesOfOthers(all: readonly KubeObject[], tenant: string): readonly number[] {
  return all.flatMap(({ metadata }) => {
    const first = metadata.labels?.[labels.tenant] === tenant ? undefined : firstUserIn(metadata.labels?.[labels.firstUser] ?? '')
    const index = first === undefined ? undefined : rangeIndexOf(first)
    return index === undefined ? [] : [index]
  })
}
