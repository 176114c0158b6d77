// Which Services of a tenant's namespace are beyond its bound on ports × endpoints. Pure: the same facts have the same answer, whatever the labels
// say at present.

export type ServiceFacts = {
  readonly name: string
  readonly uid: string
  /** RFC 3339. */
  readonly createdAt: string
  /** Rendered for an Application. */
  readonly ofApplication: boolean
  readonly ports: number
  /** Of its EndpointSlices, ready or not: those that are not ready may become so at any time. Until Kubernetes has made one, the most that it may have. */
  readonly endpoints: number
  /** Whether Kubernetes has made EndpointSlices for it. */
  readonly counted: boolean
  /** Kube-proxy of the nodes programs it when it has no such label: not for headless Services, nor for those that another proxy serves. */
  readonly proxied: boolean
  /** Whether the platform's label is on it. */
  readonly labelled: boolean
}

export type Facts = {
  readonly services: readonly ServiceFacts[]
  /** The bound. */
  readonly mostPairs: number
}

/** A Service whose label has to change. `beyond`: it gets the label. */
export type Change = { readonly service: ServiceFacts; readonly beyond: boolean }

export type Decision = {
  /** Of all Services that kube-proxy would serve. */
  readonly pairs: number
  /** First those that get the label, because they delay others. */
  readonly changes: readonly Change[]
}

function pairsOf({ proxied, ports, endpoints }: ServiceFacts): number {
  return proxied ? ports * endpoints : 0
}

/** Applications before what the tenant made by hand, the older before the younger. */
function inOrder(a: ServiceFacts, b: ServiceFacts): number {
  if (a.ofApplication !== b.ofApplication) return a.ofApplication ? -1 : 1
  const [left, right] = [`${a.createdAt} ${a.uid}`, `${b.createdAt} ${b.uid}`]
  return left < right ? -1 : Number(left > right)
}

/** The Services beyond the bound: in order, each that does not fit into what those before it left. Smaller ones behind it may fit. */
function beyondBound({ services, mostPairs }: Facts): ReadonlySet<string> {
  let left = mostPairs
  const beyond = new Set<string>()
  for (const service of services.toSorted(inOrder)) {
    const pairs = pairsOf(service)
    if (pairs > left) beyond.add(service.uid)
    else left -= pairs
  }
  return beyond
}

/** What has to change. A label is also taken off where it has no effect, as on a Service that became headless. */
export function decide(facts: Facts): Decision {
  const beyond = beyondBound(facts)
  const changes = facts.services
    .filter(({ uid, labelled }) => beyond.has(uid) !== labelled)
    .map((service): Change => ({ service, beyond: beyond.has(service.uid) }))
  return {
    pairs: facts.services.reduce((sum, service) => sum + pairsOf(service), 0),
    changes: [...changes.filter(change => change.beyond), ...changes.filter(change => !change.beyond)],
  }
}
