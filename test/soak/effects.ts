// Compares the state of the cluster after a soak run with the expected one: what is missing, duplicated or left over.
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { verifyLog } from '../../src/store/audit/testing/verify-log.ts'
import type { SoakPlatform } from './platform.ts'
import { namespace, paths } from './tenant.ts'

export type Effects = { readonly lost: readonly string[]; readonly duplicate: readonly string[] }

type Child = {
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly ownerReferences?: readonly { readonly name: string; readonly uid: string }[]
  }
  readonly spec?: { readonly template?: { readonly spec?: { readonly containers?: readonly { readonly image: string }[] } } }
}
type Listed<Item> = { readonly items: readonly Item[] }
type Named = { readonly metadata: { readonly name: string; readonly uid: string } }
type Synced = Named & { readonly status?: { readonly commit?: string } }

const childPaths = [
  `/apis/apps/v1/namespaces/${namespace}/deployments`,
  `/api/v1/namespaces/${namespace}/services`,
  `/apis/networking.k8s.io/v1/namespaces/${namespace}/ingresses`,
] as const

type List = <Item>(path: string) => Promise<readonly Item[]>
type Differences = { readonly lost: string[]; readonly duplicate: string[] }

/** Compares the children of one kind; `owners` maps the Applications' uids to their names. */
function compareChildren(
  plural: string,
  children: readonly Child[],
  { owners, wanted }: { readonly owners: ReadonlyMap<string, string>; readonly wanted: ReadonlyMap<string, string> },
  { lost, duplicate }: Differences,
): void {
  const owned = new Map<string, Child[]>()
  for (const child of children) {
    const owner = owners.get(child.metadata.ownerReferences?.[0]?.uid ?? '')
    if (owner === undefined) duplicate.push(`${plural}/${child.metadata.name} belongs to no Application`)
    else owned.set(owner, [...(owned.get(owner) ?? []), child])
  }
  for (const [name, image] of wanted) {
    const mine = owned.get(name) ?? []
    if (mine.length === 0) lost.push(`${plural} of ${name}`)
    if (mine.length > 1) duplicate.push(`${plural} of ${name}: ${mine.length}`)
    const runs = mine[0]?.spec?.template?.spec?.containers?.[0]?.image
    if (plural === 'deployments' && mine.length === 1 && runs !== image) lost.push(`image of ${name}`)
  }
}

export async function compareEffects(
  fixture: SoakPlatform,
  wanted: { readonly applications: ReadonlyMap<string, string>; readonly heads: ReadonlyMap<string, string> },
): Promise<Effects> {
  const list: List = async <Item>(path: string) => ((await fixture.admin.call('GET', path)) as Listed<Item>).items
  const differences: Differences = { lost: [], duplicate: [] }
  const applications = await list<Named>(paths.applications)
  const owners = new Map(applications.map(({ metadata }) => [metadata.uid, metadata.name]))
  for (const path of childPaths) {
    const plural = path.slice(path.lastIndexOf('/') + 1)
    compareChildren(plural, await list<Child>(path), { owners, wanted: wanted.applications }, differences)
  }
  const syncs = new Map((await list<Synced>(paths.remoteSyncs)).map(sync => [sync.metadata.name, sync.status?.commit]))
  for (const [name, head] of wanted.heads)
    if (syncs.get(name) !== head) differences.lost.push(`commit ${head.slice(0, 7)} of RemoteSync ${name}`)
  return differences
}

/** Waits until nothing is missing and nothing is left over; resolves with the remaining differences when the time is over. */
export async function untilEffects(
  fixture: SoakPlatform,
  compare: () => Promise<Effects>,
  timeoutMilliseconds: number,
): Promise<Effects> {
  let last: Effects = { lost: ['nothing was compared'], duplicate: [] }
  const check = async (): Promise<true | undefined> => {
    last = await compare()
    return (last.lost.length === 0 && last.duplicate.length === 0) || undefined
  }
  try {
    await waitUntil('the cluster to be in the expected state', check, {
      timeoutMilliseconds,
      everyMilliseconds: 1000,
      hopeless: async () => fixture.ended(),
    })
  } catch (error) {
    if (fixture.ended() !== undefined) throw error
  }
  return last
}

/** Decisions that were recorded twice in a row for one grant, and whether the audit chain is valid. */
export async function auditProblems({
  store: { audit },
}: SoakPlatform): Promise<{ readonly repeated: readonly string[]; readonly verified: boolean; readonly entries: number }> {
  const verification = await verifyLog(audit)
  const { sequence } = await audit.head()
  const last = new Map<string, string>()
  const repeated: string[] = []
  for (let after = 0; ; ) {
    const page = await audit.list({ after, action: 'grant.decided', limit: 1000 })
    for (const { details, sequence: entry, object } of page) {
      const grant = String(details?.['grantUid'])
      const decision = `${details?.['decision']} ${details?.['rule']} ${details?.['check']}`
      if (last.get(grant) === decision) repeated.push(`entry ${entry}: ${object} ${decision}`)
      last.set(grant, decision)
    }
    const end = page.at(-1)
    if (end === undefined) break
    after = end.sequence
  }
  return { repeated, verified: verification.ok, entries: sequence }
}
