// What the world looks like after a long run, compared with what it must look like: what is missing, what is there twice or too long.
import { waitUntil } from '../../dev/cluster/wait-until.ts'
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

export async function compareEffects(
  fixture: SoakPlatform,
  wanted: { readonly applications: ReadonlyMap<string, string>; readonly heads: ReadonlyMap<string, string> },
): Promise<Effects> {
  const list = async <Item>(path: string): Promise<readonly Item[]> =>
    ((await fixture.admin.call('GET', path)) as Listed<Item>).items
  const lost: string[] = []
  const duplicate: string[] = []
  const applications = await list<Named>(paths.applications)
  const uids = new Map(applications.map(({ metadata }) => [metadata.uid, metadata.name]))
  for (const path of childPaths) {
    const plural = path.slice(path.lastIndexOf('/') + 1)
    const children = await list<Child>(path)
    const owned = new Map<string, Child[]>()
    for (const child of children) {
      const owner = uids.get(child.metadata.ownerReferences?.[0]?.uid ?? '')
      if (owner === undefined) duplicate.push(`${plural}/${child.metadata.name} belongs to no Application`)
      else owned.set(owner, [...(owned.get(owner) ?? []), child])
    }
    for (const [name, image] of wanted.applications) {
      const mine = owned.get(name) ?? []
      if (mine.length === 0) lost.push(`${plural} of ${name}`)
      if (mine.length > 1) duplicate.push(`${plural} of ${name}: ${mine.length}`)
      const runs = mine[0]?.spec?.template?.spec?.containers?.[0]?.image
      if (plural === 'deployments' && mine.length === 1 && runs !== image) lost.push(`image of ${name}`)
    }
  }
  const syncs = new Map((await list<Synced>(paths.remoteSyncs)).map(sync => [sync.metadata.name, sync.status?.commit]))
  for (const [name, head] of wanted.heads)
    if (syncs.get(name) !== head) lost.push(`commit ${head.slice(0, 7)} of RemoteSync ${name}`)
  return { lost, duplicate }
}

/** Waits until nothing is missing and nothing is too much, or says what still is when the time is over. */
export async function untilEffects(
  fixture: SoakPlatform,
  look: () => Promise<Effects>,
  timeoutMilliseconds: number,
): Promise<Effects> {
  let last: Effects = { lost: ['nothing was looked at'], duplicate: [] }
  const check = async (): Promise<true | undefined> => {
    last = await look()
    return (last.lost.length === 0 && last.duplicate.length === 0) || undefined
  }
  try {
    await waitUntil('the world to be as it must be', check, {
      timeoutMilliseconds,
      everyMilliseconds: 1000,
      hopeless: async () => fixture.ended(),
    })
  } catch (error) {
    if (fixture.ended() !== undefined) throw error
  }
  return last
}

/** Decisions that were recorded twice in a row for one grant, and numbers that are missing in the chain. */
export async function auditProblems({
  store,
}: SoakPlatform): Promise<{ readonly repeated: readonly string[]; readonly verified: boolean; readonly entries: number }> {
  const verdict = await verifyLog(store.audit)
  const { sequence } = await store.audit.head()
  const last = new Map<string, string>()
  const repeated: string[] = []
  for (let after = 0; ; ) {
    const page = await store.audit.list({ after, action: 'grant.decided', limit: 1000 })
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
  return { repeated, verified: verdict.ok, entries: sequence }
}
