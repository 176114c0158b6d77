// How much of kube-proxy the Services of a tenant may take: every node programs each port of each Service for each of its
// endpoints, for all tenants together. Beyond the bound the platform takes Services away from kube-proxy by a label, as a whole
// and with all of their addresses; nobody else sets that label in tenants' namespaces
// (docs/adr/0062-bound-on-ports-times-endpoints.md). Pure.

/** Source: https://kubernetes.io/docs/reference/labels-annotations-taints/#servicekubernetesioservice-proxy-name */
export const serviceProxyLabel = 'service.kubernetes.io/service-proxy-name'

/** The value of Services beyond the bound. No proxy has this name, nor those below. */
export const tooManyEndpoints = 'sekisho.dev-too-many-endpoints'

/**
 * The value of a new Service until its endpoints are counted. After a change of its spec it has another one each time:
 * `uncountedSince`.
 */
export const uncounted = 'sekisho.dev-uncounted'

/** What the controllers put in the place of `uncounted`: when slices have it, Kubernetes has made all of them. */
export const uncountedAgain = `${uncounted}-again`

/**
 * The value after a change of the version, which no other change of the Service gets: slices with it were made after the
 * change.
 */
export function uncountedSince(resourceVersion: string): string {
  return `${uncounted}-${resourceVersion}`
}

export function isUncounted(value: string | undefined): value is string {
  return value === uncounted || value?.startsWith(uncountedSince('')) === true
}

/** The most ports of one Service: our charts need one to three (docs/adr/0058-ports-of-a-service.md). */
export const maxServicePorts = 4

/**
 * The most pairs of port and endpoint that the Services of a tenant have together (ADR 0062). A hundred Applications with two
 * pods and one port have 200.
 */
const leastEndpointPairs = 1000

/**
 * The bound for a tenant that may run so many pods: all of them may stand behind one Service, however many an administrator
 * allows.
 */
export function maxEndpointPairs(pods: number): number {
  return Math.max(leastEndpointPairs, maxServicePorts * pods)
}
