// The layers that `make attack --without` switches off, by name. The others cannot be: RBAC and schema are the API server's own
// answer to everybody, quotas and labels are put back by the controllers at once, and the platform's processes are no layer of
// which something else is behind.
import { authorizerLayer, podSecurityLayer } from './api-server.ts'
import type { LayerSwitch } from './layer.ts'
import { networkLayer } from './network.ts'
import { mutationsLayer, policiesLayer, shippedAdmission, webhookLayer } from './registrations.ts'

export const layerNames = ['policies', 'mutations', 'webhook', 'authorizer', 'pod-security', 'network'] as const
export type LayerName = (typeof layerNames)[number]

export type LayerSwitches = { readonly [Name in LayerName]: LayerSwitch }

export function layerSwitches(repository: string): LayerSwitches {
  const registrations = { shipped: () => shippedAdmission(repository) }
  return {
    policies: policiesLayer(registrations),
    mutations: mutationsLayer(registrations),
    webhook: webhookLayer(registrations),
    authorizer: authorizerLayer,
    'pod-security': podSecurityLayer,
    network: networkLayer,
  }
}

export function isLayerName(text: string): text is LayerName {
  return layerNames.some(name => name === text)
}
