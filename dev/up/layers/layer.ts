// A wall layer of the running local platform that can be switched off for a while and put back, as data with four functions.
// Never of a cluster that the user gave.
import type { AdminClient } from '../../cluster/control-plane/admin-client.ts'
import type { ApiServerLayer } from '../../cluster/control-plane/programs.ts'

/** An object as it is put back: without what the API server filled in. */
export type Kept = { readonly path: string; readonly object: Readonly<Record<string, unknown>> }

export type LayerDeps = {
  readonly admin: AdminClient
  /** Gives the API server all of its layers but these; resolves when it is ready. */
  readonly apiServerWithout: (layers: readonly ApiServerLayer[]) => Promise<void>
  /** Whether a pod of one tenant reaches a pod of another, which listens; absent where no pod can be asked. */
  readonly podsMeet?: () => Promise<boolean>
}

/** `unknown`: there is no tenant, or nothing that could be asked. */
export type Standing = 'on' | 'off' | 'unknown'

export type LayerSwitch = {
  /** What is off then. */
  readonly what: string
  /** What of the platform says so meanwhile; it is expected. */
  readonly alarm: string
  /** What `on` needs, read before `off` takes it away. */
  readonly keep: (deps: LayerDeps) => Promise<readonly Kept[]>
  readonly off: (deps: LayerDeps, kept: readonly Kept[]) => Promise<void>
  /** Idempotent; also after an `off` that was interrupted. */
  readonly on: (deps: LayerDeps, kept: readonly Kept[]) => Promise<void>
  /** By a dry run that this layer refuses or changes before any other does. Throws on an answer that says neither. */
  readonly standing: (deps: LayerDeps) => Promise<Standing>
}

type Namespaces = { readonly items: readonly { readonly metadata: { readonly name: string } }[] }

/** Namespaces of tenants; `purpose`: only those with it. */
export async function tenantNamespaces(admin: AdminClient, purpose?: 'application'): Promise<readonly string[]> {
  const selector = ['sekisho.dev/tenant', ...(purpose === undefined ? [] : [`sekisho.dev/purpose=${purpose}`])].join(',')
  const { items } = (await admin.call('GET', `/api/v1/namespaces?labelSelector=${encodeURIComponent(selector)}`)) as Namespaces
  return items.map(({ metadata }) => metadata.name)
}

export type Tried = { readonly status: number; readonly body: unknown; readonly message: string }

/** A dry run in a namespace of some tenant; undefined without a tenant. `at`: what follows the namespace or group. */
export async function dryRun(
  admin: AdminClient,
  { group, resource, object }: { readonly group: string; readonly resource: string; readonly object: object },
): Promise<Tried | undefined> {
  const [namespace] = await tenantNamespaces(admin, 'application')
  if (namespace === undefined) return undefined
  const { status, body } = await admin.request('POST', `${group}/namespaces/${namespace}/${resource}?dryRun=All`, object)
  return { status, body, message: JSON.stringify(body) }
}

/** For an answer that shows neither that the layer stands nor that it is off. */
export function notUnderstood({ status, message }: Tried): Error {
  return new Error(`the API server answered ${status} ${message.slice(0, 300)}`)
}
