// How much of kube-proxy the Services of a tenant may take: every node programs each port of each Service for each of its endpoints, for all tenants
// together. Beyond the bound the platform takes Services away from kube-proxy by a label, as a whole and with all of their addresses; nobody else sets
// that label in tenants' namespaces (docs/adr/0062-bound-on-ports-times-endpoints.md). Pure.

/** Source: https://kubernetes.io/docs/reference/labels-annotations-taints/#servicekubernetesioservice-proxy-name */
export const serviceProxyLabel = 'service.kubernetes.io/service-proxy-name'

/** The value that the platform sets. No proxy has this name. */
export const tooManyEndpoints = 'sekisho.dev-too-many-endpoints'

/** The most ports of one Service: our charts need one to three (docs/adr/0058-ports-of-a-service.md). */
export const mostServicePorts = 4

/**
 * The most pairs of port and endpoint that the Services of a tenant have together. 5,000 made a new Service of another tenant wait 2 to 5 s, 400 half a
 * second (ADR 0058). A hundred Applications with two pods and one port have 200.
 */
const leastEndpointPairs = 4000

/** The bound for a tenant that may run so many pods: all of them may stand behind one Service, however many an administrator allows. */
export function mostEndpointPairs(pods: number): number {
  return Math.max(leastEndpointPairs, mostServicePorts * pods)
}
