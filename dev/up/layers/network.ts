// Network policies. Those of the platform stay, because the controllers put them back at once: one more that allows everything
// switches them off, in the namespaces of tenants and of the platform.
import type { AdminClient } from '../../cluster/control-plane/admin-client.ts'
import { platformNamespace } from '../mode.ts'
import { type Kept, type LayerSwitch, tenantNamespaces } from './layer.ts'

const name = 'layer-off-allow-everything'
const path = (namespace: string): string => `/apis/networking.k8s.io/v1/namespaces/${namespace}/networkpolicies/${name}`

async function added(admin: AdminClient): Promise<readonly Kept[]> {
  const namespaces = [...(await tenantNamespaces(admin)), platformNamespace]
  return namespaces.map(namespace => ({
    path: path(namespace),
    object: {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name, namespace },
      spec: { podSelector: {}, policyTypes: ['Ingress', 'Egress'], ingress: [{}], egress: [{}] },
    },
  }))
}

export const networkLayer: LayerSwitch = {
  what: `a policy that allows everything stands beside those of tenants and of ${platformNamespace}`,
  alarm: 'nothing: WallsHold looks for policies that are missing, not for one more (docs/adr/0090)',
  keep: async () => [],
  async off({ admin }) {
    for (const one of await added(admin)) await admin.call('POST', one.path.replace(`/${name}`, ''), one.object)
  },
  async on({ admin }) {
    for (const one of await added(admin)) {
      const { status } = await admin.request('DELETE', one.path)
      if (status >= 400 && status !== 404) throw new Error(`DELETE ${one.path}: ${status}`)
    }
  },
  async standing({ admin, podsMeet }) {
    if (podsMeet !== undefined) return (await podsMeet()) ? 'off' : 'on'
    const answers = await Promise.all((await added(admin)).map(one => admin.request('GET', one.path)))
    return answers.some(({ status }) => status === 200) ? 'off' : 'unknown'
  },
}
