// RepositoryGrants that are gone, as the audit log has their last decision: what a policy would have said to them. Read page by
// page, newest first; of each grant the newest decision is kept.
import type { RepositoryGrant } from '../../../api/github/repository-grant.ts'
import { parseUserSubject } from '../../../api/names.ts'
import { asObject, integerAt, type JsonObject, objectAt, objectsAt, textAt } from '../../../lib/json/json-value.ts'
import { isPermissionLevel } from '../../../policy/permission-level.ts'
import { repositoryGrants } from '../../kubernetes/kinds.ts'
import type { PlatformApi } from '../../platform-api.ts'
import { type Entry, entriesOf } from '../audit/entry.ts'

const pageSize = 1000
/** Grants; who asks for a longer time than that many take learns that the answer is cut. */
const maxGrants = 10_000

/** `host` is that of its Installation. */
export type RecordedGrant = { readonly grant: RepositoryGrant; readonly host: string }
export type RecordedGrants = { readonly grants: readonly RecordedGrant[]; readonly cut: boolean }

/**
 * Those of the namespace, or of all, that were decided since then and whose UID `isThere` does not know.
 * @throws AppError of the platform, also for who may not read the log
 */
export async function recordedGrants(
  api: Pick<PlatformApi, 'lines'>,
  { namespace, since }: { readonly namespace?: string; readonly since: Date },
  isThere: (uid: string) => boolean,
): Promise<RecordedGrants> {
  const query = new URLSearchParams({ action: 'grant.decided', since: since.toISOString(), limit: String(pageSize) })
  if (namespace !== undefined) query.set('namespace', namespace)
  const newest = new Map<string, RecordedGrant>()
  for (;;) {
    const page = entriesOf(await api.lines('/api/v1/audit', query))
    for (const entry of page) {
      const recorded = grantIn(entry)
      const uid = recorded?.grant.metadata.uid
      if (recorded === undefined || uid === undefined || isThere(uid) || newest.has(uid)) continue
      if (newest.size === maxGrants) return { grants: [...newest.values()], cut: true }
      newest.set(uid, recorded)
    }
    const last = page.at(-1)
    if (last === undefined || page.length < pageSize) return { grants: [...newest.values()], cut: false }
    query.set('before', String(last.sequence))
  }
}

/** What the decision was made about; undefined for an entry of another shape. */
function grantIn(entry: Entry): RecordedGrant | undefined {
  const details = objectAt(entry, 'details')
  const [kind, namespace, name] = textAt(entry, 'object')?.split('/') ?? []
  const uid = textAt(details, 'grantUid')
  if (kind !== 'RepositoryGrant' || namespace === undefined || name === undefined || uid === undefined) return undefined
  const repositories = objectsAt(details, 'repositories').flatMap(one => {
    const [id, fullName] = [integerAt(one, 'id'), textAt(one, 'fullName')]
    return id === undefined || fullName === undefined ? [] : [{ id, name: fullName }]
  })
  const person = textAt(details, 'person') ?? ''
  const grant = {
    apiVersion: repositoryGrants.apiVersion,
    kind: repositoryGrants.kind,
    metadata: { name, namespace, uid },
    spec: {
      // The record has the number of the installation, which says nothing about the name of the object.
      installation: '',
      repositories: repositories.map(one => one.name),
      permissions: permissionsIn(objectAt(details, 'permissions')),
      subjects: objectsAt(details, 'subjects') as RepositoryGrant['spec']['subjects'],
      delivery: (textAt(details, 'delivery') ?? 'TokenEndpoint') as RepositoryGrant['spec']['delivery'],
      ...gitIn(details),
      requestedBy: person,
      reason: textAt(entry, 'reason') ?? '',
    },
    status: { decision: decisionIn(details), repositories, decidedAt: textAt(entry, 'at') },
  } as RepositoryGrant
  // Records of before have no host: people request for their own.
  return { grant, host: textAt(details, 'host') ?? parseUserSubject(person)?.host ?? '' }
}

function permissionsIn(levels: JsonObject | undefined): RepositoryGrant['spec']['permissions'] {
  return Object.fromEntries(
    Object.entries(asObject(levels) ?? {}).filter(([, level]) => typeof level === 'string' && isPermissionLevel(level)),
  ) as never
}

/** Older records have no refs: the grant is asked about as if it had named none. */
function gitIn(details: JsonObject | undefined): Pick<RepositoryGrant['spec'], 'git'> {
  const value = details?.['refs']
  const refs = Array.isArray(value) ? value.filter(one => typeof one === 'string') : []
  return refs.length === 0 ? {} : { git: { refs } }
}

function decisionIn(details: JsonObject | undefined): NonNullable<RepositoryGrant['status']>['decision'] {
  const decision = textAt(details, 'decision')
  return decision === 'Approved' || decision === 'Waiting' ? decision : 'Denied'
}
