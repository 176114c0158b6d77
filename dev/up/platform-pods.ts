// Finds the pods of the platform in either form: by what they contain, never by a name.
import type { AdminClient } from '../cluster/control-plane/admin-client.ts'
import { platformNamespace } from './mode.ts'

type Component = 'broker' | 'controllers' | 'admission'

export type PlatformPod = {
  readonly name: string
  readonly uid: string
  readonly address: string
}

type PodObject = {
  readonly metadata: { readonly name: string; readonly uid: string; readonly deletionTimestamp?: string }
  readonly status?: { readonly podIP?: string }
}

type Lease = { readonly metadata: { readonly name: string }; readonly spec: { readonly holderIdentity?: string } }

/** The label selector of pods that contain this component, or of all pods of the platform. */
export function platformSelector(component?: Component): string {
  return component === undefined ? 'app.kubernetes.io/name=sekisho' : `sekisho.dev/${component}=true`
}

/** Those that have an address and are not being deleted. */
export async function platformPods(admin: AdminClient, component?: Component): Promise<readonly PlatformPod[]> {
  const query = `labelSelector=${encodeURIComponent(platformSelector(component))}`
  const { items } = (await admin.call('GET', `/api/v1/namespaces/${platformNamespace}/pods?${query}`)) as {
    readonly items: readonly PodObject[]
  }
  return items.flatMap(({ metadata, status }) =>
    metadata.deletionTimestamp === undefined && status?.podIP !== undefined
      ? [{ name: metadata.name, uid: metadata.uid, address: status.podIP }]
      : [],
  )
}

/** The pod whose controllers act: the holder of their Lease. Rejects while no pod that runs holds it. */
export async function leadingPod(admin: AdminClient): Promise<PlatformPod> {
  const { items } = (await admin.call('GET', `/apis/coordination.k8s.io/v1/namespaces/${platformNamespace}/leases`)) as {
    readonly items: readonly Lease[]
  }
  const leases = items.filter(({ metadata: { name } }) => name === 'sekisho-controllers' || name === 'sekisho')
  // The holder's identity is the pod's name and, behind `_`, an id of the process (src/kube/manager.ts). The Lease of the other
  // form may be left.
  const holders = leases.flatMap(({ spec: { holderIdentity } }) => holderIdentity?.split('_')[0] || [])
  const leader = (await platformPods(admin, 'controllers')).find(({ name }) => holders.includes(name))
  if (leader === undefined)
    throw new Error(`no pod leads: the Lease of the controllers is held by ${holders.join(', ') || 'nobody'}`)
  return leader
}
