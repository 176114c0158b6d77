// Reads objects of the cluster as the administrator: by `kind/name`, their conditions and Events; and waits for conditions.
import type { AdminClient } from '../../dev/cluster/control-plane/admin-client.ts'
import { tenantNamespace } from '../../dev/demo/context.ts'
import { kinds } from '../../src/api/registry.ts'
import type { Condition } from '../../src/api/resource.ts'
import { limits } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'

export type Live = {
  readonly metadata: {
    readonly name: string
    readonly uid: string
    readonly resourceVersion: string
    readonly creationTimestamp: string
    readonly deletionTimestamp?: string
  }
  readonly spec: Readonly<Record<string, unknown>>
  readonly status?: Readonly<Record<string, unknown>> & { readonly conditions?: readonly Condition[] }
}

type Collection = { readonly path: string; readonly namespaced: boolean }

const ours = kinds.map(({ apiVersion, kind, plural, namespaced }): [string, Collection] => [
  kind.toLowerCase(),
  { path: `/apis/${apiVersion}/${plural}`, namespaced },
])

const collections: Readonly<Record<string, Collection>> = {
  ...Object.fromEntries(ours),
  deployment: { path: '/apis/apps/v1/deployments', namespaced: true },
  ingress: { path: '/apis/networking.k8s.io/v1/ingresses', namespaced: true },
  service: { path: '/api/v1/services', namespaced: true },
  endpointslice: { path: '/apis/discovery.k8s.io/v1/endpointslices', namespaced: true },
  event: { path: '/api/v1/events', namespaced: true },
  namespace: { path: '/api/v1/namespaces', namespaced: false },
  secret: { path: '/api/v1/secrets', namespaced: true },
  configmap: { path: '/api/v1/configmaps', namespaced: true },
  build: { path: '/apis/kpack.io/v1alpha2/builds', namespaced: true },
  pod: { path: '/api/v1/pods', namespaced: true },
  persistentvolumeclaim: { path: '/api/v1/persistentvolumeclaims', namespaced: true },
}

/** The path of the collection; `namespace` is ignored for cluster-scoped kinds. */
export function pathOf(kind: string, namespace = tenantNamespace): string {
  const collection = collections[kind]
  if (collection === undefined) throw new Error(`no path is known for the kind ${kind}`)
  if (!collection.namespaced) return collection.path
  const cut = collection.path.lastIndexOf('/')
  return `${collection.path.slice(0, cut)}/namespaces/${namespace}${collection.path.slice(cut)}`
}

function objectPath(reference: string, namespace?: string): string {
  const [kind = '', name = ''] = reference.split('/')
  return `${pathOf(kind, namespace)}/${name}`
}

/** `reference` is `kind/name`; undefined when the object does not exist. */
export async function find(admin: AdminClient, reference: string, namespace?: string): Promise<Live | undefined> {
  const answer = await admin.request('GET', objectPath(reference, namespace))
  if (answer.status === 404) return undefined
  if (answer.status !== 200) throw new Error(`GET ${reference}: ${answer.status} ${JSON.stringify(answer.body).slice(0, 300)}`)
  return answer.body as Live
}

export async function read(admin: AdminClient, reference: string, namespace?: string): Promise<Live> {
  const found = await find(admin, reference, namespace)
  if (found === undefined) throw new Error(`there is no ${reference}`)
  return found
}

export async function list(admin: AdminClient, kind: string, query = '', namespace?: string): Promise<readonly Live[]> {
  const answer = (await admin.call('GET', `${pathOf(kind, namespace)}${query}`)) as { readonly items: readonly Live[] }
  return answer.items
}

/** The first user id of the range of acme. */
export async function firstUserOfTenant(admin: AdminClient): Promise<number> {
  const { status } = await read(admin, 'tenant/acme')
  const users = status?.['users'] as { readonly first: number } | undefined
  if (users === undefined) throw new Error('Tenant acme has no range of user ids')
  return users.first
}

export function readyOf(object: Live | undefined): Condition | undefined {
  return object?.status?.conditions?.find(condition => condition.type === 'Ready')
}

/** Waits until Ready has this reason; resolves to the condition. */
export function untilReason(admin: AdminClient, reference: string, reason: string, seconds = 60): Promise<Condition> {
  return waitUntil(
    `${reference} has the reason ${reason}`,
    async () => {
      const ready = readyOf(await find(admin, reference))
      if (ready?.reason === reason) return ready
      throw new Error(`${ready?.reason}: ${ready?.message}`)
    },
    { timeoutMilliseconds: seconds * 1000 },
  )
}

export async function forgetObjects(admin: AdminClient, references: readonly string[], namespace?: string): Promise<void> {
  await Promise.all(
    references.map(async reference => {
      const answer = await admin.request('DELETE', objectPath(reference, namespace))
      if (answer.status >= 400 && answer.status !== 404) throw new Error(`DELETE ${reference}: ${answer.status}`)
    }),
  )
}

/** Waits until the objects do not exist. An object that was recreated with another uid still counts as existing. */
export async function untilGone(admin: AdminClient, references: readonly string[], namespace?: string): Promise<void> {
  for (const reference of references)
    await waitUntil(`${reference} is gone`, async () => (await find(admin, reference, namespace)) === undefined, {
      timeoutMilliseconds: limits.rollout,
    })
}

export type ObservedEvent = { readonly type: string; readonly reason: string; readonly message: string; readonly count: number }

/** The Events of the object with this uid. */
export async function eventsAbout(admin: AdminClient, uid: string): Promise<readonly ObservedEvent[]> {
  const found = await list(admin, 'event', `?fieldSelector=${encodeURIComponent(`involvedObject.uid=${uid}`)}`)
  return found.map(event => event as unknown as ObservedEvent)
}
